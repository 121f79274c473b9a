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

	// ErrSlow is an Err that only Brief attempts get: an earlier operation on the name has
	// not returned yet, but does not count as hanging either.
	ErrSlow = fmt.Errorf("%w yet", Err)

	// ErrStopped is returned after the Guard was stopped.
	ErrStopped = errors.New("stopped")
)

const (
	// DefaultTimeout is how long an operation may take.
	DefaultTimeout = 10 * time.Second

	// An operation is looked at after each of so many parts of the timeout. Where a busy
	// machine gives this process no time, it looks late, and the operation has longer.
	ticks = 20

	maxOps    = 4096 // at once; a Go program may not have more than 10,000 threads
	maxInDir  = 4    // names of a directory that do not answer: then nothing in it is asked for
	tellEvery = time.Minute
)

// Patience is how long the caller of Try waits for each operation.
type Patience int

const (
	// Whole is the Guard's timeout.
	Whole Patience = iota
	// Hurried is the timeout too, but a twentieth of it while another operation hangs, so
	// that a caller gets through a tree with many names that do not answer.
	Hurried
	// Brief is a twentieth of the timeout, for what the caller can do without. The
	// operation counts as hanging only after the whole.
	Brief
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

	mu      sync.Mutex
	n       int   // operations under way
	slow    names // of operations that take longer than a tick
	hung    names // of operations that take longer than the timeout
	told    time.Time
	since   time.Time
	telling bool // Changed will be called
	quit    chan struct{}
}

// An Op is an operation that is under way.
type Op struct {
	guard *Guard
	name  string
	of    *Attempt // nil: of none
	began time.Time

	// Under the mutex of guard:
	timer *time.Timer
	ticks int
	hung  bool
	ended bool
}

// names counts operations by their names, and such names by their directories.
type names struct{ ops, inDir map[string]int }

// has reports whether a name, or a directory that it is in, is one of them. Absolute
// paths do not depend on the root, nor on what lies beside them.
func (s *names) has(name string) bool {
	if len(s.ops) == 0 {
		return false
	}
	absolute := path.IsAbs(name)
	if s.ops["."] > 0 && !absolute || s.ops[name] > 0 {
		return true
	}
	for i := range len(name) {
		if name[i] == '/' && (s.ops[name[:i]] > 0 || !absolute && s.inDir[name[:i]] >= maxInDir) {
			return true
		}
	}
	return false
}

// add counts operations on a name, or fewer if by is negative.
func (s *names) add(name string, by int) {
	if s.ops == nil {
		s.ops, s.inDir = map[string]int{}, map[string]int{}
	}
	before := s.ops[name]
	count(s.ops, name, by)
	if dir := path.Dir(name); dir != "." && (before == 0 || s.ops[name] == 0) {
		count(s.inDir, dir, by)
	}
}

func count(m map[string]int, key string, by int) {
	if m[key] += by; m[key] == 0 {
		delete(m, key)
	}
}

// Enter begins an operation on a slash path below a root, or on an absolute path. It fails at once, with Err, if
// that does not answer or if too much is under way.
func (g *Guard) Enter(name string) (*Op, error) { return g.enter(name, nil) }

func (g *Guard) enter(name string, of *Attempt) (*Op, error) {
	if g == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n >= maxOps || g.hung.has(name) {
		return nil, Err
	}
	if of != nil && of.patience == Brief && g.slow.has(name) {
		return nil, ErrSlow
	}
	g.n++
	o := &Op{guard: g, name: name, of: of, began: time.Now()}
	o.timer = time.AfterFunc(g.tick(), o.tick)
	return o, nil
}

// tick looks at an operation that has taken a tick more.
func (o *Op) tick() {
	runtime.Gosched() // it may have returned, and wait for its turn
	g := o.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.ended {
		return
	}
	if o.ticks++; o.ticks == 1 {
		g.slow.add(o.name, 1)
	}
	if o.of != nil && o.of.patience == Brief {
		o.of.leave()
	}
	hurried := o.of != nil && o.of.patience != Whole && len(g.hung.ops) > 0
	if o.ticks < ticks && !hurried {
		o.timer.Reset(g.tick())
		return
	}
	o.hangs()
}

// hangs marks a stalled operation. While some are stalled it logs at most one a minute.
func (o *Op) hangs() {
	g := o.guard
	o.hung = true
	if o.of != nil {
		o.of.leave()
	}
	if len(g.hung.ops) == 0 {
		g.since = o.began
	}
	g.hung.add(o.name, 1)
	now := time.Now()
	if !g.told.IsZero() && now.Sub(g.told) < tellEvery {
		return
	}
	g.told = now
	g.tell()
	if g.Log != nil {
		g.Log.Error("the file system does not answer", "name", o.name, "for", now.Sub(o.began).Round(time.Millisecond),
			"names", len(g.hung.ops), "hint", "gophd serves nothing below it until it answers")
	}
}

// Leave ends an operation.
func (o *Op) Leave() {
	if o == nil {
		return
	}
	g := o.guard
	o.timer.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	o.ended = true
	g.n--
	if o.ticks > 0 {
		g.slow.add(o.name, -1)
	}
	if !o.hung {
		return
	}
	g.hung.add(o.name, -1)
	if len(g.hung.ops) == 0 {
		g.told = time.Time{}
		if g.Log != nil {
			g.Log.Info("the file system answers again", "name", o.name, "after", time.Since(g.since).Round(time.Millisecond))
		}
	}
	g.tell()
}

// tell calls Changed soon.
func (g *Guard) tell() {
	if g.telling || g.Changed == nil {
		return
	}
	g.telling = true
	time.AfterFunc(g.tick(), func() {
		g.mu.Lock()
		g.telling = false
		g.mu.Unlock()
		g.Changed()
	})
}

func (g *Guard) tick() time.Duration {
	timeout := g.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return max(timeout/ticks, time.Millisecond)
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

// An Attempt runs in its own goroutine, so that its caller can leave it behind. It calls
// Enter before each operation.
type Attempt struct {
	guard    *Guard
	patience Patience
	left     chan struct{} // closed by leave
	over     atomic.Bool
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
	if !a.over.Swap(true) {
		close(a.left)
	}
}

// Try runs f, which may operate on many names, and waits for it. If one operation
// exceeds its time, Try returns ErrLeft, f runs on, and its result is dropped: f must
// not write to variables that the caller uses afterwards. The next operation on that
// name fails at once.
func Try[T any](g *Guard, patience Patience, f func(*Attempt) (T, error)) (value T, err error) {
	if g == nil {
		return f(nil)
	}
	stopped := g.stopped()
	select {
	case <-stopped:
		return value, ErrStopped
	default:
	}
	type result struct {
		value T
		err   error
	}
	a := &Attempt{guard: g, patience: patience, left: make(chan struct{})}
	done := make(chan result, 1)
	go func() {
		v, err := f(a)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-a.left:
		return value, ErrLeft
	case <-stopped:
		a.over.Store(true)
		return value, ErrStopped
	}
}
