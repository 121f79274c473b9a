// Package stall limits the damage of a file system that does not respond: a network mount
// whose server is gone, a failing disk, a FUSE program that hangs.
//
// A system call that waits for such a file system cannot be cancelled: its goroutine and its
// thread stay blocked until it returns. So the package
//
//   - allows at most 4096 operations at once,
//   - fails further operations on a name, and on names below it, while one on that name hangs,
//   - lets a caller abandon an operation and continue ([Try]).
//
// A name is usable again as soon as its pending operations have returned.
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
	// Err reports that the file system does not respond, or that too many operations are
	// pending.
	Err = errors.New("the file system does not answer")

	// ErrLeft is an Err: Try has abandoned the attempt, which may still be running.
	ErrLeft = fmt.Errorf("%w: given up", Err)

	// ErrSlow is an Err that only Brief attempts get: an earlier operation on the name is
	// still pending, but does not count as hanging yet.
	ErrSlow = fmt.Errorf("%w yet", Err)

	// ErrStopped is returned after Guard.Stop.
	ErrStopped = errors.New("stopped")
)

const (
	// DefaultTimeout is how long an operation may take.
	DefaultTimeout = 10 * time.Second

	// ticks is the number of timer ticks after which an operation counts as hanging; a tick is
	// that part of the timeout. On an overloaded machine the timer fires late, so operations
	// have more time there.
	ticks = 20

	maxOps    = 4096        // a Go program may not have more than 10,000 threads
	maxShare  = 4           // slow names that shorten a Brief tick
	maxInDir  = 4           // hanging names after which the whole directory counts as hanging
	tellEvery = time.Minute // between two log lines
)

// Patience is how long the caller of Try waits for each operation.
type Patience int

const (
	// Whole is the Guard's timeout.
	Whole Patience = iota
	// Hurried is the timeout, but only one tick while another operation hangs. So a scan of
	// a tree with many hanging names finishes.
	Hurried
	// Brief is one tick, for results that the caller can omit or request later; a share of it
	// while operations on other names are slow, so that hundreds of hanging names are left
	// sooner. The operation counts as hanging after the timeout or, while another one hangs, a tick.
	Brief
)

// A Guard tracks pending operations. The zero value is ready to use; a nil Guard sets no
// limits.
type Guard struct {
	// Timeout is how long an operation may take. If zero, 10 s.
	Timeout time.Duration

	// Log records hanging names, at most one line per minute, and when all of them respond
	// again. If nil, nothing is logged.
	Log *slog.Logger

	// Changed, if not nil, is called in its own goroutine one tick after an operation begins
	// to hang (at most once a minute), and after each hanging one returns.
	Changed func()

	mu    sync.Mutex
	n     int           // pending operations
	slow  names         // of those that have taken longer than a tick
	hung  names         // of those that hang
	told  time.Time     // of the last log line
	since time.Time     // when the first operation of hung began
	quit  chan struct{} // closed by Stop
}

// An Op is a pending operation.
type Op struct {
	guard *Guard
	name  string
	of    *Attempt // may be nil
	began time.Time

	// Under the mutex of guard:
	timer *time.Timer
	ticks int
	hung  bool
	ended bool
}

// names counts operations by name, and the names by directory.
type names struct{ ops, inDir map[string]int }

// has reports whether the set contains a name or a directory above it, or maxInDir names of
// such a directory. The latter, and the root ".", do not count for absolute paths.
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

// add adds by to the number of operations on a name.
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

// Enter begins an operation on a slash path below a root, or on an absolute path. It returns
// Err at once if that name hangs, or if too many operations are pending.
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
	patience := g.tick()
	if of != nil && of.patience == Brief {
		patience /= time.Duration(1 + min(len(g.slow.ops), maxShare))
	}
	g.n++
	o := &Op{guard: g, name: name, of: of, began: time.Now()}
	o.timer = time.AfterFunc(patience, o.tick)
	return o, nil
}

// tick is called after each tick that an operation has taken.
func (o *Op) tick() {
	runtime.Gosched() // the operation may have returned, and its goroutine be waiting to run
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
	hurried := o.of != nil && o.of.patience != Whole && len(g.hung.ops) > 0 &&
		time.Since(o.began) >= g.tick() // not after a share of a Brief tick
	if o.ticks < ticks && !hurried {
		o.timer.Reset(g.tick())
		return
	}
	o.hangs()
}

// hangs marks an operation as hanging, lets its attempt return, and logs it.
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
		g.Log.Error("the file system does not answer", "name", o.name, "for",
			now.Sub(o.began).Round(time.Millisecond),
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
			g.Log.Info("the file system answers again", "name", o.name, "after",
				time.Since(g.since).Round(time.Millisecond))
		}
	}
	g.tell()
}

// tell schedules a call of Changed, one for each operation: who reads everything again does so once.
func (g *Guard) tell() {
	if g.Changed != nil {
		time.AfterFunc(g.tick(), g.Changed)
	}
}

func (g *Guard) tick() time.Duration {
	timeout := g.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return max(timeout/ticks, time.Millisecond)
}

// Stop makes all current and later calls of Try return ErrStopped at once. It must be called
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

// An Attempt is the function that Try runs in its own goroutine. The function must call Enter
// before each operation.
type Attempt struct {
	guard    *Guard
	patience Patience
	left     chan struct{} // closed by leave
	over     atomic.Bool
}

// Enter is Guard.Enter, but returns ErrLeft once Try has returned. On a nil Attempt it never
// fails.
func (a *Attempt) Enter(name string) (*Op, error) {
	switch {
	case a == nil:
		return nil, nil
	case a.over.Load():
		return nil, ErrLeft
	}
	return a.guard.enter(name, a)
}

// leave makes Try return ErrLeft.
func (a *Attempt) leave() {
	if !a.over.Swap(true) {
		close(a.left)
	}
}

// Try calls f, which may operate on many names, in a goroutine and waits for it. If one
// operation exceeds the patience, Try returns ErrLeft and drops the result of f, which keeps
// running: f must not write to variables that the caller uses afterwards. The next operation on
// that name fails at once, so a caller can repeat Try and skip the name.
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
