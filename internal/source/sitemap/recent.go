package sitemap

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Bounds of the changes.
const (
	recently  = 24 * time.Hour
	maxRecent = 1000
	batch     = time.Second // for which changes are collected
	busyShare = 20          // no more than one of so many seconds goes into looking
)

// Run follows the changes of the site until ctx ends. It looks at all directories first,
// then at those that were touched.
func (s *Sitemaps) Run(ctx context.Context) error {
	if _, err := s.Site.Snapshot(ctx); err != nil {
		return nil // it ended before
	}
	s.Touch("")
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		start := time.Now()
		s.look(ctx)
		wait = max(batch, busyShare*time.Since(start))
	}
}

// look looks at all directories that were touched.
func (s *Sitemaps) look(ctx context.Context) {
	touched, snap := s.Take(), s.Site.Now()
	if touched[""] {
		for dir := range snap.Tree.All() {
			touched[dir] = true
		}
		delete(touched, "")
	}
	for dir := range touched {
		found, _ := site.Try(ctx, s.Site, func(v *site.View) (map[string]time.Time, error) { return changed(v, snap, dir) })
		s.mu.Lock()
		if s.recent == nil {
			s.recent = map[string]time.Time{}
		}
		maps.DeleteFunc(s.recent, func(sel string, _ time.Time) bool {
			return path.Dir(sel) == path.Clean("/"+dir) && !strings.HasSuffix(sel, "/")
		})
		maps.Copy(s.recent, found)
		newest(s.recent)
		s.mu.Unlock()
	}
}

// changed returns what robots may fetch of a directory and has changed, by its selector.
func changed(v *site.View, snap *site.Snapshot, dir string) (map[string]time.Time, error) {
	found, since := map[string]time.Time{}, time.Now().Add(-recently)
	note := func(name string, dir bool) {
		if at, err := v.Changed(name); err == nil && at.After(since) && snap.Open(name, dir) && snap.Real(name) == name {
			found[selector.Canonical(name, dir)] = at
		}
		if len(found) > 2*maxRecent {
			newest(found)
		}
	}
	note(dir, true)
	names, err := files(v, dir)
	for _, name := range names {
		note(selector.Join(dir, name), false)
	}
	return found, err
}

// files returns the names of the files in a directory, sorted; none if it cannot be read.
// An error says that nothing more can be read.
func files(v *site.View, dir string) (names []string, err error) {
	list, _ := v.ReadDir(dir)
	for _, e := range list {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, v.Err()
}

// newest drops all but the newest changes, and returns their selectors in order.
func newest(found map[string]time.Time) []string {
	list := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(found[b].Compare(found[a]), strings.Compare(a, b)) })
	for _, sel := range list[min(len(list), maxRecent):] {
		delete(found, sel)
	}
	return list[:min(len(list), maxRecent)]
}

// news calls f for the changes, the newest first, until it returns false.
func (s *Sitemaps) news(snap *site.Snapshot, f func(name string, dir bool, at time.Time) bool) {
	s.mu.Lock()
	recent := maps.Clone(s.recent)
	s.mu.Unlock()
	for _, sel := range newest(recent) {
		name, dir, err := selector.Path(sel)
		if err == nil && time.Since(recent[sel]) < recently && snap.Open(name, dir) && !f(name, dir, recent[sel]) {
			return
		}
	}
}
