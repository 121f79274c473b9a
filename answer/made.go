package answer

import (
	"bytes"
	"fmt"
	"io"
	"path"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// make returns the answer for a file or directory, which f fills in, drawn by the request's
// Format. Concurrent requests share it, unless it shows the client's address.
func (q *Asked) make(name string, dir bool, f func(*Asked, *Value) error) (*Value, error) {
	k := q.key(selector.Canonical(name, dir))
	k.name(q.Request)
	if q.Format.Query {
		k.query = q.Request.Query
	}
	a, err := q.shared(k, name, dir, f)
	if err == nil && a.personal {
		k.client = q.address()
		a, err = q.shared(k, name, dir, f)
	}
	if err != nil {
		return nil, fmt.Errorf("making the reply of %s: %w", name, err)
	}
	q.View.DependOn(a.stamp)
	if k.query == "" {
		q.keep(a)
	}
	return a, nil
}

func (q *Asked) shared(k callKey, name string, dir bool,
	f func(*Asked, *Value) error) (*Value, error) {
	return q.limited(k, func(q *Asked) (*Value, error) {
		a := &Value{
			Class:    Menu,
			Selector: k.selector,
			Type:     menu.TypeMenu,
			name:     name,
			dir:      dir,
			named:    true,
		}
		found, err := q.View.Lookup(name)
		if err != nil {
			return nil, err
		}
		_ = found.Close()
		q.name, q.dir = name, dir
		return a, f(q, a)
	})
}

// limited calls f within the bounds of the Limiter, once for all concurrent requests with the
// same key, and draws its result. If the answer is cached, it does not call f.
func (q *Asked) limited(k callKey, f func(*Asked) (*Value, error)) (*Value, error) {
	h := q.Host
	r := *q.Request
	form := q.Format
	return h.Limiter.made(q.Context(), r.Remote.Addr(), k, func(m *call) (*Value, error) {
		if kept := h.Cache.kept.get(k.cacheKey, looking(m.ctx)); kept != nil && k.alone == nil {
			return kept, nil
		}
		return site.Try(m.ctx, h.Site, func(view *site.View) (*Value, error) {
			if form.isCapsule() {
				view.OfCapsules()
			}
			return protect(func() (*Value, error) {
				view.Spend(m.spend)
				q := &Asked{
					Host:    h,
					Request: r.WithContext(m.ctx),
					Format:  form,
					View:    view,
					client:  k.client,
				}
				if k.alone != nil {
					q.printed = k.alone.printed
				}
				a, err := f(q)
				if failed := view.Err(); failed != nil {
					err = failed
				}
				if err != nil {
					return nil, err
				}
				if err := q.draw(a); err != nil {
					a.Close()
					return nil, err
				}
				h.Limiter.hold(a)
				if a.Keep && k.query == "" && k.client == "" && k.alone == nil {
					a.stamp = view.Stamp()
					h.Cache.kept.put(k.cacheKey, a, a.stamp)
				}
				return a, nil
			})
		})
	})
}

// draw sets the Body of an answer as the request's Format draws it.
func (q *Asked) draw(a *Value) error {
	for i, it := range a.Items {
		if it.Host == "" && it.Type != menu.TypeInfo && it.Type != menu.TypeError {
			a.Items[i].Host, a.Items[i].Port = q.Request.Host, q.Request.Port
		}
	}
	if q.Format.Draw == nil || a.Open != nil ||
		a.Class == File && (q.Format.Draws == nil || !q.Format.Draws(a)) {
		return nil
	}
	body, err := q.Format.Draw(q, a)
	if cap(body)-len(body) > small { // free the unused part: the body may stay in memory for long
		body = bytes.Clone(body)
	}
	if err == nil {
		a.Body = body
		a.Drawn = true
		a.Items = nil
	}
	return err
}

// makeMenu fills in the menu of a directory or of a menu file. If it needs programs that have
// not run, it returns an *unprinted error.
func (q *Asked) makeMenu(a *Value) error {
	list, err := q.Builder().Menu(q.Context(), a.name)
	if err != nil {
		return err
	}
	if len(q.wanted) > 0 {
		return &unprinted{q.wanted}
	}
	q.Host.Site.Report(list.Problems)
	q.readable(list.Items)
	a.Items, a.Gemtext = list.Items, list.Gemtext
	a.personal = list.Personal && q.client == ""
	a.Keep = !list.Changing
	return nil
}

// before returns the answer of a source of Host.Before. The output of a program is drawn
// unless the Format sends it unchanged.
func (h *Host) before(s Source, r *server.Request, f *Format) (*Value, error) {
	q := h.asked(r, f)
	a, err := s.Answer(q)
	if err != nil {
		return nil, err
	}
	asIs := a.Drawn || a.Class == Redirect || a.Class == Status || a.Class == File && f.Raw
	if a.Stream == nil {
		if asIs {
			return a, nil
		}
		return q.Limited(func(*Asked) (*Value, error) { return a, nil })
	}
	output := h.Limiter.ahead(a.Stream)
	a.Stream = output
	if asIs {
		return a, nil
	}
	defer a.Close()
	body, err := output.whole(maxLoaded)
	if err != nil {
		return nil, err
	}
	return q.Limited(func(q *Asked) (*Value, error) {
		made := *a
		return &made, q.load(&made, body)
	})
}

// itemSize is the size of a menu.Item in bytes, without its text.
const itemSize = 64

// load sets the Body of a program's answer to its output, or Items if the output is a menu.
func (q *Asked) load(a *Value, body []byte) error {
	if err := q.View.Keep(len(body)); err != nil {
		return err
	}
	a.Body, a.Stream, a.Size = body, nil, int64(len(body))
	if a.Media != "" { // the program has sent a Content-Type
		return nil
	}
	a.Type = textType(path.Base(a.Selector), body)
	if !bytes.HasSuffix(body, []byte(menu.End)) {
		return nil
	}
	lines := bytes.Count(body, []byte("\n"))
	if err := q.View.Keep(len(body) + lines*itemSize); err != nil {
		return err
	}
	if items, ok := menu.Parse(string(body)); ok {
		a.Class = Menu
		a.Type = menu.TypeMenu
		a.Items = items
		a.Body = nil
	}
	return nil
}

// beside returns the answer of a source of Host.Beside, which concurrent requests share.
func (q *Asked) beside(s Source) (*Value, error) {
	k := q.key(q.Request.Selector)
	k.name(q.Request)
	k.query = q.Request.Query
	a, err := q.limited(k, s.Answer)
	if err != nil || a.Open == nil {
		return a, err
	}
	own, asked := *a, *q // a is shared with other requests
	asked.Format = &Format{Web: q.Format.Web}
	own.Stream, own.Size = io.NopCloser(a.Open(&asked)), -1
	return &own, nil
}

// Limited calls f within the bounds of the Limiter. The result is neither shared nor cached.
func (q *Asked) Limited(f func(*Asked) (*Value, error)) (*Value, error) {
	k := q.key(q.Request.Selector)
	k.alone = q
	return q.limited(k, f)
}

// users returns a function that lists the users of a site as items, or nil if it has none.
func users(v *site.View) func() []menu.Item {
	if !v.HasUsers() {
		return nil
	}
	return func() (items []menu.Item) {
		for _, u := range v.Users() {
			name := "~" + u.Name
			items = append(items, menu.Item{
				Type:     menu.TypeMenu,
				Label:    name,
				Selector: selector.Canonical(name, true),
			})
		}
		return items
	}
}

// address returns the client's address, the value of $REMOTE_ADDR in maps.
func (q *Asked) address() string {
	if addr := q.Request.Remote.Addr(); addr.IsValid() {
		return addr.Unmap().WithZone("").String()
	}
	return "unknown"
}
