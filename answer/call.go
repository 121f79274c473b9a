package answer

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/server"
)

// call is one result that is being made, for all requests that wait for it.
type call struct {
	callKey
	all    *Limiter
	before *call           // of the same key; it ends first. Nil: there is none
	ctx    context.Context // ends when no request waits, and maxTime after the beginning
	cancel context.CancelFunc
	done   chan struct{} // closed when result and err are set

	result *Value
	err    error

	kept  int64       // bytes held by the cache
	clock *time.Timer // cancels it; stopped while it waits for a place
	late  atomic.Bool // the clock has

	calls   atomic.Int64 // system calls that have begun or ended: odd during one
	hanging atomic.Bool  // it has lost its large place during a call

	// Under the mutex of all:
	requests int           // that wait for it
	askers   []*client     // each once
	granted  chan struct{} // closed when the place it waits for is its own; nil: it waits for none
	payer    *client       // whose place it has; nil: it has none
	place    placeSize
	slow     bool          // it goes on without its place
	order    *list.Element // in oldest
	began    time.Time
	spent    int
	stray    int   // of it in Limiter.stray
	seen     int64 // what calls was when it was last looked at
}

// panicked is a panic in a making. It continues in the goroutines of the requests
// that wait, where the server takes it for an error of theirs alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// made returns the result of f, which this request shares with all others that ask for
// the same meanwhile. It returns when ctx ends, and after maxWait. F runs in a goroutine of
// its own.
func (l *Limiter) made(ctx context.Context, who netip.Addr, what callKey, f func(*call) (*Value, error)) (*Value, error) {
	k := l.join(who, what, f)
	late := time.NewTimer(maxWait)
	defer late.Stop()
	select {
	case <-k.done:
	case <-late.C:
		l.leave(k)
		return nil, errWait
	case <-ctx.Done():
		l.leave(k)
		return nil, context.Cause(ctx)
	}
	if p := (*panicked)(nil); errors.As(k.err, &p) {
		panic(p)
	}
	return k.result, k.err
}

func (l *Limiter) join(who netip.Addr, what callKey, f func(*call) (*Value, error)) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.next[what]
	if k == nil {
		if l.next == nil {
			l.next, l.now, l.clients = map[callKey]*call{}, map[callKey]*call{}, map[netip.Addr]*client{}
		}
		k = &call{callKey: what, all: l, before: l.now[what], done: make(chan struct{})}
		k.ctx, k.cancel = context.WithCancel(context.Background())
		l.next[what] = k
		go k.run(f)
	}
	k.requests++
	l.ask(k, server.Block(who))
	return k
}

// ask lets a making wait in the turn of another client, too.
func (l *Limiter) ask(k *call, who netip.Addr) {
	c := l.clients[who]
	for _, has := range k.askers {
		if has == c {
			return
		}
	}
	if c == nil {
		c = &client{addr: who}
		l.clients[who] = c
	}
	c.asks++
	k.askers = append(k.askers, c)
	if k.granted != nil && k.payer == nil {
		l.queue(k, c)
		l.fill(k.place)
	}
}

func (l *Limiter) leave(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.requests--; k.requests > 0 {
		return
	}
	k.cancel()
	if l.next[k.callKey] == k {
		delete(l.next, k.callKey)
	}
}

func (k *call) run(f func(*call) (*Value, error)) {
	defer close(k.done)
	if k.before != nil {
		select {
		case <-k.before.done:
		case <-k.ctx.Done():
		}
		k.before = nil
	}
	if k.err = k.wait(isSmall); k.err == nil {
		k.all.begin(k)
		k.clock = time.AfterFunc(maxTime, func() { k.late.Store(true); k.cancel() })
		defer k.clock.Stop()
		k.result, k.err = f(k)
	}
	k.cancel() // before its place is given back: what goes on of it, left behind, takes no other
	k.all.end(k)
	if k.err != nil && k.late.Load() {
		k.err = errTime
	}
}

// protect turns a panic of f into an error.
func protect(f func() (*Value, error)) (a *Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	return f()
}

// begin closes a making to requests from now on.
func (l *Limiter) begin(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next[k.callKey] == k {
		delete(l.next, k.callKey)
	}
	l.now[k.callKey] = k
	k.began = time.Now()
}

func (l *Limiter) end(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(k)
	l.collect(k)
	if l.now[k.callKey] == k {
		delete(l.now, k.callKey)
	}
	for _, c := range k.askers {
		if c.asks--; c.asks == 0 {
			delete(l.clients, c.addr)
		}
	}
}

// inCall notes that a system call begins, or has ended. A making that has lost its
// large place meanwhile waits for another one.
func (k *call) inCall(bool) {
	if k.calls.Add(1); !k.hanging.Load() || !k.hanging.CompareAndSwap(true, false) {
		return
	}
	k.all.mu.Lock()
	k.all.release(k)
	k.all.mu.Unlock()
	k.clock.Stop()
	if k.wait(isLarge) == nil {
		k.clock.Reset(maxTime)
	}
}

// spend charges a making for bytes that it read and keeps. Beyond the bound of a small
// place, it waits for a large one. It fails when no request waits any more, and when the
// making has spent too much.
func (k *call) spend(bytes int) error {
	if grows, err := k.outgrows(bytes); !grows {
		return cmp.Or(err, k.ctx.Err())
	}
	k.clock.Stop()
	if err := k.wait(isLarge); err != nil {
		return err
	}
	k.clock.Reset(maxTime)
	if k.all.held.Reached(maxHeld + k.kept) { // of which the cache has the rest
		return errOverfull
	}
	return nil
}

// outgrows reports whether a small making has become a large one, which has given
// its place back.
func (k *call) outgrows(bytes int) (bool, error) {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.spent += bytes
	switch {
	case k.spent > maxSpent:
		return false, errSpent
	case k.spent <= small || k.place != isSmall:
		return false, nil
	}
	k.all.release(k)
	return true, nil
}
