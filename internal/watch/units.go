package watch

import (
	"sync"
	"time"
)

// A unit is a directory that is compared, with all below it, though the rest is
// watched. That costs its owner some seconds until a change shows, and others
// nothing: no more than a twentieth of the time goes into it.
type unit struct {
	name      string
	why, hint string
	every     time.Duration // between two comparisons; if zero, compareEvery
	remote    bool          // it is watched, too, since changes of this machine tell events, and stays a unit
	vouched   bool          // what is told of it is as good as complete: replies may be kept
	retry     time.Duration // how long it stays a unit at least

	since time.Time
	due   time.Time
	look  treeShape // what it looked like; of use to the comparing goroutine only
	known bool      // look was made
	quiet int       // comparisons in a row that found nothing
}

// calm is how many comparisons of a unit must find nothing before it is watched
// again.
const calm = 3

// aLongWhile is how long a unit stays one if it would only become one again.
const aLongWhile = 5 * time.Minute

// muchToWatch is why a directory is compared whose owner keeps gophd busy.
const muchToWatch = "it changes too much to be watched"

// What a top-level directory may do: an event costs 1, and 1 more for each name
// that has to be given up or watched for it.
const (
	shareBurst = 30_000 // at once
	shareRate  = 300    // and on average, in a second
)

// share is what a top-level directory has used of it.
type share struct {
	left float64
	at   time.Time
}

// units are all units, and the shares that decide what becomes one.
type units struct {
	mu     sync.RWMutex
	all    map[string]*unit
	told   map[string]string // why each was one the last time: that is told once
	shares map[string]*share
	burst  float64 // shareBurst and shareRate, but in tests
	rate   float64
	now    func() time.Time
	added  func(*unit) // is told of each new one
}

func newUnits(added func(*unit)) *units {
	return &units{all: make(map[string]*unit), told: make(map[string]string), shares: make(map[string]*share), burst: shareBurst, rate: shareRate,
		now: time.Now, added: added}
}

// add makes a directory a unit, and reports whether it was none.
func (u *units) add(next *unit) bool {
	u.mu.Lock()
	_, had := u.all[next.name]
	if !had {
		next.since, next.due = u.now(), u.now()
		u.all[next.name] = next
	}
	tell := u.told[next.name] != next.why
	u.told[next.name] = next.why
	u.mu.Unlock()
	if !had && tell && u.added != nil {
		u.added(next)
	}
	return !had
}

// calmed reports whether a unit may be watched again.
func (u *units) calmed(unit *unit) bool {
	return !unit.remote && unit.quiet >= calm && u.now().Sub(unit.since) >= unit.retry
}

func (u *units) remove(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.all, name)
}

// doubtful reports whether a name is in a unit of which changes may show late.
func (u *units) doubtful(name string) bool {
	return u.in(name, func(u *unit) bool { return !u.vouched })
}

// covers reports whether a name is in a unit that is compared only.
func (u *units) covers(name string) bool {
	return u.in(name, func(u *unit) bool { return !u.remote })
}

func (u *units) in(name string, kind func(*unit) bool) bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if len(u.all) == 0 {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' {
			if unit := u.all[name[:i]]; unit != nil && kind(unit) {
				return true
			}
		}
	}
	for _, whole := range []string{name, "."} {
		if unit := u.all[whole]; unit != nil && kind(unit) {
			return true
		}
	}
	return false
}

// dueNow returns the units that are to be compared.
func (u *units) dueNow() (due []*unit) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	for _, unit := range u.all {
		if !u.now().Before(unit.due) {
			due = append(due, unit)
		}
	}
	return due
}

// looked notes what a unit looks like, and when it is to be compared again: every so
// often, but no more than a twentieth of the time.
func (u *units) looked(unit *unit, now treeShape, changed bool, every time.Duration) {
	if unit.quiet++; changed {
		unit.quiet = 0
	}
	unit.look, unit.known = now, true
	u.mu.Lock()
	defer u.mu.Unlock()
	unit.due = u.now().Add(max(every, 20*now.cost))
}

// charge takes from the share of a top-level directory, and reports whether it
// has used it up.
func (u *units) charge(top string, cost int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	s := u.shares[top]
	if s == nil {
		if len(u.shares) >= 10_000 {
			clear(u.shares) // in favour of all
		}
		s = &share{left: u.burst, at: now}
		u.shares[top] = s
	}
	s.left = min(u.burst, s.left+now.Sub(s.at).Seconds()*u.rate) - float64(cost)
	s.at = now
	if s.left >= 0 {
		return false
	}
	delete(u.shares, top)
	return true
}
