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

// menu answers with the menu of a directory, or of a file that is one.
func (v *visit) menu(name string, dir bool) error {
	o := order{name: name, dir: dir, host: v.r.Host, port: v.r.Port, plus: wantsInfo(v.r)}
	m, err := v.makings.get(v.r.Context(), o, v.makeMenu)
	if err == nil && m.personal {
		o.client = v.client()
		m, err = v.makings.get(v.r.Context(), o, v.makeMenu)
	}
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
func (h *Files) makeMenu(k *pendingMenu) (madeMenu, error) {
	canonical := replyKey{selector.Canonical(k.name, k.dir), k.host, k.port}
	if e := h.replies.fresh(canonical); e != nil && !k.plus {
		return madeMenu{body: e.answer.Body, stamp: e.stamp}, nil
	}
	return site.Try(k.ctx, h.Site, func(v *site.View) (m madeMenu, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &panicked{p, debug.Stack()}
			}
		}()
		v.Spend(k.spend)
		dir, err := v.Lookup(k.name)
		if err != nil {
			return madeMenu{}, err
		}
		_ = dir.Close()
		b := menu.Builder{FS: v, Host: k.host, Port: k.port, InfoPrefix: h.InfoPrefix, Dates: h.Dates,
			Version: h.Version, Client: k.client, Users: users(v), Hosts: h.Hosts, Answers: h.Answers}
		list, err := b.Menu(k.ctx, k.name)
		if failed := v.Err(); failed != nil {
			err = failed
		}
		if err != nil {
			return madeMenu{}, err
		}
		h.Site.Report(list.Problems)
		m.personal = list.Personal && k.client == ""
		if !list.Changing {
			m.stamp = v.Stamp()
		}
		if k.plus {
			m.body = menu.AppendPlusInfo(nil, list.Items)
			return m, nil
		}
		m.body = list.AppendTo(nil)
		h.makings.hold(m.body)
		h.replies.put(canonical, server.Answer{Body: m.body}, m.stamp)
		return m, nil
	})
}

// users lists the users of a site for a menu, nil if it has none.
func users(v *site.View) func() []menu.Item {
	if !v.HasUsers() {
		return nil
	}
	return func() (items []menu.Item) {
		for _, u := range v.Users() {
			name := "~" + u.Name
			items = append(items, menu.Item{Type: menu.TypeMenu, Label: name, Selector: selector.Canonical(name, true)})
		}
		return items
	}
}

// client is the address that $REMOTE_ADDR tells.
func (v *visit) client() string {
	if addr := v.r.Remote.Addr(); addr.IsValid() {
		return addr.Unmap().WithZone("").String()
	}
	return "unknown"
}

// panicked is a panic in the making of a menu. It goes on in the goroutines of
// those who wait, where the server takes it for an error of theirs alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }
