// Package sitesearch finds texts of a site: it keeps an index of them in step with
// the tree, and answers the selector /search.
//
//	Touch(dir), Reloaded ─► Run ─► update: look at each touched directory (follow.go)
//	                                │ new or changed texts: Put; gone or denied: Delete
//	                                ▼
//	/search?words ─► Search ─► results, each hit read again for its line (handler.go)
//
// Texts that robots may not fetch are not in the index unless All is set, so that
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
	"github.com/gophd/gophd/site"
)

// A Searcher keeps an index of a site, and is the answer.Source of its searches. Its
// fields must not be changed once Open was called.
type Searcher struct {
	Site *site.Site

	// Dir is where the index lies. If "", it is kept in memory, and made at each start.
	Dir string

	// Memory bounds the index, in bytes. If zero, 256 MiB.
	Memory int64

	// All reports whether texts that are denied to robots are found, too.
	All bool

	// The options are those of the site's host.
	answer.HostOptions

	// Log gets a line when the index was built, and when it is full. If nil,
	// nothing is logged.
	Log *slog.Logger

	index  *search.Index // nil before Open
	ready  atomic.Bool   // all of the tree was compared with the index once
	looked atomic.Int64  // directories, for the first time
	left   atomic.Int64  // texts that did not fit, since the last look at everything
	step   atomic.Value  // string: the robots.txt that the index was filled by

	mu      sync.Mutex
	touched map[string]struct{}
	changed chan struct{} // holds one if something was touched
	once    sync.Once
}

// DefaultMemory is used if Memory is zero.
const DefaultMemory = 256 << 20

// batch is how long changes are collected before the index follows them.
const batch = 200 * time.Millisecond

// Open opens the index. With a Dir it must be called before the process gives up the
// right to make files there.
func (s *Searcher) Open(ctx context.Context) (err error) {
	memory := s.Memory
	if memory <= 0 {
		memory = DefaultMemory
	}
	s.index, err = search.Open(ctx, s.Dir, memory)
	return err
}

func (s *Searcher) signal() chan struct{} {
	s.once.Do(func() { s.changed = make(chan struct{}, 1) })
	return s.changed
}

// Touch notes that something may have changed in a directory, "" for everything.
// It does not block.
func (s *Searcher) Touch(dir string) {
	s.mu.Lock()
	if s.touched == nil {
		s.touched = map[string]struct{}{}
	}
	s.touched[dir] = struct{}{}
	s.mu.Unlock()
	s.Reloaded()
}

// Reloaded notes that the policy may have changed. It does not block.
func (s *Searcher) Reloaded() {
	select {
	case s.signal() <- struct{}{}:
	default:
	}
}

// Progress returns how many directories have been looked at, and whether the index is
// complete.
func (s *Searcher) Progress() (done int64, complete bool) { return s.looked.Load(), s.ready.Load() }

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
	start := time.Now()
	s.Touch("")
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.signal():
		}
		s.update(ctx, s.take())
		if ctx.Err() == nil && !s.ready.Swap(true) {
			have := s.index.Stats()
			s.log().Info(diag.EventIndexed, "texts", have.Texts, "bytes", have.Bytes, "took", time.Since(start))
		}
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
func (s *Searcher) update(ctx context.Context, touched map[string]struct{}) {
	snap := s.Site.Now()
	_, all := touched[""]
	robots := string(snap.Robots)
	before, _ := s.step.Load().(string)
	changed := robots != before && !s.All
	if changed {
		s.note(s.index.Keep(ctx, func(name string) bool {
			plain, dir := plainName(name)
			return s.allowed(snap, plain, dir)
		}))
	}
	if all = all || changed && len(touched) == 0; all {
		touched = map[string]struct{}{".": {}}
	}
	full := s.left.Load()
	if all {
		s.left.Store(0)
	}
	u := update{Searcher: s, snap: snap, below: all || changed, seen: map[string]bool{}}
	for dir := range touched {
		u.look(ctx, dir)
	}
	s.note(s.index.Flush(ctx))
	s.step.Store(robots)
	if left := s.left.Load(); left > 0 && full == 0 {
		s.log().Warn("the search index is full: texts are left out", "texts", left, "hint", "raise the setting search-memory")
	}
}

