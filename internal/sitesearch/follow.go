// Package sitesearch keeps a search index of a site and answers searches in it.
//
//	what changed → directories to look at again → their texts → index (package search)
//	query → index → each result is looked up as a client would → menu
//
// The index holds what robots may have: a search engine is one. It is
// built when the site was scanned, and follows the watcher.
package sitesearch

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// A Searcher is the index of a site and the answer.Source of its searches. Its
// fields must not be changed once Run was called.
type Searcher struct {
	Site *site.Site

	// Memory bounds the index, in bytes. If zero, 256 MiB.
	Memory int64

	// All reports whether texts that are denied to robots are found, too.
	All bool

	// InfoPrefix is how gophermaps are read (see menu.Builder).
	InfoPrefix bool

	// Log gets a line when the index was built, and when it is full. If nil,
	// nothing is logged.
	Log *slog.Logger

	index  atomic.Pointer[search.Index] // nil before Run
	ready  atomic.Bool                  // everything was looked at once
	left   atomic.Int64                 // texts that the index has no memory for
	all    atomic.Int64                 // directories to be looked at for the first time
	looked atomic.Int64                 // of them

	mu      sync.Mutex
	touched map[string]struct{}
	changed chan struct{} // holds one if something was touched
	once    sync.Once

	// Of Run alone.
	seed  maphash.Seed
	known map[string][]string // the names in the index, by directory
	tree  *policy.Dir         // that was looked at last
	file  string              // its robots.txt
}

// DefaultMemory is Searcher.Memory if that is zero.
const DefaultMemory = 256 << 20

// Batch is how long changes are collected before they are looked at: a file that
// is written bit by bit is read once.
const batch = 200 * time.Millisecond

func (s *Searcher) signal() chan struct{} {
	s.once.Do(func() { s.changed = make(chan struct{}, 1) })
	return s.changed
}

// Touch notes that something may have changed in a directory; "" is every one. It
// is for site.Config.Touched.
func (s *Searcher) Touch(dir string) {
	s.mu.Lock()
	if s.touched == nil {
		s.touched = map[string]struct{}{}
	}
	s.touched[dir] = struct{}{}
	s.mu.Unlock()
	s.Reloaded()
}

// Reloaded notes that the site has a new snapshot. It is for
// site.Config.Reloaded.
func (s *Searcher) Reloaded() {
	select {
	case s.signal() <- struct{}{}:
	default:
	}
}

// Progress returns how many of all directories were read for the first index, and
// whether it is complete. Before the site was scanned, both numbers are 0.
func (s *Searcher) Progress() (done, all int64, complete bool) {
	return s.looked.Load(), s.all.Load(), s.ready.Load()
}

func (s *Searcher) take() map[string]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.touched
	s.touched = nil
	return t
}

func (s *Searcher) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// Run builds the index and follows the site until ctx ends.
func (s *Searcher) Run(ctx context.Context) error {
	s.seed, s.known = maphash.MakeSeed(), map[string][]string{}
	memory := s.Memory
	if memory <= 0 {
		memory = DefaultMemory
	}
	x := search.New(memory)
	s.index.Store(x)
	if _, err := s.Site.Snapshot(ctx); err != nil {
		return nil // it ended before
	}
	start := time.Now()
	s.update(ctx, map[string]struct{}{"": {}})
	if ctx.Err() != nil {
		return nil
	}
	x.Settle()
	s.ready.Store(true)
	have := x.Stats()
	s.log().Info("search index built", "texts", have.Texts, "words", have.Terms, "bytes", have.Bytes, "took", time.Since(start))
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.signal():
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(batch):
		}
		s.update(ctx, s.take())
	}
}

// update looks again at what was touched, and at directories that came or went. If
// robots.txt says something else now, everything is looked at.
func (s *Searcher) update(ctx context.Context, touched map[string]struct{}) {
	snap := s.Site.Now()
	_, all := touched[""]
	delete(touched, "")
	all = all || !s.All && string(snap.Robots) != s.file
	s.file = string(snap.Robots)
	if snap.Tree != s.tree || all {
		s.tree = snap.Tree
		now := map[string]bool{}
		directories(snap.Tree, ".", func(dir string) {
			now[dir] = true
			if _, known := s.known[dir]; !known || all {
				touched = add(touched, dir)
			}
		})
		for dir := range s.known {
			if !now[dir] {
				s.forget(dir)
			}
		}
	}
	full := s.left.Load()
	if !s.ready.Load() {
		s.all.Store(int64(len(touched)))
	}
	for dir := range touched {
		if ctx.Err() != nil {
			return
		}
		s.look(ctx, snap, dir)
		s.looked.Add(1)
	}
	if left := s.left.Load(); left > 0 && full == 0 {
		s.log().Warn("the search index is full: texts are left out", "texts", left, "hint", "raise -search-memory")
	}
}

func add(set map[string]struct{}, dir string) map[string]struct{} {
	if set == nil {
		set = map[string]struct{}{}
	}
	set[dir] = struct{}{}
	return set
}

