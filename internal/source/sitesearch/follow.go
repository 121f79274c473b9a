// Package sitesearch finds texts of a site: it keeps an index of them in step with
// the tree, and answers the selector /search.
//
//	Reloaded ─► directories whose records have changed ─► compare each with the index (follow.go)
//	                                              │ new or changed texts: Put; gone or denied: Delete
//	                                              ▼
//	/search?words ─► Search ─► results, each read again for its line (handler.go)
//
// Texts that robots may not fetch are not in the index unless SearchAll is set. One that a
// new policy denies is not shown or counted from then on, and leaves the index a moment
// later.
package sitesearch

import (
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

// SearchOptions are how a site is searched. They travel as one value from the flags to the
// searcher.
type SearchOptions struct {
	// SearchDir is where the index lies. If "", it is kept in memory, and made at each start.
	SearchDir string

	// SearchAll reports whether texts that are denied to robots are found, too.
	SearchAll bool
}

// A Searcher keeps an index of a site, and is the answer.Source of its searches. Its
// fields must not be changed once Open was called.
type Searcher struct {
	Site *site.Site
	SearchOptions

	// Memory bounds the index, in bytes. If zero, 256 MiB.
	Memory int64

	// The options of the site's host.
	answer.HostOptions

	// Log gets a line when the index was built, and when it is full. If nil,
	// nothing is logged.
	Log *slog.Logger

	index   *search.Index // nil before Open
	changed chan struct{} // holds one if there may be a new snapshot, or something is dirty
	ready   atomic.Bool   // all of the tree was compared with the index once
	looked  atomic.Int64  // at so many directories

	snap *site.Snapshot // that the index follows; nil: none yet
	done []string       // directories since the last commit
	lost atomic.Bool    // the index is empty

	mu    sync.Mutex
	dirty map[string][]string // directories that are to be compared with the index, or a few texts of them
}

// DefaultMemory is used if Memory is zero.
const DefaultMemory = 256 << 20

// delay is how long changes are collected before the index follows them.
const delay = 200 * time.Millisecond

// busyRetry is the delay before a directory is compared again in which something could not be
// read: a text under a lease, or on a file system that did not answer in time. No event reports
// that it can be read again.
const busyRetry = 10 * time.Second

// again is the delay before a failed batch is repeated; tests change it.
var again = time.Minute

// Open opens the index. With a SearchDir it must be called before the process gives up the
// right to make files there.
func (s *Searcher) Open(ctx context.Context) (err error) {
	memory := s.Memory
	if memory <= 0 {
		memory = DefaultMemory
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.changed, s.dirty = make(chan struct{}, 1), map[string][]string{}
	s.index, err = search.Open(ctx, s.SearchDir, memory)
	return err
}

// Reloaded notes that there may be a new snapshot. It does not block.
func (s *Searcher) Reloaded() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Progress returns how many directories have been looked at, and whether the index is
// complete.
func (s *Searcher) Progress() (done int, complete bool) {
	return int(s.looked.Load()), s.ready.Load()
}

// Counts returns how many texts and menus the index has, and how many did not fit.
func (s *Searcher) Counts() (texts, left int) {
	n := s.index.Stats()
	return n.Texts, max(0, n.Wanted-n.Texts)
}

// lastWait is how long Run waits at the end for a file system that does not answer.
const lastWait = 2 * time.Second

// Run compares the index with the tree, then follows its changes until ctx ends. It
// closes the index, unless a file system does not answer.
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
		return nil // it ended before
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
			s.Log.Info(diag.EventIndexed, "texts", have.Texts, "bytes", have.Bytes, "took", time.Since(start))
		}
		_, left := s.Counts()
		if left > 0 && !full {
			s.Log.Warn("the search index is full: texts are left out", "texts", left, "hint", "raise the setting search-memory")
		}
		full = left > 0
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
	}
}