func (s *Searcher) note(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log().Error("the search index cannot be written", "error", err)
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
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			u.note(u.index.Forget(ctx, dir))
		}
		return nil // else it does not answer: later
	}
	list, err := v.ReadDir(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	texts, dirs := u.index.Contents(ctx, dir)
	old, known := set(texts), set(dirs)
	u.note(u.index.AddDir(ctx, dir))
	labels := u.directory(ctx, v, dir)
	for _, e := range list {
		name := selector.Join(dir, e.Name())
		if e.IsDir() {
			if u.below || !known[name] {
				todo = append(todo, name)
			}
			delete(known, name)
			continue
		}
		if info, err := v.Stat(name); err == nil && u.allowed(u.snap, name, false) && ctx.Err() == nil {
			delete(old, name)
			u.file(ctx, v, name, labels[name], info)
		}
	}
	if v.Err() != nil || ctx.Err() != nil {
		return todo // a file system does not answer
	}
	for name := range old {
		u.note(u.index.Delete(ctx, name))
	}
	for name := range known {
		u.note(u.index.Forget(ctx, name))
	}
	u.looked.Add(1)
	return todo
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// directory indexes the menu of a directory as a text, and returns the labels of its
// links.
func (u *update) directory(ctx context.Context, v *site.View, dir string) map[string]string {
	m := u.menu(v, dir)
	labels := map[string]string{}
	for _, it := range m.Items {
		if it.Host == "" && it.Type != menu.TypeInfo {
			labels[strings.TrimSuffix(strings.TrimPrefix(it.Selector, "/"), "/")] = it.Label
		}
	}
	name := directoryName(dir)
	if !u.allowed(u.snap, dir, true) {
		u.note(u.index.Delete(ctx, name))
		return labels
	}
	text, title := menuText(m), u.title(v, dir)
	u.put(ctx, search.Text{Name: name, Title: title, Mark: markOf(text, title)}, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	return labels
}

func (u *update) file(ctx context.Context, v *site.View, name, label string, info fs.FileInfo) {
	title := path.Base(name)
	if label != "" && label != title {
		title = label + " " + title
	}
	mark := markOf(title, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
	u.put(ctx, search.Text{Name: name, Title: title, Mark: mark}, func() (io.ReadCloser, error) { return openText(v, name) })
}

// put indexes a text unless the index has its current version.
func (u *update) put(ctx context.Context, t search.Text, open func() (io.ReadCloser, error)) {
	if old, ok := u.index.Mark(ctx, t.Name); ok && old == t.Mark {
		return
	}
	f, err := open()
	if err == nil && f != nil {
		t.Content = f
		defer func() { _ = f.Close() }()
	}
	if err == nil {
		err = u.index.Put(ctx, t)
	}
	switch {
	case errors.Is(err, search.ErrFull):
		u.left.Add(1)
	case err != nil: // it cannot be read now
		u.note(u.index.Delete(ctx, t.Name))
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

// directoryName is the name of a directory's own text in the index.
func directoryName(dir string) string {
	if dir == "." {
		return "/"
	}
	return dir + "/"
}

func (s *Searcher) allowed(snap *site.Snapshot, name string, dir bool) bool {
	return s.All || snap != nil && !snap.Compiled.DeniedToAll(name, dir)
}

// title returns a directory's title: its gophertag and its name.
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

func menuText(m menu.Menu) string {
	var b strings.Builder
	for _, it := range m.Items {
		b.WriteString(it.Label)
		b.WriteByte('\n')
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
	if !known {
		var head [512]byte
		if n, _ := f.ReadAt(head[:], 0); menu.Sniff(head[:n]) != menu.TypeText {
			return nil, f.Close()
		}
	}
	return f, nil
}
