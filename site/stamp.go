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

// A Stamp is trusted until the next file system event, at most for one second. Then the files
// are checked again. A Stamp of more than maxLooks files, or of a View that has left parts
// out, is not checked: it expires after a second.
const (
	trusted        = time.Second
	maxCachedLooks = 16  // files that Fresh checks
	maxLooks       = 500 // files that Look checks
)

// scope is a part of the Site's state that a reply depends on, besides its files. Each scope
// includes those before it.
type scope int

const (
	ofRules scope = iota // the root directory, robots.txt, the links that are followed, the files that are programs
	ofTree               // the directories of the tree
	ofUsers              // the users and the times of their last changes
	scopes
)

// A Stamp tells whether a reply made through a View is still valid: nothing in its scope has
// changed, and each name that the View has read, or not found, is still in the same state.
// Its methods may be called concurrently.
type Stamp struct {
	site   *Site
	scope  scope
	number uint64 // version of the scope
	seen   []sight
	gemini bool          // made through a View of capsules
	brief  bool          // parts were left out: valid while trusted, then made again
	events atomic.Uint64 // Site.events at the last check
	looked atomic.Int64  // time of the last check: Site.elapsed
}

// A sight is the state of a name when a View has read it.
type sight struct {
	name, real string
	rev        disk.Revision // zero if err is set
	err        error         // nil, fs.ErrNotExist or fs.ErrPermission
	young      bool          // changed so recently that another change may not alter rev
}

// Outdated reports whether the scope has changed: the Stamp will never be valid again. It
// makes no system call.
func (s *Stamp) Outdated() bool {
	return s.site.served.Load().numbers[s.scope] != s.number
}

// Size returns the approximate size of the Stamp in bytes.
func (s *Stamp) Size() int { return 100 + 200*len(s.seen) }

// Fresh reports whether the Stamp is certainly valid. It never blocks: it checks a few files
// with system calls that cannot wait for a disk. If it reports false, Look may still report
// true.
func (s *Stamp) Fresh() bool {
	if s.Outdated() {
		return false
	}
	if s.trusts() {
		return true
	}
	return len(s.seen) <= maxCachedLooks && s.look(func(root *disk.Root, i sight) bool {
		rev, err, ok := root.RevisionCached(i.name)
		return ok && i.is(rev, i.name, err)
	})
}

// trusts reports whether the Stamp is valid without a check of the files.
func (s *Stamp) trusts() bool {
	if len(s.seen) == 0 && !s.brief {
		return true
	}
	if s.site.elapsed()-s.looked.Load() >= int64(trusted) {
		return false
	}
	return s.brief || s.events.Load() == s.site.events.Load() || len(s.seen) > maxLooks
}

// look checks all files with holds. If nothing has changed, the Stamp is trusted again.
func (s *Stamp) look(holds func(*disk.Root, sight) bool) bool {
	events, now, root := s.site.events.Load(), s.site.elapsed(), s.site.served.Load().root
	if s.gemini {
		root = s.site.served.Load().capsules
	}
	if s.brief || slices.ContainsFunc(s.seen, func(i sight) bool { return !holds(root, i) }) {
		return false
	}
	s.events.Store(events)
	s.looked.Store(now)
	return !s.Outdated()
}

// Look reports whether the Stamp is valid. It may wait for a file system, but not long: if the
// file system does not respond, it reports false. After it has reported true, Fresh reports
// true for up to a second.
func (s *Stamp) Look(ctx context.Context) bool {
	if s.Fresh() {
		return true
	}
	if s.brief || s.Outdated() || len(s.seen) > maxLooks {
		return false
	}
	v := s.site.View(ctx)
	if s.gemini {
		v.OfCapsules()
	}
	held, err := stall.Try(s.site.guard, stall.Brief, func(a *stall.Attempt) (bool, error) {
		v.enter = a.Enter
		return s.look(func(root *disk.Root, i sight) bool {
			rev, real, err := root.Revision(v.call, i.name)
			return i.is(rev, real, err)
		}), nil
	})
	return err == nil && held
}

// is reports whether a name is in the same state as before.
func (i sight) is(rev disk.Revision, real string, err error) bool {
	known := err == nil || i.err != nil && errors.Is(err, i.err)
	return known && (err != nil || rev == i.rev) && real == i.real && !i.young
}

// elapsed returns the nanoseconds since Open, by the monotonic clock.
func (s *Site) elapsed() int64 { return int64(time.Since(s.opened)) }

// missed records a name that could not be opened.
func (v *View) missed(name string, why error) {
	base := path.Base(name)
	switch {
	case limit.Reached(why), errors.Is(why, disk.ErrBusy) &&
		(menu.IsMap(base) || menu.IsMenuFile(base) || base == "index.gmi"):
		v.failed = why // without its map, the menu would be a different one
		return
	case errors.Is(why, stall.Err):
		v.without = true
		return
	case !errors.Is(why, fs.ErrNotExist) && !errors.Is(why, fs.ErrPermission):
		v.unkept = true
		return
	}
	rev, real, err := v.root.Revision(v.call, name)
	i := sight{name: name, real: real, rev: rev}
	for _, class := range []error{fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, class) {
			i.err = class
		}
	}
	v.unkept = v.unkept || err != nil && i.err == nil
	v.add(i)
}

// add records a sight.
func (v *View) add(i sight) {
	if v.root.Main.Fixed {
		return
	}
	i.young = i.rev.Young(time.Now())
	v.seen = append(v.seen, i)
}

// Stamp returns the Stamp of what the View has read, or nil if replies made through it must
// not be cached.
func (v *View) Stamp() *Stamp {
	if v.unkept || v.failed != nil {
		return nil
	}
	s := &Stamp{
		site:   v.site,
		scope:  v.scope,
		number: v.now.numbers[v.scope],
		seen:   slices.Clip(v.seen),
		gemini: v.isCapsules(),
		brief:  v.without,
	}
	s.events.Store(v.began)
	s.looked.Store(v.start)
	return s
}

// DependOnTree makes the View's Stamp depend on the Snapshot, too.
func (v *View) DependOnTree() { v.scope = max(v.scope, ofTree) }

// DependOn makes the View's Stamp depend on everything that s depends on.
func (v *View) DependOn(s *Stamp) {
	if s == nil || s.number != v.now.numbers[s.scope] {
		v.unkept = true
		return
	}
	v.scope = max(v.scope, s.scope)
	v.began, v.start = min(v.began, s.events.Load()), min(v.start, s.looked.Load())
	v.without = v.without || s.brief
	v.seen = append(v.seen, s.seen...)
}
