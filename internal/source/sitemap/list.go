package sitemap

import (
	"cmp"
	"hash/maphash"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Bounds of the sitemap of recent changes.
const (
	recently  = 24 * time.Hour
	maxRecent = 1000
)

// busyShare bounds the cost of a policy that keeps changing: a list that took t to make is kept
// for at least busyShare × t.
const busyShare = 20

// maxAge is the age at which a list is made again.
const maxAge = 10 * time.Minute

// A list is what robots may fetch in a top-level directory, or of the root's own files. It is
// immutable.
type list struct {
	policy  uint64 // a hash of the rules that apply to it
	made    time.Time
	took    time.Duration
	entries []entry
	size    int // sum of the sizes of the entries
	recent  []entry
}

// An entry is a file, or a directory if File.Name is empty.
type entry struct {
	dir string
	*site.File
}

func (e entry) isDir() bool { return e.Name == "" }

func (e entry) path() string {
	if e.isDir() {
		return e.dir
	}
	return selector.Join(e.dir, e.Name)
}

// size returns the largest possible length of the escaped path.
func (e entry) size() int { return 3 * (len(e.dir) + len(e.Name) + 1) }

// walk makes the list of a top-level directory d, or of the root without subdirectories if top is
// "", from the records of the scan.
func walk(view *site.View, snap *site.Snapshot, top string, d *site.Dir) *list {
	l := &list{made: time.Now()}
	add := func(dir string, f *site.File) {
		e := entry{dir, f}
		if snap.Open(e.path(), e.isDir()) {
			l.entries = append(l.entries, e)
			l.size += e.size()
		}
	}
	for below, sub := range d.All() {
		if top == "" && sub != d {
			break
		}
		dir := path.Join(top, below)
		add(dir, &site.File{
			Type:     menu.TypeMenu,
			Changed:  sub.Changed,
			Modified: sub.Modified,
		})
		for f := range view.Files(snap, dir, nil) {
			add(dir, f)
		}
	}
	l.entries = slices.Clip(l.entries)
	l.recent = newest(l.entries)
	l.took = time.Since(l.made)
	return l
}

// newest returns the entries that were changed, renamed or moved recently, the newest first.
func newest(all []entry) []entry {
	since := time.Now().Add(-recently).UnixNano()
	var list []entry
	for _, e := range all {
		if e.Changed > since {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.Changed, a.Changed), strings.Compare(a.path(), b.path()))
	})
	return slices.Clone(list[:min(len(list), maxRecent)])
}

// A policy has a hash for each top-level directory, of the rules that may match a name in it. So
// a change of rules invalidates only the lists that it concerns.
type policy struct {
	snap  *site.Snapshot
	below map[string]uint64 // hashes of rules whose prefix contains a top-level directory, by directory
	names map[string]uint64 // hashes of the other rules, by prefix
}

var seed = maphash.MakeSeed()

// policyOf returns the policy of a Snapshot.
func (s *Sitemaps) policyOf(snap *site.Snapshot) *policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy != nil && s.policy.snap == snap {
		return s.policy
	}
	p := &policy{
		snap:  snap,
		below: map[string]uint64{},
		names: map[string]uint64{},
	}
	for rule := range answer.Rules(snap) {
		number := maphash.Comparable(seed, rule)
		if top, _, ok := strings.Cut(rule.Prefix, "/"); ok {
			p.below[top] += number
		} else {
			p.names[rule.Prefix] += number
		}
	}
	s.policy = p
	return p
}

// of returns the hash of a top-level directory, or of the root's own files ("").
func (p *policy) of(top string) uint64 {
	number := p.below[top]
	for prefix, n := range p.names {
		if top == "" || strings.HasPrefix(top, prefix) {
			number += n
		}
	}
	return number
}
