package site

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
)

// trusted is how long a kept reply is used before the files that it was made from are
// looked at again.
const trusted = time.Second

// maxCachedLooks bounds how many files Fresh looks at.
const maxCachedLooks = 16

// A Stamp reports whether a reply made through a View is still up to date: no event has
// touched its directories, and each file and directory that the View has seen, missing
// ones too, is still the same version. It checks files once a second at most, without
// reading them. Its methods may be called concurrently.
type Stamp struct {
	site   *Site
	events atomic.Uint64 // the number of the last touch up to which it is fresh
	looked atomic.Int64  // when the files were looked at: nanoseconds since the site was opened
	began  uint64
	slots  []uint16
	seen   []sight
	listed listedFiles
	brief  bool // what was left out may answer again: it holds while it is trusted
}

// A sight is a name as a View has seen it.
type sight struct {
	name, real string
	rev        disk.Revision // zero if it could not be looked at
	err        error         // nil, fs.ErrNotExist or fs.ErrPermission
	young      bool          // a later change may have left the stamp as it is
}

// listedFiles are the files whose dates and sizes a listing shows. They do not have to
// be right within a second: each look checks some of them.
type listedFiles struct {
	all  []sight
	next atomic.Uint32
}

// listedLooks is how many of them one look checks.
const listedLooks = 64

// some returns the next files to check.
func (l *listedFiles) some() []sight {
	if len(l.all) == 0 {
		return nil
	}
	n := min(listedLooks, len(l.all))
	at := int(l.next.Add(uint32(n))) % len(l.all)
	return l.all[at:min(at+n, len(l.all))]
}

// Outdated reports whether an event has made the Stamp stale for ever. It makes no
// system call.
func (s *Stamp) Outdated() bool {
	c := s.site.changes
	now := c.seq.Load()
	if s.events.Load() == now {
		return false
	}
	if c.all.Load() > s.began || slices.ContainsFunc(s.slots, func(slot uint16) bool { return c.touched[slot].Load() > s.began }) {
		return true
	}
	s.events.Store(now)
	return false
}

// Size is about how much memory the Stamp takes, in bytes.
func (s *Stamp) Size() int { return 100 + 200*(len(s.seen)+len(s.listed.all)) + 2*len(s.slots) }

// Fresh reports whether a reply may be used. It never waits: once a second it looks at
// a few files by system calls that cannot block; if those do not suffice, it reports
// false, and Look may report true.
func (s *Stamp) Fresh() bool {
	if s.Outdated() {
		return false
	}
	last, now := s.looked.Load(), s.site.elapsed()
	if s.trusts(last, now) {
		return true
	}
	if s.brief || len(s.seen) > maxCachedLooks || !s.looked.CompareAndSwap(last, now) { // others need not look meanwhile
		return s.trusts(s.looked.Load(), now)
	}
	root := s.site.served.Load().root
	holds := func(i sight) bool {
		st, err, ok := root.RevisionCached(i.name)
		return ok && i.is(st, i.name, err)
	}
	if !all(s.seen, holds) || !all(s.listed.some(), holds) {
		s.looked.Store(last)
		return false
	}
	return true
}

func (s *Stamp) trusts(looked, now int64) bool {
	return now-looked < int64(trusted) || len(s.seen)+len(s.listed.all) == 0 && !s.brief
}

// Look is Fresh, and may wait for a file system, but not long: what does not answer does
// not hold. After it has reported true, Fresh does for a second.
func (s *Stamp) Look(ctx context.Context) bool {
	if s.Fresh() {
		return true
	}
	if s.brief {
		return false
	}
	v, began := s.site.View(ctx), s.site.elapsed()
	held, err := stall.Briefly(s.site.guard, func(a *stall.Attempt) (bool, error) {
		v.enter = a.Enter
		holds := func(i sight) bool {
			st, real, err := v.root.Revision(v.call, i.name)
			return i.is(st, real, err)
		}
		return !s.Outdated() && all(s.seen, holds) && all(s.listed.some(), holds), nil
	})
	if err != nil || !held {
		return false
	}
	s.looked.Store(began)
	return !s.Outdated()
}

func all(list []sight, holds func(sight) bool) bool {
	return !slices.ContainsFunc(list, func(i sight) bool { return !holds(i) })
}

// is reports whether a name looks as it was seen.
func (i sight) is(st disk.Revision, real string, err error) bool {
	known := err == nil || i.err != nil && errors.Is(err, i.err)
	return known && (err != nil || st == i.rev) && real == i.real && !i.young
}

// elapsed returns the nanoseconds since the site was opened, by the monotonic clock.
func (s *Site) elapsed() int64 { return int64(s.clock().Sub(s.opened)) }

// missed notes a name that could not be opened.
func (v *View) missed(name string, why error) {
	base := path.Base(name)
	switch {
	case limit.Reached(why), errors.Is(why, disk.ErrBusy) && (menu.IsMap(base) || menu.IsMenuFile(base)):
		v.failed = why // a listing in place of a map would be another menu
		return
	case errors.Is(why, stall.Err):
		v.without = true
		return
	case !errors.Is(why, fs.ErrNotExist) && !errors.Is(why, fs.ErrPermission):
		v.unkept = true
		return
	}
	st, real, err := v.root.Revision(v.call, name)
	i := sight{name: name, real: real, rev: st}
	for _, class := range []error{fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, class) {
			i.err = class
		}
	}
	v.unkept = v.unkept || err != nil && i.err == nil
	v.add(i)
}

// add notes a sight. The date and size of a file in a listing may be older than others.
func (v *View) add(i sight) {
	if i.young = i.rev.Young(v.site.clock()); i.err == nil && i.name == i.real && v.stating {
		v.listed = append(v.listed, i)
		return
	}
	v.seen = append(v.seen, i)
}

// Stamp returns the Stamp of the View, nil if replies made through it must not be kept.
func (v *View) Stamp() *Stamp {
	if v.unkept || v.failed != nil {
		return nil
	}
	s := &Stamp{site: v.site, began: v.began, slots: make([]uint16, 0, len(v.slots)), seen: slices.Clip(v.seen), brief: v.without}
	for slot := range v.slots {
		s.slots = append(s.slots, slot)
	}
	s.listed.all = v.listed
	s.looked.Store(v.start)
	return s
}

// MissingStamp is the Stamp of a negative lookup: the name is missing, or must not be
// read.
func (v *View) MissingStamp(string) *Stamp {
	v.DependOnPolicy()
	return v.Stamp()
}

// DependOnPolicy makes the View's Stamp depend on the Snapshot, too.
func (v *View) DependOnPolicy() { v.note(v.site.changes.slot(policyDir)) }

// DependOn makes the View's Stamp depend on everything that s depends on.
func (v *View) DependOn(s *Stamp) {
	if s == nil {
		v.unkept = true
		return
	}
	v.began, v.start = min(v.began, s.began), min(v.start, s.looked.Load())
	v.without = v.without || s.brief
	for _, slot := range s.slots {
		v.note(slot)
	}
	v.seen, v.listed = append(v.seen, s.seen...), append(v.listed, s.listed.all...)
}