// update compares directories with the index: those whose records have changed, those in
// which a new policy may allow or deny other texts, and those that were not done before. It
// reports whether all are done.
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

	for i, dir := range todo {
		if ctx.Err() != nil {
			return false
		}
		s.done = append(s.done, dir)
		err := s.look(ctx, dir, dirty[dir])
		if err == nil && s.index.Due() {
			err = s.commit()
		}
		if err != nil {
			s.failed(err, append(s.done, todo[i+1:]...))
			return false
		}
	}
	if err := s.commit(); err != nil {
		s.failed(err, s.done)
		return false
	}
	return ctx.Err() == nil
}

// markChanged makes dirty what differs between the snapshot that the index has followed so
// far and the next one. An error is the index's.
func (s *Searcher) markChanged(next *site.Snapshot) error {
	if next == s.snap {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, names := range next.Changes(s.snap) {
		if old, dirty := s.dirty[dir]; dirty && (old == nil || names == nil) {
			names = nil
		} else {
			names = append(names, old...)
		}
		s.dirty[dir] = names
	}
	switch {
	case s.snap == nil:
		// Of an older process it may have directories that are gone.
		dirs, err := s.index.Directories()
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			s.dirty[dir] = nil
		}
	case !s.SearchAll:
		var prefixes []string
		before, after := answer.Rules(s.snap), answer.Rules(next)
		for rule := range before {
			if !after[rule] {
				prefixes = append(prefixes, rule.Prefix)
			}
		}
		for rule := range after {
			if !before[rule] {
				prefixes = append(prefixes, rule.Prefix)
			}
		}
		for dir, d := range next.Tree.All() {
			names, all := matching(dir, d, prefixes)
			old, dirty := s.dirty[dir]
			switch {
			case all || dirty && old == nil:
				s.dirty[dir] = nil
			case len(names) > 0:
				s.dirty[dir] = append(names, old...)
			}
		}
	}
	s.snap = next
	return nil
}

// matching returns the files of a directory whose names begin with a prefix; all reports
// whether that of the directory may, too, or its menu shows one of them.
func matching(dir string, d *site.Dir, prefixes []string) (names []string, all bool) {
	for _, prefix := range prefixes {
		rest, below := prefix, true
		if dir != "." {
			rest, below = strings.CutPrefix(prefix, dir+"/")
		}
		if rest == "" || !below && strings.HasPrefix(dir+"/", prefix) {
			return nil, true
		}
		if !below || strings.Contains(rest, "/") {
			continue
		}
		from, _ := slices.BinarySearchFunc(d.Files, rest, func(f site.File, name string) int { return strings.Compare(f.Name, name) })
		for _, f := range d.Files[from:] {
			if !strings.HasPrefix(f.Name, rest) {
				break
			}
			if menu.IsMenuFile(f.Name) || f.Name == "index.gmi" {
				return nil, true
			}
			names = append(names, f.Name)
		}
	}
	return names, len(names) > maxNames
}

// maxNames is how many texts of a directory are compared by their names.
const maxNames = 100

// commit ends the batch of the index.
func (s *Searcher) commit() error {
	err := s.index.Commit()
	if err == nil {
		s.done = nil
	}
	return err
}

// failed has directories compared again whose changes the index has not taken.
func (s *Searcher) failed(err error, dirs []string) {
	s.done = nil
	if errors.Is(err, search.ErrDiscarded) {
		s.Log.Error("the search index was damaged, and is made again", "error", err)
		s.discarded()
		return
	}
	s.Log.Error("the search index cannot be written", "error", err, "retry", again)
	s.later(again, dirs...)
}

// discarded has everything compared again.
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

