package sitemap

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Bounds of the changes.
const (
	recently  = 24 * time.Hour
	maxRecent = 1000
)

// busyShare: where a policy changes again and again, no more than one of so many seconds
// goes into walks.
const busyShare = 20

// A list is what robots may fetch of a top-level directory, or of the root's own files. It
// does not change.
type list struct {
	policy uint64 // the rules by which it was made
	made   time.Time
	took   time.Duration
	brief  bool // something did not answer in a moment: it is made again after a second
	urls   int
	paths  int // bytes of their paths, as they are escaped at most
	recent []change

	// names holds an entry for each resource in the order of the walk: its item type, its
	// time in seconds as a varint, its name and a zero byte. The entry of a directory has
	// its path, with a slash at the end; what follows lies in it. Type 0 is a directory that
	// robots may not fetch.
	names []byte
}

// An entry is a resource.
type entry struct {
	dir, name string // of a directory, name is ""
	typ       byte
	at        time.Time
}

func (e entry) path() string {
	if e.name == "" {
		return e.dir
	}
	return selector.Join(e.dir, e.name)
}

// A change is a resource that was changed, renamed or moved here.
type change struct {
	entry
	changed time.Time
}

func (l *list) add(e entry) {
	l.names = append(l.names, e.typ)
	l.names = binary.AppendVarint(l.names, e.at.Unix())
	if e.name == "" {
		l.names = append(l.names, e.dir...)
		l.names = append(l.names, '/')
	}
	l.names = append(l.names, e.name...)
	l.names = append(l.names, 0)
	if e.typ != 0 {
		l.urls++
		l.paths += 3 * len(e.path())
	}
}

// from yields the entries that robots may fetch, from a place on, each with the place after
// it.
func (l *list) from(at place) iter.Seq2[entry, place] {
	return func(yield func(entry, place) bool) {
		for at.offset < len(l.names) {
			rest := l.names[at.offset:]
			seconds, n := binary.Varint(rest[1:])
			end := bytes.IndexByte(rest[1+n:], 0) + 1 + n
			e := entry{typ: rest[0], at: time.Unix(seconds, 0), name: string(rest[1+n : end])}
			if dir, ok := strings.CutSuffix(e.name, "/"); ok {
				at.dir, e.name = dir, ""
			}
			e.dir = at.dir
			at.offset += end + 1
			if e.typ != 0 && !yield(e, at) {
				return
			}
		}
	}
}

// A place is a position in a list.
type place struct {
	offset int
	dir    string
}

// A walker makes the list of a top-level directory.
type walker struct {
	*answer.Asked
	snap *site.Snapshot
	*list
}

// walk makes the list of a directory of the tree, with all below it, or of the root alone.
func walk(q *answer.Asked, snap *site.Snapshot, top string, d *site.Dir) (*list, error) {
	w := walker{q, snap, &list{made: time.Now()}}
	for below, sub := range d.All() {
		if top == "" && sub != d {
			break
		}
		if err := w.directory(path.Join(top, below)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(w.recent, newestFirst)
	w.recent = slices.Clip(w.recent[:min(len(w.recent), maxRecent)])
	w.names = slices.Clip(w.names)
	w.took = time.Since(w.made)
	return w.list, nil
}

// directory adds a directory and its files.
func (w *walker) directory(dir string) error {
	defer w.View.Forget()
	if !w.snap.Open(dir, true) || !w.resource(entry{dir: dir}) {
		w.add(entry{dir: dir})
	}
	entries, _ := w.View.ReadDir(dir)
	if err := w.View.Err(); err != nil {
		if w.View.Without() && !w.snap.Open(dir, true) { // what does not answer is denied
			return nil
		}
		return err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := selector.Join(dir, name)
		if w.snap.Open(at, false) && w.snap.Real(at) == at {
			w.resource(entry{dir: dir, name: name})
		}
	}
	return w.View.Err()
}

// resource adds a resource, and reports whether it can be fetched.
func (w *walker) resource(e entry) bool {
	name, dir := e.path(), e.name == ""
	info, err := w.View.Stat(name)
	if err != nil && w.View.Partial() { // it may only have been late
		info, err = w.patiently(name)
	}
	if err != nil || info.IsDir() != dir {
		return false
	}
	typ, ok := w.typeOf(name, dir)
	if !ok {
		return false
	}
	e.typ, e.at = typ, info.ModTime()
	w.add(e)
	if at, err := w.View.Changed(name); err == nil && w.made.Sub(at) < recently {
		w.recent = append(w.recent, change{e, at})
		if len(w.recent) > 2*maxRecent {
			slices.SortFunc(w.recent, newestFirst)
			w.recent = w.recent[:maxRecent]
		}
	}
	return true
}

// patiently looks at a name without leaving it out where the machine is busy. What hangs is
// left out for a second.
func (w *walker) patiently(name string) (fs.FileInfo, error) {
	f, err := w.View.Lookup(name)
	if err != nil {
		w.brief = w.brief || w.View.Without()
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Info, nil
}

func newestFirst(a, b change) int {
	return cmp.Or(b.changed.Compare(a.changed), strings.Compare(a.path(), b.path()))
}

// typeOf returns the item type of a resource, by its first bytes if its name does not tell,
// and whether it can be fetched: a menu that is a program needs a Runner.
func (w *walker) typeOf(name string, dir bool) (typ byte, ok bool) {
	typ, known := menu.TypeOf(name)
	runs := w.Host.Runner != nil && w.Host.Runner.Runs(name)
	if dir || runs {
		return menu.TypeMenu, true
	}
	isMenu := menu.IsMenuFile(name)
	if known && !isMenu {
		return typ, true
	}
	f, err := w.View.Lookup(name)
	if err != nil {
		return typ, false
	}
	defer func() { _ = f.Close() }()
	if !isMenu {
		return answer.FileType(f), true
	}
	var head [menu.ProgramHead]byte
	n, _ := f.ReadAt(head[:], 0)
	return menu.TypeMenu, !menu.IsProgram(head[:n])
}

// A policy tells which top-level directories have other rules than before: each has a
// number, made of the rules that may match a name in it.
type policy struct {
	snap  *site.Snapshot
	below map[string]uint64 // of those that match in one directory
	names map[string]uint64 // of those that match names with a beginning
}

var seed = maphash.MakeSeed()

func policyOf(snap *site.Snapshot) *policy {
	p := &policy{snap: snap, below: map[string]uint64{}, names: map[string]uint64{}}
	for rule := range answer.Rules(snap) {
		number := maphash.String(seed, rule.Line)
		if top, _, ok := strings.Cut(rule.Prefix, "/"); ok {
			p.below[top] += number
		} else {
			p.names[rule.Prefix] += number
		}
	}
	return p
}

// of returns the number of a top-level directory, or of the root's own files ("").
func (p *policy) of(top string) uint64 {
	number := p.below[top]
	for prefix, n := range p.names {
		if top == "" || strings.HasPrefix(top, prefix) {
			number += n
		}
	}
	return number
}
