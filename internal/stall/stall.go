// Package stall limits the damage of a file system that does not answer: a network mount
// whose server is gone, a disk that fails, a program behind FUSE that hangs.
//
// No system call that waits for such a file system can be called off: a
// goroutine, and a thread with it, stays there until it returns. So there are
// never more than 4096 at once; while an operation on a name does not return, further
// operations on that name, and on all names below it, fail at once; and a caller that
// must not wait goes on without an answer ([Try]). The limits end by themselves when the
// operations return.
package stall

import (
	"errors"
	"fmt"
	"log/slog"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// Err is returned if the file system does not answer, or if too many
	// operations wait for it already.
	Err = errors.New("the file system does not answer")

	// ErrLeft is an Err: the attempt was left behind in the middle.
	ErrLeft = fmt.Errorf("%w: given up", Err)

	// ErrStopped is returned after the Guard was stopped.
	ErrStopped = errors.New("stopped")
)

const (
	// DefaultTimeout is how long an operation may take.
	DefaultTimeout = 10 * time.Second

	maxOps    = 4096 // at once; a Go program may not have more than 10,000 threads
	maxInDir  = 4    // names of a directory that do not answer: then nothing in it is asked for
	inAHurry  = 20   // part of the timeout that an Attempt is left while something does not answer
	tellEvery = time.Minute
)

// A Guard tracks the operations that are under way. The zero value is ready to use; a
// nil Guard has no limits.
type Guard struct {
	// Timeout is how long an operation may take. If zero, 10 s.
	Timeout time.Duration

	// Log gets an error while names do not answer, at most one a minute, and a line
	// when all of them answer again. If nil, nothing is logged.
	Log *slog.Logger

	// Changed, if not nil, is called in its own goroutine shortly after operations have
	// stalled, at most once a minute, or a stalled one has returned.
	Changed func()

	mu             sync.Mutex
	oldest, newest *Op
	n              int
	stuck          hanging
	slow           hanging       // that Briefly did not wait for
	alarm          *time.Timer   // nil: nothing is to be looked at
	due            time.Time     // when it should ring
	late           time.Duration // how late it rang, in all
	told, since    time.Time
	telling        bool // Changed will be called
	quit           chan struct{}
}

// An Op is an operation that is under way.
type Op struct {
	guard      *Guard
	name       string
	of         *Attempt // nil: of none
	began      time.Time
	late       time.Duration // the guard's, when it began
	stuck      bool
	slow       bool
	prev, next *Op
}

// Enter begins an operation on a slash path below a root, or on an absolute path. It fails at once, with Err, if
// that does not answer or if too much is under way.
func (g *Guard) Enter(name string) (*Op, error) {
	if g == nil {
		return nil, nil
	}
	return g.enter(name, nil)
}

func (g *Guard) enter(name string, of *Attempt) (*Op, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n >= maxOps || g.stuck.has(name) || of != nil && of.brief && g.slow.has(name) {
		return nil, Err
	}
	now := time.Now()
	o := &Op{guard: g, name: name, of: of, began: now, late: g.late, prev: g.newest}
	if g.newest == nil {
		g.oldest = o
	} else {
		g.newest.next = o
	}
	g.newest = o
	g.n++
	if g.alarm == nil {
		g.wait(now)
	}
	return o, nil
}

// An Attempt runs in its own goroutine, so that its caller can leave it behind. It calls
// Enter before each operation.
type Attempt struct {
	guard   *Guard
	hurried bool          // while something does not answer
	brief   bool          // it does not wait for the whole timeout
	stuck   chan struct{} // gets one when an operation does not end in time
	over    atomic.Bool
}

// Enter is Guard.Enter, but fails with ErrLeft once Try has returned. On a nil Attempt
// it never fails.
func (a *Attempt) Enter(name string) (*Op, error) {
	switch {
	case a == nil:
		return nil, nil
	case a.over.Load():
		return nil, ErrLeft
	}
	return a.guard.enter(name, a)
}

// leave lets Try return.
func (a *Attempt) leave() {
	select {
	case a.stuck <- struct{}{}:
	default: // it was left behind already
	}
}

// hanging are names of operations that do not end.
type hanging struct {
	names map[string]int // how many operations each has
	inDir map[string]int // how many such names a directory has in it
}

// has reports whether a name, or a directory that it is in, does not answer. Absolute
// paths do not depend on the root, nor on what lies beside them.
func (h *hanging) has(name string) bool {
	if len(h.names) == 0 {
		return false
	}
	absolute := path.IsAbs(name)
	if h.names["."] > 0 && !absolute || h.names[name] > 0 {
		return true
	}
	for i := range len(name) {
		if name[i] == '/' && (h.names[name[:i]] > 0 || !absolute && h.inDir[name[:i]] >= maxInDir) {
			return true
		}
	}
	return false
}

