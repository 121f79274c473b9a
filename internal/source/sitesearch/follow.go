// Package sitesearch searches the texts of a site. It updates an index after changes of the tree
// and answers the selector /search.
//
//	Reloaded ─► directories whose records have changed ─► compare each with the index (follow.go)
//	                                              │ new or changed texts: Put; gone or denied: Delete
//	                                              ▼
//	/search?words ─► Search ─► results; each text is read again for its excerpt (handler.go)
//
// The index contains only texts that robots may fetch, unless SearchAll is set. A text that a
// new policy denies disappears from the results at once, and from the index soon after.
package sitesearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// SearchOptions are the options of a Searcher that come from the command line.
type SearchOptions struct {
	// SearchDir is the directory of the index. If "", the index is in memory and rebuilt at each
	// start.
	SearchDir string

	// SearchAll includes texts that are denied to robots.
	SearchAll bool
}

// A Searcher maintains the index of a site, and is the answer.Source of its searches. Its fields
// must not be changed after Open.
type Searcher struct {
	Site *site.Site
	SearchOptions

	// Memory bounds the index, in bytes. If zero, 256 MiB.
	Memory int64

	// The options of the site's host.
	answer.HostOptions

	// Log records when the index is complete, full or damaged. If nil, nothing is logged.
	Log *slog.Logger

	index   *search.Index // nil before Open
	changed chan struct{} // has an element if the Snapshot may have changed or dirty is not empty
	ready   atomic.Bool   // the whole tree has been compared with the index
	looked  atomic.Int64  // directories compared so far

	snap *site.Snapshot  // from which dirty was last computed; nil before the first
	away map[string]bool // directories that wait for the index or for a file system to respond
	slow int             // updates in which a file system did not respond, since away was empty
	lost atomic.Bool     // the index was replaced by an empty one

	mu    sync.Mutex
	dirty map[string][]string // directories to compare with the index; only some texts, if the value is not nil
}

// DefaultMemory is used if Memory is zero.
const DefaultMemory = 256 << 20

// delay is the pause between two updates of the index.
const delay = 200 * time.Millisecond

// busyRetry is the delay before a directory is compared again in which something could not be
// read: a text under a lease, or on a file system that did not answer in time. No event reports
// that it can be read again.
const busyRetry = 10 * time.Second

// again is the delay before a failed batch is repeated.
const again = time.Minute

// Open opens the index. With a SearchDir it must be called before the process drops its
// privileges.
func (s *Searcher) Open(ctx context.Context) (err error) {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.changed = make(chan struct{}, 1)
	s.dirty, s.away = map[string][]string{}, map[string]bool{}
	s.index, err = search.Open(ctx, s.SearchDir, cmp.Or(s.Memory, DefaultMemory))
	return err
}

// Reloaded must be called after each reload of the site. It does not block.
func (s *Searcher) Reloaded() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Progress returns the number of directories compared so far, and whether the index is complete.
func (s *Searcher) Progress() (done int, complete bool) {
	return int(s.looked.Load()), s.ready.Load()
}

// Counts returns the number of texts and menus in the index, and of those that did not fit.
func (s *Searcher) Counts() (texts, left int) {
	n := s.index.Stats()
	return n.Texts, max(0, n.Wanted-n.Texts)
}

// lastWait is how long Run waits at the end for a file system that does not respond.
const lastWait = 2 * time.Second

// Run updates the index until ctx ends. It then closes the index, unless a file system does not
// respond.
func (s *Searcher) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.follow(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastWait):
		return nil
	}
}

func (s *Searcher) follow(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.index.Close()) }()
	if _, err := s.Site.Snapshot(ctx); err != nil {
		return nil // ctx has ended
	}
	start, full := time.Now(), false
	s.Reloaded()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		}
		if s.update(ctx) && !s.ready.Swap(true) {
			have := s.index.Stats()
			s.Log.Info(diag.EventIndexed, "texts", have.Texts, "bytes", have.Bytes, "took",
				time.Since(start))
		}
		_, left := s.Counts()
		if left > 0 && !full {
			s.Log.Warn("the search index is full: texts are left out", "texts", left, "hint",
				"raise the setting search-memory")
		}
		full = left > 0
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
	}
}

