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

// A kept reply is used until an event, or for a second, before the files that it was made
// from are looked at again. One of more than maxLooks files, or with a part left out, is not
// looked at: it is made again after a second.
const (
	trusted        = time.Second
	maxCachedLooks = 16  // files that Fresh looks at
	maxLooks       = 500 // files that Look looks at
)

// scope is what of the Site a reply depends on, besides its files. Each includes those before.
type scope int

const (
	ofRules scope = iota // the root directory, robots.txt, which links are followed, which files are programs
	ofTree               // which directories there are
	ofUsers              // who is a user, and who changed something last
	scopes
)

// A Stamp reports whether a reply made through a View is still up to date: nothing in its
// scope has changed, and each file and directory that the View has seen, missing ones too, is
// still the same version. Its methods may be called concurrently.
type Stamp struct {
	site   *Site
	scope  scope
	number uint64 // of the scope
	seen   []sight
	gemini bool          // of a View of capsules
	brief  bool          // it holds while it is trusted: what was left out may answer again
	events atomic.Uint64 // how many there had been when the files were looked at
	looked atomic.Int64  // when that was: nanoseconds since the site was opened
}

// A sight is a name as a View has seen it.
type sight struct {
	name, real string
	rev        disk.Revision // zero if it could not be looked at
	err        error         // nil, fs.ErrNotExist or fs.ErrPermission
	young      bool          // a later change may have left the stamp as it is
}

// Outdated reports whether the Stamp is stale for ever. It makes no system call.
func (s *Stamp) Outdated() bool { return s.site.served.Load().numbers[s.scope] != s.number }

// Size is about how much memory the Stamp takes, in bytes.
func (s *Stamp) Size() int { return 100 + 200*len(s.seen) }

// Fresh reports whether a reply may be used. It never waits: it looks at a few files by
// system calls that cannot block; if those do not suffice, it reports false, and Look may
// report true.
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

// trusts reports whether the files need not be looked at.
func (s *Stamp) trusts() bool {
	if len(s.seen) == 0 && !s.brief {
		return true
	}
	if s.site.elapsed()-s.looked.Load() >= int64(trusted) {
		return false
	}
	return s.brief || s.events.Load() == s.site.events.Load() || len(s.seen) > maxLooks
}

// look looks at all files by holds, and trusts them if nothing has changed.
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

// Look is Fresh, and may wait for a file system, but not long: what does not answer does
// not hold. After it has reported true, Fresh does for a second.
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

// is reports whether a name looks as it was seen.
func (i sight) is(rev disk.Revision, real string, err error) bool {
	known := err == nil || i.err != nil && errors.Is(err, i.err)
	return known && (err != nil || rev == i.rev) && real == i.real && !i.young
}

// elapsed returns the nanoseconds since the site was opened, by the monotonic clock.
func (s *Site) elapsed() int64 { return int64(time.Since(s.opened)) }

// missed notes a name that could not be opened.
func (v *View) missed(name string, why error) {
	base := path.Base(name)
	switch {
	case limit.Reached(why), errors.Is(why, disk.ErrBusy) && (menu.IsMap(base) || menu.IsMenuFile(base) || base == "index.gmi"):
		v.failed = why // a listing in place of a map would be another menu
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

// add notes a sight.
func (v *View) add(i sight) {
	if v.root.Main.Fixed {
		return
	}
	i.young = i.rev.Young(time.Now())
	v.seen = append(v.seen, i)
}

// Stamp returns the Stamp of the View, nil if replies made through it must not be kept.
func (v *View) Stamp() *Stamp {
	if v.unkept || v.failed != nil {
		return nil
	}
	s := &Stamp{site: v.site, scope: v.scope, number: v.numbers[v.scope], seen: slices.Clip(v.seen), gemini: v.isCapsules(), brief: v.without}
	s.events.Store(v.began)
	s.looked.Store(v.start)
	return s
}

// DependOnTree makes the View's Stamp depend on the Snapshot, too.
func (v *View) DependOnTree() { v.scope = max(v.scope, ofTree) }

// DependOn makes the View's Stamp depend on everything that s depends on.
func (v *View) DependOn(s *Stamp) {
	if s == nil || s.number != v.numbers[s.scope] {
		v.unkept = true
		return
	}
	v.scope = max(v.scope, s.scope)
	v.began, v.start = min(v.began, s.events.Load()), min(v.start, s.looked.Load())
	v.without = v.without || s.brief
	v.seen = append(v.seen, s.seen...)
}
