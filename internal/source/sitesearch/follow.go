// Package sitesearch finds texts of a site: it keeps an index of them in step with
// the tree, and answers the selector /search.
//
//	Touch(dir), Reloaded ─► dirty directories ─► look at each (follow.go)
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
	changed chan struct{} // holds one if something is dirty, or the policy may be new
	ready   atomic.Bool   // all of the tree was compared with the index once
	looked  atomic.Int64  // at so many directories

	rules map[answer.Rule]bool // of the policy that the index was filled by
	done  []visit              // since the last commit

	mu    sync.Mutex
	dirty map[visit]bool
}

// A visit is a directory that is to be compared with the index.
type visit struct {
	dir string

	// Directories in it that the index does not have are visited, too, and with below
	// those whose paths begin with prefix.
	below  bool
	prefix string
}

// everything is a visit of all directories.
var everything = visit{dir: ".", below: true}

// visitOf is the visit of the names that begin with a prefix.
func visitOf(prefix string) visit {
	dir := "."
	if i := strings.LastIndexByte(prefix, '/'); i > 0 {
		dir = prefix[:i]
	}
	return visit{dir, true, prefix}
}

// DefaultMemory is used if Memory is zero.
const DefaultMemory = 256 << 20

// delay is how long changes are collected before the index follows them.
const delay = 200 * time.Millisecond

// again is when a directory is visited again in which a text could not be read, such as one
// that somebody has a lease on, or whose batch failed; tests change it.
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
	s.changed, s.dirty = make(chan struct{}, 1), map[visit]bool{}
	s.index, err = search.Open(ctx, s.SearchDir, memory)
	return err
}

// Touch notes that something may have changed in a directory, "" for everything.
// It does not block.
func (s *Searcher) Touch(dir string) {
	if dir == "" {
		s.visit(everything)
		return
	}
	s.visit(visit{dir: dir})
}

