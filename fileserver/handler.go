// Package fileserver answers Gopher requests from a site: it looks up what a
// selector stands for and replies with a file, with the menu of a directory, or
// with what is always there: robots.txt, caps.txt, URL: pages. Replies are kept
// in memory as long as the site knows that they are up to date.
//
//	tree, err := site.Open("content", site.Config{})
//	...
//	go tree.Run(ctx)
//	err = (&server.Server{Handler: &fileserver.Files{Site: tree}}).ListenAndServe(ctx, ":7070")
//
// A request goes one way:
//
//	robots.txt, URL: → cache → look up → text or menu → cache
package fileserver

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// robotsSelectors are answered with the site's robots.txt, byte for byte alike.
var robotsSelectors = []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"}

// IsRobots reports whether a selector asks for robots.txt.
func IsRobots(selector string) bool { return slices.Contains(robotsSelectors, selector) }

// Quick answers with robots.txt, with cached replies, and with files that can be
// read without waiting.
func (h *Files) Quick(r *server.Request) (a server.Answer, ok bool) {
	if IsRobots(r.Selector) {
		snap := h.Site.Now()
		if snap == nil {
			return a, false
		}
		return server.Answer{Body: snap.Robots}, true
	}
	if a, ok = h.kept(r); ok {
		return a, true
	}
	if a, ok = h.opened.take(r.Selector); ok {
		return a, true
	}
	return h.ready(r)
}

// ServeGopher answers a request.
func (h *Files) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if IsRobots(r.Selector) {
		return h.robots(w, r)
	}
	if target, ok := urlTarget(r.Selector); ok {
		return redirect(w, target)
	}
	if a, ok := h.kept(r); ok {
		if a.Err != nil {
			return a.Err
		}
		_, err := w.Write(a.Body)
		return err
	}
	v := visit{Files: h, view: h.Site.View(r.Context()), w: w, r: r}
	return public(v.serve())
}

func (v *visit) serve() error {
	f, err := v.find(v.r.Selector)
	var moved *pointer
	switch {
	case errors.As(err, &moved):
		return v.w.WriteItem(moved.item)
	case errors.Is(err, fs.ErrNotExist) && strings.TrimPrefix(v.r.Selector, "/") == "caps.txt":
		return v.caps(v.w)
	case errors.Is(err, fs.ErrNotExist) && v.Missing != nil:
		if err := v.Missing.ServeGopher(v.w, v.r); !errors.Is(err, server.ErrDeclined) {
			return err
		}
	}
	if err != nil {
		v.keepMissing(err)
		return err
	}
	if dir := f.Info.IsDir(); dir || menu.IsMenuFile(path.Base(f.Name)) {
		_ = f.Close()
		return v.menu(f.Name, dir)
	}
	defer func() { _ = f.Close() }()
	return v.file(f)
}

// robots answers with the file of the snapshot; the first is waited for.
func (h *Files) robots(w server.ResponseWriter, r *server.Request) error {
	snap, err := h.Site.Snapshot(r.Context())
	if err != nil {
		return fmt.Errorf("waiting for the first scan: %w", err)
	}
	_, err = w.Write(snap.Robots)
	return err
}

func urlTarget(sel string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(sel, "/"), "URL:")
}

func redirect(w server.ResponseWriter, target string) error {
	page, err := menu.RedirectPage(target)
	if err != nil {
		return &server.Error{Kind: server.NotFound, Err: err}
	}
	_, err = w.Write(page)
	return err
}

// caps answers with the generated caps.txt. What it tells of the annotation in
// the root stands there from the first scan on.
func (h *Files) caps(w server.ResponseWriter) error {
	_, err := w.Write(menu.Caps(h.Version, robotsCaps(h.Site.Now())))
	return err
}

// robotsCaps returns what caps.txt tells of the root's annotation: may the site be
// indexed, how many seconds to stay away between visits, and how many between
// requests.
func robotsCaps(snap *site.Snapshot) [][2]string {
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
	return append(list, [2]string{"RobotsPolicySHA256", snap.Compiled.Hash()}, [2]string{"RobotsFileSHA256", snap.Compiled.FileHash()})
}

// ItemType returns the item type of a selector, 0 if it names nothing.
func (h *Files) ItemType(r *server.Request) byte {
	name, _, err := selector.Path(r.Selector)
	if err != nil {
		return 0
	}
	f, err := h.Site.View(r.Context()).Lookup(name)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	return fileType(f)
}
