package answer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Quick returns an answer that is in memory, or a file that can be sent without waiting
// for a disk. It never blocks. See [server.Quick].
func (h *Host) Quick(r *server.Request, f *Format) (a server.Answer, ok bool) {
	if h.Admission != nil && !h.Admission.AdmitNow(r) {
		return a, false
	}
	if selector.IsRobots(r.Selector) {
		snap := h.Site.Now()
		if snap == nil {
			return a, false
		}
		return server.Answer{Body: snap.RobotsAs(r.Host)}, true
	}
	if leaving(r.Selector) != nil || len(h.Before) > 0 && h.Programs(r.Selector) {
		return a, false
	}
	h.open()
	if kept := h.kept(r, f, (*site.Stamp).Fresh); kept != nil {
		return server.Answer{Body: kept.Body, Err: kept.err}, true
	}
	return h.ready(r, f)
}

// Ask resolves the selector of a request, and draws the answer with f if f draws it. The
// caller must close the Value. The error has a [server.Kind] and is for the log; see
// [server.ErrorMessage] for what a client may read.
func (h *Host) Ask(r *server.Request, f *Format) (*Value, error) {
	if h.Admission != nil {
		if err := h.Admission.Admit(r); err != nil {
			return nil, public(err)
		}
	}
	a, err := h.ask(r, f)
	if err = public(err); f.Paths && server.KindOf(err) == server.NotFound {
		if to := h.untyped(r, f); to != nil {
			return to, nil
		}
	}
	return a, err
}

func (h *Host) ask(r *server.Request, f *Format) (*Value, error) {
	h.open()
	if selector.IsRobots(r.Selector) {
		return h.robots(r)
	}
	if a := leaving(r.Selector); a != nil {
		return a, nil
	}
	for _, s := range h.Before {
		if !s.Answers(r.Selector) {
			continue
		}
		a, err := h.before(s, r, f)
		if !errors.Is(err, server.ErrDeclined) {
			return a, err
		}
	}
	if a := h.kept(r, f, looking(r.Context())); a != nil {
		return a, a.err
	}
	return h.asked(r, f).answer()
}

// Kept returns the cached answer to a request, or nil. It does not check whether files have
// changed unnoticed.
func (h *Host) Kept(r *server.Request, f *Format) *Value {
	h.open()
	return h.kept(r, f, func(s *site.Stamp) bool { return !s.Outdated() })
}

// Programs reports whether a source of Before, such as a program, may answer a selector.
func (h *Host) Programs(sel string) bool {
	return slices.ContainsFunc(h.Before, func(s Source) bool { return s.Answers(sel) })
}

// answer resolves a request that the cache does not answer.
func (q *Asked) answer() (*Value, error) {
	sel := q.Request.Selector
	f, err := q.find(sel)
	var only *pointer
	switch {
	case errors.As(err, &only):
		return only.Value, nil
	case errors.Is(err, fs.ErrNotExist) && q.closedName():
		return q.moved(menu.TypeText, "/"+sel, "/"+sel), nil
	case errors.Is(err, fs.ErrNotExist):
		for _, s := range q.Host.beside {
			if !s.Answers(sel) {
				continue
			}
			a, declined := q.beside(s)
			if !errors.Is(declined, server.ErrDeclined) {
				return a, declined
			}
		}
	}
	if err != nil {
		q.keepMissing(err)
		return nil, err
	}
	dir := f.Info.IsDir()
	if q.Format.Strict {
		if snap := q.View.Now(); snap != nil {
			f.Name = snap.Real(f.Name) // an alias is moved to the real name
		}
		if canonical := selector.Canonical(f.Name, dir); canonical != sel {
			defer func() { _ = f.Close() }()
			return q.pointTo(f).Value, nil
		}
	}
	if dir || menu.IsMenuFile(path.Base(f.Name)) {
		_ = f.Close()
		if index, err := q.index(f.Name, dir); index != nil || err != nil {
			return index, err
		}
		return q.menu(f.Name, dir)
	}
	return q.file(f)
}

// index returns the answer for a directory whose Format.Index exists, or nil.
func (q *Asked) index(name string, dir bool) (*Value, error) {
	if q.Format.Index == "" || !dir {
		return nil, nil
	}
	f, err := q.View.Lookup(selector.Join(name, q.Format.Index))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, nil
	case err != nil:
		return nil, err
	case f.Info.IsDir():
		return nil, f.Close()
	}
	return q.file(f)
}

// aboutName names a copy of robots.txt for people. Menus link it instead of robots.txt, since
// a client that fetches robots.txt may be taken for a robot.
const aboutName = "about-robots"

// documents is the Source of caps.txt and of the copy of robots.txt.
type documents struct{}

// Answers reports whether a selector names one of the documents.
func (documents) Answers(sel string) bool {
	name := strings.TrimPrefix(sel, "/")
	return name == "caps.txt" || name == aboutName
}