// directories calls f with each directory of a tree.
func directories(d *policy.Dir, name string, f func(string)) {
	f(name)
	for _, sub := range d.Dirs {
		directories(sub, selector.Join(name, sub.Name), f)
	}
}

// forget takes a directory out of the index.
func (s *Searcher) forget(dir string) {
	for _, base := range s.known[dir] {
		s.index.Load().Delete(nameIn(dir, base))
	}
	delete(s.known, dir)
}

// Of each directory the index holds its files by their names, and itself under
// the name dir/, with what its menu says.
const itself = ""

// look brings the index up to date with one directory.
func (s *Searcher) look(ctx context.Context, snap *site.Snapshot, dir string) {
	v := s.Site.View(ctx)
	f, err := v.Lookup(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			s.forget(dir)
		}
		return // else it does not answer: later
	}
	info := f.Info
	_ = f.Close()
	list, err := v.ReadDir(dir)
	if err != nil || !info.IsDir() {
		return
	}
	m := s.menu(v, dir)
	labels := map[string]string{}
	for _, it := range m.Items {
		if it.Host == "" && it.Type != menu.TypeInfo {
			labels[strings.TrimSuffix(strings.TrimPrefix(it.Selector, "/"), "/")] = it.Label
		}
	}
	var names []string
	put := func(base, name, title string, mark uint64, open func() (fs.File, error)) {
		if s.put(name, title, mark, open) {
			names = append(names, base)
		}
	}
	if s.allowed(snap, dir, true) {
		text := menuText(m)
		put(itself, directoryName(dir), s.title(v, dir), maphash.String(s.seed, text), func() (fs.File, error) { return stringFile(text), nil })
	}
	for _, e := range list {
		name := selector.Join(dir, e.Name())
		if e.IsDir() || !s.allowed(snap, name, false) || ctx.Err() != nil {
			continue
		}
		info, err := v.Stat(name)
		if err != nil {
			continue
		}
		title := e.Name()
		if label := labels[name]; label != "" && label != title {
			title = label + " " + title
		}
		mark := maphash.Comparable(s.seed, [2]int64{info.Size(), info.ModTime().UnixNano()}) ^ maphash.String(s.seed, title)
		put(e.Name(), name, title, mark, func() (fs.File, error) { return openText(v, name) })
	}
	slices.Sort(names)
	for _, old := range s.known[dir] {
		if _, still := slices.BinarySearch(names, old); !still {
			s.index.Load().Delete(nameIn(dir, old))
		}
	}
	s.known[dir] = names
}

// put puts a text into the index, unless it is there as it is now. It reports
// whether it is in.
func (s *Searcher) put(name, title string, mark uint64, open func() (fs.File, error)) bool {
	x := s.index.Load()
	if old, ok := x.Mark(name); ok && old == mark {
		return true
	}
	f, err := open()
	switch {
	case err != nil:
		x.Delete(name)
		return false
	case f == nil:
		err = x.Put(name, title, mark, nil)
	default:
		defer func() { _ = f.Close() }()
		err = x.Put(name, title, mark, bareFile{f})
	}
	if errors.Is(err, search.ErrFull) {
		s.left.Add(1)
		return false
	}
	return true
}

type bareFile struct{ fs.File }

func nameIn(dir, base string) string {
	if base == itself {
		return directoryName(dir)
	}
	return selector.Join(dir, base)
}

// directoryName is what a directory is called in the index.
func directoryName(dir string) string {
	if dir == "." {
		return "/"
	}
	return dir + "/"
}

// allowed reports whether a resource may be found.
func (s *Searcher) allowed(snap *site.Snapshot, name string, dir bool) bool {
	return s.All || snap != nil && !snap.Compiled.DeniedToAll(name, dir)
}

// title is what a directory is called.
func (s *Searcher) title(v *site.View, dir string) string {
	if label := (&menu.Builder{FS: v}).Label(v.Context(), dir); label != "" {
		return label + " " + path.Base(dir)
	}
	return strings.TrimPrefix(path.Base(dir), ".")
}

func (s *Searcher) menu(v *site.View, dir string) menu.Menu {
	b := menu.Builder{FS: v, InfoPrefix: s.InfoPrefix}
	m, err := b.Menu(v.Context(), dir)
	if err != nil {
		s.log().Debug("no menu for the search index", "directory", dir, "error", fmt.Sprint(err))
	}
	return m
}

// menuText is what people read of a menu.
func menuText(m menu.Menu) string {
	var b strings.Builder
	for _, it := range m.Items {
		b.WriteString(it.Label)
		b.WriteByte('\n')
	}
	return b.String()
}

// openText opens a file that is a text; of others only the name is looked for.
func openText(v *site.View, name string) (fs.File, error) {
	typ, known := menu.TypeOf(name)
	if known && typ != menu.TypeText {
		return nil, nil
	}
	f, err := v.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !known {
		var head [512]byte
		if n, _ := f.ReadAt(head[:], 0); menu.Sniff(head[:n]) != menu.TypeText {
			return nil, f.Close()
		}
	}
	return f, nil
}