// look compares a directory with the index, or some texts of it. An error is the index's.
func (s *Searcher) look(ctx context.Context, dir string, names []string) (err error) {
	s.looked.Add(1)
	if !s.snap.Tree.Has(dir, true) {
		return s.index.Forget(dir)
	}
	for {
		_, err = site.Try(ctx, s.Site, func(view *site.View) (struct{}, error) {
			d := directory{Searcher: s, snap: s.snap, dir: dir, names: names, ctx: ctx}
			d.q = &answer.Asked{Host: &answer.Host{Site: s.Site, HostOptions: s.HostOptions}, Request: &server.Request{}, View: view}
			return struct{}{}, d.compare()
		})
		if !errors.Is(err, stall.ErrLeft) { // else it goes on without what does not answer
			return err
		}
	}
}

// A directory is compared with the index.
type directory struct {
	*Searcher
	dir   string
	names []string // of texts; nil: all
	snap  *site.Snapshot
	ctx   context.Context
	q     *answer.Asked
	old   map[string]uint64 // marks of texts that the index has, and the directory not yet
	texts int
	busy  bool // a text could not be read now
}

// compare brings the index in step with the directory. It may be left behind. An error is
// the index's.
func (d *directory) compare() (err error) {
	if d.old, err = d.index.Directory(d.dir, d.names); err != nil {
		return err
	}
	had := len(d.old)

	// The menu as a text, and the texts, which are found by what a map calls them, too.
	if d.names == nil {
		if err := d.menu(); err != nil {
			return err
		}
	}
	_, labels := d.q.Builder().Names(d.ctx, d.dir)
	for f := range d.q.View.Files(d.snap, d.dir, d.names) {
		if d.ctx.Err() != nil {
			return nil
		}
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
	if d.ctx.Err() != nil {
		return nil
	}
	incomplete := d.q.View.Err() != nil
	if d.busy || incomplete {
		d.later(busyRetry, d.dir)
	}
	if incomplete {
		return nil
	}

	// What is gone.
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

// unread notes that a text could not be read.
func (d *directory) unread(err error) {
	d.busy = d.busy || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// menu indexes the menu of the directory as a text.
func (d *directory) menu() error {
	text := menuText(d.items(d.q.View, d.dir))
	return d.put(search.DirName(d.dir), markOf(text, d.q.Title(d.dir, true)), func() (string, error) { return text, nil })
}

// put indexes a text that robots may have, unless the index has its current version. It is
// found by its title and its name.
func (d *directory) put(name string, mark uint64, read func() (string, error)) error {
	if !d.allowed(d.snap, name) {
		return nil
	}
	defer d.q.View.Forget() // of a directory with many names, what was asked would add up
	old, has := d.old[name]
	delete(d.old, name)
	d.texts++
	if has && old == mark {
		return nil
	}
	body, err := read()
	if err != nil { // it cannot be read now
		d.texts--
		d.unread(err)
		return d.index.Delete(name)
	}
	plain, dir := plainName(name)
	err = d.index.Put(search.Text{Name: name, Title: d.q.Title(plain, dir) + " " + path.Base(plain), Mark: mark, Body: body})
	if errors.Is(err, search.ErrFull) {
		err = nil
	}
	if err == nil && d.index.Due() {
		err = d.index.Commit()
	}
	return err
}

// markOf is the same in each process: it is kept in the index.
func markOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum64()
}

// plainName returns the path of a name in the index, and whether it is a directory's.
func plainName(name string) (plain string, dir bool) {
	plain, dir = strings.CutSuffix(name, "/")
	if plain == "" {
		plain = "."
	}
	return plain, dir
}

// allowed reports whether robots may fetch what has a name in the index.
func (s *Searcher) allowed(snap *site.Snapshot, name string) bool {
	plain, dir := plainName(name)
	return snap != nil && snap.Real(plain) == plain && (s.SearchAll || snap.Open(plain, dir))
}

func (s *Searcher) items(v *site.View, dir string) []menu.Item {
	m, err := (&menu.Builder{FS: v, BuildOptions: menu.BuildOptions{InfoPrefix: s.InfoPrefix}}).Menu(v.Context(), dir)
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