// Answer returns the document.
func (documents) Answer(q *Asked) (*Value, error) {
	if strings.TrimPrefix(q.Request.Selector, "/") == "caps.txt" {
		return &Value{
			Class:    File,
			Selector: "/caps.txt",
			Type:     menu.TypeText,
			Body:     menu.Caps(q.Host.Version, robotsCaps(q.Host.Site.Now(), q.Request.Host)),
		}, nil
	}
	a, err := q.Host.robots(q.Request)
	if err != nil {
		return nil, err
	}
	const head = "What robots may fetch here. They read this file at the selector\nrobots.txt; this is a copy for people.\n\n"
	return &Value{
		Class:    File,
		Selector: "/" + aboutName,
		Type:     menu.TypeText,
		Title:    "What robots may fetch here",
		Body:     append([]byte(head), a.Body...),
	}, nil
}

// isLocal reports whether an item links to this site, on the port of the request. Host names
// are compared without regard to case and a final dot.
func (q *Asked) isLocal(it menu.Item) bool {
	name := strings.ToLower(strings.TrimSuffix(it.Host, "."))
	same := strings.EqualFold(name, strings.TrimSuffix(q.Request.Host, ".")) ||
		q.Host != nil && slices.Contains(q.Host.Names, name)
	return same && (it.Port == q.Request.Port || it.Port == 0)
}

// Own reports whether a Gemini URL links to this site. Both the port of the front and the
// default port count: a gateway may forward the default port.
func (q *Asked) Own(u *url.URL) bool {
	port := cmp.Or(u.Port(), strconv.Itoa(selector.PortOf("gemini")))
	at, on := q.Host.Fronts["gemini"]
	ours := on && u.Scheme == "gemini" &&
		(port == strconv.Itoa(at) || port == strconv.Itoa(selector.PortOf("gemini")))
	return ours && q.isLocal(menu.Item{Host: u.Hostname()})
}

// readable replaces links to this site's robots.txt by links to its copy for people, unless
// the tree has a file of that name.
func (q *Asked) readable(items []menu.Item) {
	for i := range items {
		it := &items[i]
		if !selector.IsRobots(it.Selector) || IsInfo(*it) || !q.isLocal(*it) {
			continue
		}
		if f, err := q.View.Lookup(aboutName); err == nil {
			_ = f.Close()
			return
		}
		it.Selector = "/" + aboutName
	}
}

// robots returns robots.txt. It waits for the first scan.
func (h *Host) robots(r *server.Request) (*Value, error) {
	snap, err := h.Site.Snapshot(r.Context())
	if err != nil {
		return nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	return &Value{
		Class:    File,
		Selector: "/robots.txt",
		Type:     menu.TypeText,
		Body:     snap.RobotsAs(r.Host),
	}, nil
}

// leaving returns the answer to a selector "URL:...": a page that redirects there. It returns
// nil for any other selector, and if the rest is no URL: it may be the name of a file.
func leaving(sel string) *Value {
	target, ok := strings.CutPrefix(strings.TrimPrefix(sel, "/"), "URL:")
	if !ok {
		return nil
	}
	page, err := menu.RedirectPage(target)
	if err != nil {
		return nil
	}
	return &Value{Class: Leaving, Type: menu.TypeHTML, URL: target, Body: page}
}

// robotsCaps returns the fields of caps.txt about robots: whether the site may be indexed,
// the seconds between visits and between requests, and hashes of the policy and of
// robots.txt. Before the first scan there are none.
func robotsCaps(snap *site.Snapshot, name string) [][2]string {
	if snap == nil {
		return nil
	}
	fields := snap.Compiled.Fields()
	var list [][2]string
	if fields.Index != "" {
		list = append(list, [2]string{"RobotsIndex", fields.Index})
	}
	if fields.Cooldown > 0 {
		list = append(list, [2]string{"RobotsCooldown", strconv.Itoa(fields.Cooldown)})
	}
	if fields.CrawlDelay != "" {
		list = append(list, [2]string{"RobotsCrawlDelay", fields.CrawlDelay})
	}
	file := sha256.Sum256(snap.RobotsAs(name))
	return append(list, [2]string{"RobotsPolicySHA256", snap.Compiled.Hash()},
		[2]string{"RobotsFileSHA256", hex.EncodeToString(file[:])})
}

// ItemType returns the item type of a selector, or 0 if it names no file or directory.
func (h *Host) ItemType(ctx context.Context, sel string) byte {
	name, _, err := selector.Path(sel)
	if err != nil {
		return 0
	}
	f, err := h.Site.View(ctx).Lookup(name)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	return fileType(f)
}

// public gives err a server.Kind, if it has none. A resource that exists but is not readable
// is reported as not found.
func public(err error) error {
	var e *server.Error
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &server.Error{Kind: server.Gone, Err: err}
	case errors.Is(err, stall.Err):
		return &server.Error{Kind: server.Busy, Err: err}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission),
		errors.Is(err, fs.ErrInvalid):
		return &server.Error{Kind: server.NotFound, Err: err}
	}
	return err
}