func (h *hanging) add(name string) {
	if len(h.names) == 0 {
		h.names, h.inDir = map[string]int{}, map[string]int{}
	}
	h.names[name]++
	if dir := path.Dir(name); dir != "." && h.names[name] == 1 {
		h.inDir[dir]++
	}
}

func (h *hanging) remove(name string) {
	if h.names[name]--; h.names[name] > 0 {
		return
	}
	delete(h.names, name)
	if dir := path.Dir(name); dir != "." {
		if h.inDir[dir]--; h.inDir[dir] == 0 {
			delete(h.inDir, dir)
		}
	}
}

// wait sets the alarm.
func (g *Guard) wait(now time.Time) {
	next := max(g.timeout()/inAHurry, time.Millisecond)
	g.due = now.Add(next)
	g.alarm = time.AfterFunc(next, g.look)
}

// look marks operations that take too long. A busy machine may delay this process, or
// its goroutines that return from system calls, and the file system is not at fault. So
// the operations under way may take longer by as much as the alarm itself was late.
func (g *Guard) look() {
	runtime.Gosched()
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	g.late += max(now.Sub(g.due), 0)
	for o := g.oldest; o != nil; o = o.next {
		took := now.Sub(o.began) - (g.late - o.late)
		if took >= g.limit(o) {
			g.mark(o, now)
		} else if o.of != nil && o.of.brief && !o.slow && took >= g.timeout()/inAHurry {
			o.slow = true
			g.slow.add(o.name)
			o.of.leave()
		}
	}
	if g.alarm = nil; g.n > 0 {
		g.wait(now)
	}
}

// limit returns how long an operation may take. An operation of Try gets a twentieth of
// the timeout while another one is stalled, so that Try gets through a tree with many
// stalled names.
func (g *Guard) limit(o *Op) time.Duration {
	if o.of != nil && o.of.hurried && len(g.stuck.names) > 0 {
		return g.timeout() / inAHurry
	}
	return g.timeout()
}

// mark records a stalled operation. While some are stalled it logs at most one a minute.
func (g *Guard) mark(o *Op, now time.Time) {
	if o.stuck {
		return
	}
	o.stuck = true
	if o.of != nil {
		o.of.leave()
	}
	if len(g.stuck.names) == 0 {
		g.since = o.began
	}
	g.stuck.add(o.name)
	if !g.told.IsZero() && now.Sub(g.told) < tellEvery {
		return
	}
	g.told = now
	g.tell()
	if g.Log != nil {
		g.Log.Error("the file system does not answer", "name", o.name, "for", now.Sub(o.began).Round(time.Millisecond),
			"names", len(g.stuck.names), "hint", "gophd serves nothing below it until it answers")
	}
}

// Leave ends an operation.
func (o *Op) Leave() {
	if o == nil {
		return
	}
	g := o.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.prev == nil {
		g.oldest = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		g.newest = o.prev
	} else {
		o.next.prev = o.prev
	}
	g.n--
	if o.slow {
		g.slow.remove(o.name)
	}
	if o.stuck {
		g.stuck.remove(o.name)
		g.unmarked(o.name)
	}
}

// unmarked tells that a stalled operation has ended.
func (g *Guard) unmarked(name string) {
	if len(g.stuck.names) == 0 {
		g.told = time.Time{}
	}
	if len(g.stuck.names) == 0 && g.Log != nil {
		g.Log.Info("the file system answers again", "name", name, "after", time.Since(g.since).Round(time.Millisecond))
	}
	g.tell()
}

// tell calls Changed soon.
func (g *Guard) tell() {
	if !g.telling && g.Changed != nil {
		g.telling = true
		time.AfterFunc(g.timeout()/inAHurry, g.changed)
	}
}

func (g *Guard) timeout() time.Duration {
	if g.Timeout == 0 {
		return DefaultTimeout
	}
	return g.Timeout
}

func (g *Guard) changed() {
	g.mu.Lock()
	g.telling = false
	g.mu.Unlock()
	g.Changed()
}

// Stop makes every current and later Try return ErrStopped at once. It must be called
// only once.
func (g *Guard) Stop() { close(g.stopped()) }

// stopped returns the channel that Stop closes.
func (g *Guard) stopped() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.quit == nil {
		g.quit = make(chan struct{})
	}
	return g.quit
}