func (s *Searcher) visit(list ...visit) {
	s.mu.Lock()
	for _, v := range list {
		s.dirty[v] = true
	}
	s.mu.Unlock()
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
	snap, err := s.Site.Snapshot(ctx)
	if err != nil {
		return nil // it ended before
	}
	start, full := time.Now(), false
	s.rules = answer.Rules(snap)
	s.visit(everything)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		}
		s.update(ctx)
		if ctx.Err() == nil && !s.ready.Swap(true) {
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

// update visits the dirty directories, and those in which a new policy may allow or deny
// other texts.
func (s *Searcher) update(ctx context.Context) {
	snap := s.Site.Now()
	if !s.SearchAll {
		rules := answer.Rules(snap)
		for rule := range s.rules {
			if !rules[rule] {
				s.visit(visitOf(rule.Prefix))
			}
		}
		for rule := range rules {
			if !s.rules[rule] {
				s.visit(visitOf(rule.Prefix))
			}
		}
		s.rules = rules
	}

	s.mu.Lock()
	var todo []visit
	for v := range s.dirty {
		todo = append(todo, v)
	}
	s.dirty = map[visit]bool{}
	s.mu.Unlock()

	seen := map[visit]bool{}
	for len(todo) > 0 && ctx.Err() == nil {
		v := todo[0]
		todo = todo[1:]
		if seen[v] {
			continue
		}
		seen[v] = true
		s.done = append(s.done, v)
		below, err := s.look(ctx, snap, v)
		if err == nil && s.index.Due() {
			err = s.commit()
		}
		if err != nil {
			s.failed(err, append(s.done, todo...))
			return
		}
		todo = append(todo, below...)
	}
	if err := s.commit(); err != nil {
		s.failed(err, s.done)
	}
}

// commit ends the batch of the index.
func (s *Searcher) commit() error {
	err := s.index.Commit()
	if err == nil {
		s.done = nil
	}
	return err
}

// failed has directories visited again whose changes the index has not taken.
func (s *Searcher) failed(err error, list []visit) {
	s.done = nil
	if errors.Is(err, search.ErrDiscarded) {
		s.Log.Error("the search index was damaged, and is made again", "error", err)
		s.visit(everything)
		return
	}
	s.Log.Error("the search index cannot be written", "error", err, "retry", again)
	time.AfterFunc(again, func() { s.visit(list...) })
}

// look compares a directory with the index, and returns the directories in it that are to
// be visited. An error is the index's.
func (s *Searcher) look(ctx context.Context, snap *site.Snapshot, v visit) (below []visit, err error) {
	s.looked.Add(1)
	for {
		below, err = site.Try(ctx, s.Site, func(view *site.View) ([]visit, error) {
			d := directory{Searcher: s, snap: snap, visit: v, ctx: ctx}
			d.q = &answer.Asked{Host: &answer.Host{Site: s.Site, HostOptions: s.HostOptions}, Request: &server.Request{}, View: view}
			return d.compare()
		})
		if !errors.Is(err, stall.ErrLeft) { // else it goes on without what does not answer
			return below, err
		}
	}
}

// A directory is compared with the index.
type directory struct {
	*Searcher
	visit
	snap  *site.Snapshot
	ctx   context.Context
	q     *answer.Asked
	old   map[string]uint64 // marks of texts that the index has, and the directory not yet
	texts int
	busy  bool // a text could not be read now
}

// compare brings the index in step with the directory, and returns the directories in it
// that are to be visited. It may be left behind. An error is the index's.
func (d *directory) compare() (below []visit, err error) {
	view := d.q.View
	info, err := view.Stat(d.dir)
	isAlias := d.snap.Real(d.dir) != d.dir // its texts are found under their real names
	if isAlias || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == nil && !info.IsDir() {
		return nil, d.index.Forget(d.dir)
	}
	if err != nil {
		return nil, nil // if it does not answer: later
	}
	list, err := view.ReadDir(d.dir)
	if err != nil {
		return nil, nil
	}
	marks, dirs, err := d.index.Directory(d.dir)
	if err != nil {
		return nil, err
	}
	d.old = marks
	known := map[string]bool{}
	for _, name := range dirs {
		known[name] = true
	}
	enter := func(name string) {
		if !known[name] || d.below && strings.HasPrefix(name+"/", d.prefix) {
			below = append(below, visit{dir: name, below: d.below, prefix: d.prefix})
		}
		delete(known, name)
	}

	// Texts, and the menu as one.
	labels, err := d.menu()
	if err != nil {
		return nil, err
	}
	if d.dir == "." {
		for _, name := range view.Trees() { // of users, whom no directory lists
			enter(name)
		}
	}
	for _, e := range list {
		name := selector.Join(d.dir, e.Name())
		if d.snap.Real(name) != name {
			continue
		}
		if e.IsDir() {
			enter(name)
			continue
		}
		info, err := view.Stat(name)
		if err != nil {
			d.unread(err)
			continue
		}
		if d.ctx.Err() != nil {
			return below, nil
		}
		mark := markOf(labels[name], fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		err = d.put(name, mark, func() (string, error) {
			text, _, err := d.q.Read(name, search.MaxText)
			return text, err
		})
		if err != nil {
			return nil, err
		}
	}
	if d.busy { // no event tells when it can be read
		v := d.visit
		time.AfterFunc(again, func() { d.Searcher.visit(v) })
	}
	if view.Err() != nil || d.ctx.Err() != nil {
		return below, nil // a file system does not answer
	}

	// What is gone.
	for name := range d.old {
		if err := d.index.Delete(name); err != nil {
			return nil, err
		}
	}
	for name := range known {
		if err := d.index.Forget(name); err != nil {
			return nil, err
		}
	}
	return below, d.index.SetDirectory(d.dir, d.texts)
}

// unread notes that a text could not be read.
func (d *directory) unread(err error) {
	d.busy = d.busy || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// menu indexes the menu of the directory as a text, and returns the labels of its links.
func (d *directory) menu() (labels map[string]string, err error) {
	items := d.items(d.q.View, d.dir)
	labels = map[string]string{}
	for _, it := range items {
		if it.Host == "" && it.Type != menu.TypeInfo {
			labels[strings.Trim(it.Selector, "/")] = it.Label
		}
	}
	text := menuText(items)
	err = d.put(search.DirName(d.dir), markOf(text, d.q.Title(d.dir, true)), func() (string, error) { return text, nil })
	return labels, err
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