// update compares dirty directories with the index. Those whose file system does not respond
// at once are put off, so that others do not wait for them. update reports whether the index has
// what the Snapshot has.
func (s *Searcher) update(ctx context.Context) (done bool) {
	if s.lost.Swap(false) {
		s.snap = nil
	}
	if err := s.markChanged(s.Site.Now()); err != nil {
		s.failed(err, nil)
		return false
	}
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = map[string][]string{}
	s.mu.Unlock()
	todo := slices.Sorted(maps.Keys(dirty))

	// After many updates a file system may be slow without hanging: then wait for it.
	patience := stall.Brief
	if s.slow >= oftenSlow {
		patience = stall.Hurried
	}
	var hanging []string
	left := map[string]int{} // directories that took the whole patience, by group
	for _, dir := range todo {
		if ctx.Err() != nil {
			return false
		}
		delete(s.away, dir)
		group, _, _ := strings.Cut(dir, "/")
		if strings.HasPrefix(group, "~") {
			group = "~" // homes are often on one file system
		}
		err := stall.Err
		if left[group] < maxLeft {
			err = s.look(ctx, dir, dirty[dir], patience)
		}
		if errors.Is(err, stall.ErrLeft) {
			left[group]++
		}
		if errors.Is(err, stall.Err) {
			hanging = append(hanging, dir)
			s.away[dir] = true
			err = nil
		}
		if err == nil && s.index.Due() {
			err = s.index.Commit()
		}
		if err != nil {
			s.failed(err, todo)
			return false
		}
	}
	switch {
	case len(hanging) > 0:
		s.slow++
	case len(s.away) == 0:
		s.slow = 0
	}
	s.later(busyRetry, hanging...)
	if err := s.index.Commit(); err != nil {
		s.failed(err, todo)
		return false
	}
	return ctx.Err() == nil && len(s.away) == 0
}

const (
	// oftenSlow is the number of updates after which one waits for slow directories.
	oftenSlow = 8

	// maxLeft is the number of directories in one top-level directory, or in all homes, that an
	// update waits for in vain. It puts off the others there without trying.
	maxLeft = 4
)

// markChanged marks as dirty what has changed since s.snap: directories with other records, and
// texts that the policy may allow or deny now. It fails if the index does.
func (s *Searcher) markChanged(next *site.Snapshot) error {
	if next == s.snap {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := func(dir string, names []string) {
		old, dirty := s.dirty[dir]
		if dirty && old == nil || names == nil {
			s.dirty[dir] = nil
		} else {
			s.dirty[dir] = append(names, old...)
		}
	}
	for dir, names := range next.Changes(s.snap) {
		mark(dir, names)
	}
	switch {
	case s.snap == nil:
		// The index of an earlier process may contain directories that are gone.
		dirs, err := s.index.Directories()
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			mark(dir, nil)
		}
	case !s.SearchAll:
		other := answer.Rules(s.snap) // those of one of the Snapshots only
		for rule := range answer.Rules(next) {
			if other[rule] {
				delete(other, rule)
			} else {
				other[rule] = true
			}
		}
		rules := slices.Collect(maps.Keys(other))
		for dir := range next.Tree.All() {
			if concerned(dir, rules) {
				mark(dir, nil)
			}
		}
	}
	s.snap = next
	return nil
}

// concerned reports whether one of the rules may match a directory, all above it, or a file in it.
func concerned(dir string, rules []answer.Rule) bool {
	return slices.ContainsFunc(rules, func(rule answer.Rule) bool {
		return strings.HasPrefix(dir+"/", rule.Prefix) || path.Dir(rule.Prefix) == dir
	})
}

// failed handles an error of the index: the directories of the update are compared again later.
func (s *Searcher) failed(err error, dirs []string) {
	if errors.Is(err, search.ErrDiscarded) {
		s.Log.Error("the search index was damaged, and is made again", "error", err)
		s.discarded()
		return
	}
	s.Log.Error("the search index cannot be written", "error", err, "retry", again)
	for _, dir := range dirs {
		s.away[dir] = true
	}
	s.later(again, dirs...)
}

// discarded makes update compare everything again, with an empty index.
func (s *Searcher) discarded() {
	s.lost.Store(true)
	s.ready.Store(false)
	s.Reloaded()
}

// later compares directories again after a delay.
func (s *Searcher) later(delay time.Duration, dirs ...string) {
	time.AfterFunc(delay, func() {
		s.mu.Lock()
		for _, dir := range dirs {
			s.dirty[dir] = nil
		}
		s.mu.Unlock()
		s.Reloaded()
	})
}

// look compares a directory, or some texts of it, with the index. It fails with a stall.Err if a
// file system does not respond, and with another error if the index fails.
func (s *Searcher) look(ctx context.Context, dir string, names []string,
	patience stall.Patience) error {
	switch {
	case s.snap.Tree.Has(dir, true):
	case s.snap.Hangs(dir):
		return stall.Err // what the index has of it stays
	default:
		return s.index.Forget(dir)
	}
	_, err := site.TryFor(ctx, s.Site, patience, func(view *site.View) (struct{}, error) {
		d := directory{
			Searcher: s,
			snap:     s.snap,
			dir:      dir,
			names:    names,
		}
		d.q = &answer.Asked{
			Host: &answer.Host{
				Site:        s.Site,
				HostOptions: s.HostOptions,
			},
			Request: &server.Request{},
			View:    view,
		}
		return struct{}{}, d.compare()
	})
	if err == nil {
		s.looked.Add(1)
	}
	return err
}

