package sitemap

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
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

// walk makes the list of a directory of the tree, with all below it, or of the root alone, from
// the records of the scan.
func walk(view *site.View, snap *site.Snapshot, top string, d *site.Dir) *list {
	l := &list{made: time.Now()}
	add := func(e entry, changed, modified int64) {
		e.at = time.Unix(0, modified)
		l.add(e)
		at := time.Unix(0, changed)
		if l.made.Sub(at) >= recently {
			return
		}
		l.recent = append(l.recent, change{e, at})
		if len(l.recent) > 2*maxRecent {
			slices.SortFunc(l.recent, newestFirst)
			l.recent = l.recent[:maxRecent]
		}
	}
	for below, sub := range d.All() {
		if top == "" && sub != d {
			break
		}
		dir := path.Join(top, below)
		if snap.Open(dir, true) {
			add(entry{dir: dir, typ: menu.TypeMenu}, sub.Changed, sub.Modified)
		} else {
			l.add(entry{dir: dir})
		}
		for f := range view.Files(snap, dir) {
			if snap.Open(selector.Join(dir, f.Name), false) {
				add(entry{dir: dir, name: f.Name, typ: f.Type}, f.Changed, f.Modified)
			}
		}
	}
	slices.SortFunc(l.recent, newestFirst)
	l.recent = slices.Clip(l.recent[:min(len(l.recent), maxRecent)])
	l.names = slices.Clip(l.names)
	l.took = time.Since(l.made)
	return l
}

func newestFirst(a, b change) int {
	return cmp.Or(b.changed.Compare(a.changed), strings.Compare(a.path(), b.path()))
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
