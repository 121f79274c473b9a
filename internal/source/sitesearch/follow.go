// Package sitesearch finds texts of a site: it keeps an index of them in step with
// the tree, and answers the selector /search.
//
//	Touch(dir), Reloaded ─► Run ─► update: look at each touched directory (follow.go)
//	                                │ new or changed texts: Put; gone or denied: Delete
//	                                ▼
//	/search?words ─► Search ─► results, each read again for its line (handler.go)
//
// Texts that robots may not fetch are not in the index unless SearchAll is set, so that
// no count, no suggestion and no time depends on them.
package sitesearch

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"path"
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
	changed chan struct{} // holds one if something was touched
	ready   atomic.Bool   // all of the tree was compared with the index once
	robots  string        // the robots.txt that the index was filled by

	touched site.Touched

	mu    sync.Mutex
	texts map[string]int // in each directory that was looked at, whether they fit or not
}

// DefaultMemory is used if Memory is zero.
const DefaultMemory = 256 << 20

// batch is how long changes are collected before the index follows them.
const batch = 200 * time.Millisecond

// again is when a directory is looked at again in which a text could not be read, such as one
// that somebody has a lease on; tests change it.
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
	s.changed, s.texts = make(chan struct{}, 1), map[string]int{}
	s.index, err = search.Open(ctx, s.SearchDir, memory)
	return err
}

// Touch notes that something may have changed in a directory, "" for everything.
// It does not block.
func (s *Searcher) Touch(dir string) {
	s.touched.Touch(dir)
	s.Reloaded()
}

// Reloaded notes that the policy may have changed. It does not block.
func (s *Searcher) Reloaded() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Progress returns how many directories have been looked at, and whether the index is
// complete.
func (s *Searcher) Progress() (done int, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.texts), s.ready.Load()
}

// left is how many texts did not fit into the index.
func (s *Searcher) left() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, texts := range s.texts {
		n += texts
	}
	return max(0, n-s.index.Stats().Texts)
}

// uncount notes that a text of a directory is to be in the index no more.
func (s *Searcher) uncount(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[dir]--
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
	s.Touch("")
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		}
		s.update(ctx, s.touched.Take())
		if ctx.Err() == nil && !s.ready.Swap(true) {
			have := s.index.Stats()
			s.Log.Info(diag.EventIndexed, "texts", have.Texts, "bytes", have.Bytes, "took", time.Since(start))
		}
		left := s.left()
		if left > 0 && !full {
			s.Log.Warn("the search index is full: texts are left out", "texts", left, "hint", "raise the setting search-memory")
		}
		full = left > 0
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(batch):
		}
	}
}

// update indexes the touched directories again. It first removes all texts that a new
// policy denies. Newly allowed texts lie below a touched directory, which has the changed
// annotation.
func (s *Searcher) update(ctx context.Context, touched map[string]bool) {
	snap := s.Site.Now()
	robots := string(snap.Robots)
	changed := robots != s.robots && !s.SearchAll
	if changed {
		s.note(s.index.Keep(ctx, func(name string) bool {
			keep := s.allowed(snap, name)
			if dir, itself := plainName(name); !keep && itself {
				s.uncount(dir)
			} else if !keep {
				s.uncount(path.Dir(dir))
			}
			return keep
		}))
	}
	all := touched[""] || changed && len(touched) == 0
	if all {
		touched = map[string]bool{".": true}
	}
	u := update{Searcher: s, snap: snap, below: all || changed, seen: map[string]bool{}}
	for dir := range touched {
		u.look(ctx, dir)
	}
	s.note(s.index.Flush())
	s.robots = robots
}

func (s *Searcher) note(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Error("the search index cannot be written", "error", err)
	}
}

// An update is one pass over directories.
type update struct {
	*Searcher
	snap  *site.Snapshot
	below bool            // also look at directories that the index has
	seen  map[string]bool // directories
}

// look updates the index for a directory, and for those below it that the index does not
// have.
func (u *update) look(ctx context.Context, dir string) {
	for todo := []string{dir}; len(todo) > 0 && ctx.Err() == nil; {
		dir, todo = todo[0], todo[1:]
		if u.seen[dir] {
			continue
		}
		u.seen[dir] = true
		for err := stall.ErrLeft; errors.Is(err, stall.ErrLeft); { // it goes on without what does not answer
			var dirs []string
			dirs, err = site.Try(ctx, u.Site, func(v *site.View) ([]string, error) { return u.one(ctx, v, dir), nil })
			todo = append(todo, dirs...)
		}
	}
}

// one brings the index in step with one directory, and returns the directories in it
// that are to be looked at. It may be left behind.
func (u *update) one(ctx context.Context, v *site.View, dir string) (todo []string) {
	info, err := v.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		u.forget(ctx, dir)
	}
	if err != nil || !info.IsDir() {
		return nil // if it does not answer: later
	}
	list, err := v.ReadDir(dir)
	if err != nil {
		return nil
	}
	marks, dirs, err := u.index.Enter(ctx, dir)
	u.note(err)
	known := map[string]bool{}
	for _, name := range dirs {
		known[name] = true
	}
	d := directory{update: u, old: marks, q: &answer.Asked{Host: &answer.Host{Site: u.Site, HostOptions: u.HostOptions}, Request: &server.Request{}, View: v}}
	defer d.lookAgain(u.Searcher, dir)
	labels := d.menu(ctx, dir)
	below := func(name string) {
		if u.below || !known[name] {
			todo = append(todo, name)
		}
		delete(known, name)
	}
	if dir == "." {
		for _, name := range v.Trees() { // of users, whom no directory lists
			below(name)
		}
	}
	for _, e := range list {
		name := selector.Join(dir, e.Name())
		if e.IsDir() {
			below(name)
		} else if info, err := v.Stat(name); err != nil {
			d.unread(err)
		} else if ctx.Err() == nil {
			mark := markOf(labels[name], fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
			d.put(ctx, name, mark, func() (io.ReadCloser, error) { return openText(v, name) })
		}
	}
	if v.Err() != nil || ctx.Err() != nil {
		return todo // a file system does not answer
	}
	for name := range d.old {
		u.note(u.index.Delete(ctx, name))
	}
	for name := range known {
		u.forget(ctx, name)
	}
	u.mu.Lock()
	u.texts[dir] = d.texts
	u.mu.Unlock()
	return todo
}

func (u *update) forget(ctx context.Context, dir string) {
	u.note(u.index.Forget(ctx, dir))
	u.mu.Lock()
	defer u.mu.Unlock()
	for d := range u.texts {
		if d == dir || strings.HasPrefix(d, dir+"/") {
			delete(u.texts, d)
		}
	}
}

// A directory is compared with the index.
type directory struct {
	*update
	q     *answer.Asked
	old   map[string]uint64 // marks of texts that the index has, and the directory not yet
	texts int
	busy  bool // a text could not be read now
}

// unread notes that a text could not be read.
func (d *directory) unread(err error) {
	d.busy = d.busy || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// lookAgain has a directory looked at again after a text in it could not be read. No event
// tells when it can.
func (d *directory) lookAgain(s *Searcher, dir string) {
	if d.busy {
		time.AfterFunc(again, func() { s.Touch(dir) })
	}
}

// menu indexes the menu of a directory as a text, and returns the labels of its links.
func (d *directory) menu(ctx context.Context, dir string) map[string]string {
	items := d.items(d.q.View, dir)
	labels := map[string]string{}
	for _, it := range items {
		if it.Host == "" && it.Type != menu.TypeInfo {
			labels[strings.Trim(it.Selector, "/")] = it.Label
		}
	}
	text := menuText(items)
	d.put(ctx, search.DirName(dir), markOf(text, d.q.Title(dir, true)), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	return labels
}

// put indexes a text that robots may have, unless the index has its current version. It is
// found by its title and its name.
func (d *directory) put(ctx context.Context, name string, mark uint64, open func() (io.ReadCloser, error)) {
	if !d.allowed(d.snap, name) {
		return
	}
	defer d.q.View.Forget() // of a directory with many names, what was asked would add up
	old, has := d.old[name]
	delete(d.old, name)
	d.texts++
	if has && old == mark {
		return
	}
	plain, dir := plainName(name)
	t := search.Text{Name: name, Title: d.q.Title(plain, dir) + " " + path.Base(plain), Mark: mark}
	f, err := open()
	if err == nil && f != nil {
		t.Content = f
		defer func() { _ = f.Close() }()
	}
	if err == nil {
		err = d.index.Put(ctx, t)
	}
	if err != nil && !errors.Is(err, search.ErrFull) { // it cannot be read now
		d.texts--
		d.note(d.index.Delete(ctx, name))
		d.unread(err)
	}
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
	return s.SearchAll || snap != nil && !snap.Compiled.DeniedToAll(plain, dir)
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

// openText opens a file if it is a text; it returns nil if it is not.
func openText(v *site.View, name string) (io.ReadCloser, error) {
	typ, known := menu.TypeOf(name)
	if known && typ != menu.TypeText {
		return nil, nil
	}
	f, err := v.Lookup(name)
	if err != nil {
		return nil, err
	}
	var head [512]byte
	n, _ := f.ReadAt(head[:], 0)
	if !known && menu.Sniff(head[:n]) != menu.TypeText {
		return nil, f.Close()
	}
	if _, wide := menu.FromUTF16(head[:n]); wide {
		all, err := io.ReadAll(io.LimitReader(f, search.MaxText))
		text, _ := menu.FromUTF16(all)
		return io.NopCloser(strings.NewReader(text)), errors.Join(err, f.Close())
	}
	return f, nil
}