// A directory is the comparison of one directory with the index.
type directory struct {
	*Searcher
	dir   string
	names []string // of the texts to compare; nil means all
	snap  *site.Snapshot
	q     *answer.Asked
	old   map[string]uint64 // marks of texts in the index that have not been found in the directory yet
	texts int
	busy  bool // a text could not be read, but may be readable later
}

// compare updates the index. It may be abandoned (site.Try). Its errors are those of look.
func (d *directory) compare() (err error) {
	// Open the directories above first: if one hangs, operations below it fail at once. (That
	// they are no files is an error like any other here.)
	view := d.q.View
	for i, c := range d.dir + "/" {
		if c != '/' {
			continue
		}
		if _, err := view.ReadFile(d.dir[:i]); errors.Is(err, stall.Err) {
			return err
		}
	}

	if d.old, err = d.index.Directory(d.dir, d.names); err != nil {
		return err
	}
	had := len(d.old)

	// Index the menu as a text, and each text together with its label in the map.
	text := ""
	if d.names == nil {
		text = menuText(d.items(view, d.dir))
	}
	_, labels := d.q.Builder().Names(view.Context(), d.dir)
	if err := view.Err(); err != nil {
		return fmt.Errorf("%w: %w", stall.Err, err)
	}
	if d.names == nil {
		mark := markOf(text, d.q.Title(d.dir, true))
		if err := d.put(search.DirName(d.dir), mark, func() (string, error) {
			return text, nil
		}); err != nil {
			return err
		}
	}
	for f := range view.Files(d.snap, d.dir, d.names) {
		name := selector.Join(d.dir, f.Name)
		mark := markOf(labels[name], fmt.Sprint(f.Size, f.Modified))
		err = d.put(name, mark, func() (string, error) {
			text, _, err := d.q.Read(name, search.MaxText)
			return text, err
		})
		if err != nil {
			return err
		}
	}
	if err := view.Err(); err != nil { // if the context has ended, too
		return fmt.Errorf("%w: %w", stall.Err, err)
	}
	if d.busy {
		d.later(busyRetry, d.dir)
	}

	// Delete what is gone.
	for name := range d.old {
		if err := d.index.Delete(name); err != nil {
			return err
		}
	}
	if d.names != nil {
		return d.index.SetDirectory(d.dir, d.texts-had, true)
	}
	return d.index.SetDirectory(d.dir, d.texts, false)
}

// put indexes a text, its title and its name, if robots may fetch it and the index lacks its
// current version.
func (d *directory) put(name string, mark uint64, read func() (string, error)) error {
	if !d.allowed(d.snap, name) {
		return nil
	}
	defer d.q.View.Forget() // the records of a large directory would take much memory
	old, has := d.old[name]
	delete(d.old, name)
	d.texts++
	if has && old == mark {
		return nil
	}
	body, err := read()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		d.texts--
		return d.index.Delete(name)
	case err != nil: // it may be readable later
		d.busy = true
		if !has {
			d.texts--
		}
		return nil
	}
	plain, dir := plainName(name)
	err = d.index.Put(search.Text{
		Name:  name,
		Title: d.q.Title(plain, dir) + " " + path.Base(plain),
		Mark:  mark,
		Body:  body,
	})
	if errors.Is(err, search.ErrFull) {
		err = nil
	}
	if err == nil && d.index.Due() {
		err = d.index.Commit()
	}
	return err
}

// markOf returns a hash that is the same in every process, since the index stores it.
func markOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum64()
}

// plainName returns the path for a name in the index, and whether it is a directory.
func plainName(name string) (plain string, dir bool) {
	plain, dir = strings.CutSuffix(name, "/")
	if plain == "" {
		plain = "."
	}
	return plain, dir
}

// allowed reports whether a name in the index may be found.
func (s *Searcher) allowed(snap *site.Snapshot, name string) bool {
	plain, dir := plainName(name)
	in := plain
	if !dir {
		in = path.Dir(plain)
	}
	return snap != nil && snap.Real(plain) == plain && snap.Tree.Has(in, true) &&
		(s.SearchAll || snap.Open(plain, dir))
}

func (s *Searcher) items(v *site.View, dir string) []menu.Item {
	m, err := (&menu.Builder{
		FS:           v,
		BuildOptions: menu.BuildOptions{InfoPrefix: s.InfoPrefix},
	}).Menu(v.Context(), dir)
	if err != nil {
		s.Log.Debug("no menu for the search index", "directory", dir, "error", fmt.Sprint(err))
	}
	return m.Items
}

func menuText(items []menu.Item) string {
	var b strings.Builder
	for _, it := range items {
		b.WriteString(it.Label + "\n")
	}
	return b.String()
}
