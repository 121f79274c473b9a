package fileserver

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// menu answers with the menu of a directory.
func (v *visit) menu(name string) error {
	plus := v.r.Plus == "$" && name == "."
	m, err := v.makings.get(v.r.Context(), order{name, v.r.Host, v.r.Port, plus}, v.makeMenu)
	if p := (*panicked)(nil); errors.As(err, &p) {
		panic(p)
	}
	if err != nil {
		return fmt.Errorf("making the menu of %s: %w", name, err)
	}
	v.view.DependOn(m.stamp)
	v.keep(m.body, true, true)
	_, err = v.w.Write(m.body)
	return err
}

// makeMenu makes a menu, unless it is kept.
func (h *Handler) makeMenu(k *making) (made, error) {
	canonical := key{selector.Canonical(k.name, true), k.host, k.port}
	if e := h.replies.fresh(canonical); e != nil && !k.plus {
		return made{e.answer.Body, e.stamp}, nil
	}
	return site.Try(k.ctx, h.Site, func(v *site.View) (m made, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &panicked{p, debug.Stack()}
			}
		}()
		v.Spend(k.spend)
		dir, err := v.Lookup(k.name)
		if err != nil {
			return made{}, err
		}
		_ = dir.Close()
		b := menu.Builder{FS: v, Host: k.host, Port: k.port, InfoPrefix: h.InfoPrefix}
		list, err := b.Menu(k.name)
		if failed := v.Err(); failed != nil {
			err = failed
		}
		if err != nil {
			return made{}, err
		}
		h.Site.Report(list.Problems)
		if k.plus {
			return made{body: menu.AppendPlusInfo(nil, list.Items)}, nil
		}
		m = made{list.AppendTo(nil), v.Stamp()}
		h.replies.put(canonical, server.Answer{Body: m.body}, m.stamp)
		return m, nil
	})
}

// panicked is a panic in the making of a menu. It goes on in the goroutines of
// those who wait, where the server takes it for an error of theirs alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }
