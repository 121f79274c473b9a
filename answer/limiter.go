package answer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/server"
)

// Making a menu, a feed or a page may cost a thousand times as much as sending one from the
// cache. Limiter.made bounds it:
//
//	join a call for the same answer → wait for a place → f, which calls spend → result for all
//
// A call begins in a small place. When it has spent more than small bytes, it releases that
// place and waits for a large one, so small answers never wait for large ones. Places are
// granted first come, first served, within quotas: an address, and a top-level directory of
// a host, may each use a quarter of the small places and one large place. So neither a
// client nor a disk that hangs can use up the places.
//
// Each program has places, too (Enter); an address may use a quarter of them.
//
// A request gets a result whose making began after the request arrived, or one whose stamp
// is still valid. A call without a waiting request is cancelled.

// The bounds of all calls of a process.
const (
	smallPlaces = 32
	largePlaces = 2
	small       = 256 << 10 // bytes that a call may spend in a small place
	maxSpent    = 96 << 20  // bytes that a call may spend in total
	maxTime     = 30 * time.Second
	maxWait     = 45 * time.Second // less than the server's default StallTimeout

	// maxHeld bounds the bytes of large replies and of the output of programs that wait to
	// be sent. From three quarters of it on, no output is read whole; from half of it on,
	// each is read only 16 KiB ahead. So programs always leave room for replies.
	maxHeld = 80 << 20
)

// A Limiter bounds how many replies are made concurrently, and what each may cost in time
// and memory. All hosts of a process share one. The zero value is ready to use.
type Limiter struct {
	// held counts the bytes of large replies until they are garbage, except while the cache
	// counts them, and of the output of programs that is read but not sent yet. What a
	// call has read counts in its View until the call ends.
	held atomic.Int64

	events atomic.Uint64 // counts arrivals of requests and beginnings of calls

	mu           sync.Mutex
	calls        map[callKey]*call // that requests may join
	small, large places
	programs     map[any]*places // of running programs
}

// places is a semaphore with quotas and a queue.
type places struct {
	all, each int // the number of places, and the quota of each share
	used      int
	shares    map[any]int // places used, by address and by topShare
	waiting   []*ticket   // in order of arrival
	users     int         // requests that use a program's places; unused otherwise
}

func newPlaces(all, each int) places {
	return places{
		all:    all,
		each:   each,
		shares: map[any]int{},
	}
}

// A ticket is a claim to a place: waiting for one or occupying it. The mutex of the Limiter guards
// it.
type ticket struct {
	ctx     context.Context
	askers  []netip.Addr // address blocks of the requests: the quota of one is used
	owner   topShare
	place   *places
	granted chan struct{} // closed when the place is granted
	paid    []any         // the shares whose quotas it uses; nil if it has no place
}

// A topShare identifies the quota of a top-level directory.
type topShare struct {
	of  *Host
	top string
}

// call makes one result for all requests that wait for it.
type call struct {
	callKey
	ticket // its ctx ends when no request waits, and at maxTime
	all    *Limiter
	cancel context.CancelFunc
	clock  *time.Timer   // calls cancel at maxTime; stopped while the call waits for a place
	late   atomic.Bool   // clock has fired
	done   chan struct{} // closed when result and err are set
	result *Value
	err    error
	begun  uint64 // Limiter.events when f was called, or 0

	// Guarded by the mutex of all.
	requests int // that wait for the result
}

// Errors of exceeded bounds.
var (
	errOverfull = &server.Error{
		Kind: server.Busy,
		Err:  errors.New("clients that read slowly hold too much in memory"),
	}
	errSpent = &server.Error{
		Kind: server.Busy,
		Err:  fmt.Errorf("a reply takes more than %d MiB to make", maxSpent>>20),
	}
	errWait = &server.Error{
		Kind: server.Busy,
		Err:  fmt.Errorf("a reply is waited for longer than %v", maxWait),
	}
	errTime = &server.Error{
		Kind: server.Busy,
		Err:  fmt.Errorf("a reply takes longer than %v to make", maxTime),
	}
)

// panicked is a panic of f. Limiter.made panics with it in the goroutine of each request,
// where the server recovers.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("%v\n%s", p.value, p.stack)
}

// protect calls f and returns a panic as an error.
func protect(f func() (*Value, error)) (a *Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	return f()
}

// made calls f in a goroutine and returns its result. Concurrent calls with the same key
// share one call of f. It fails when ctx ends, and after maxWait.
func (l *Limiter) made(ctx context.Context, who netip.Addr, what callKey,
	f func(*call) (*Value, error)) (*Value, error) {
	late := time.NewTimer(maxWait)
	defer late.Stop()
	came := l.events.Add(1)
	for {
		k := l.join(server.Block(who), what, f)
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
		fresh := k.begun == 0 || k.begun > came
		if fresh || k.err == nil && k.result != nil && k.result.stamp != nil &&
			k.result.stamp.Look(ctx) {
			return k.result, k.err
		}
	}
}

// join adds a request to the call for a key, and starts the call if there is none.
func (l *Limiter) join(who netip.Addr, what callKey, f func(*call) (*Value, error)) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[callKey]*call{}
		l.small, l.large = newPlaces(smallPlaces, smallPlaces/4), newPlaces(largePlaces, 1)
	}
	k := l.calls[what]
	if k == nil {
		k = &call{callKey: what, all: l, done: make(chan struct{})}
		k.owner = topShare{k.of, k.top()}
		k.ctx, k.cancel = context.WithCancel(context.Background())
		l.calls[what] = k
		go k.run(f)
	}
	k.requests++
	if !slices.Contains(k.askers, who) {
		k.askers = append(k.askers, who)
		if k.place != nil {
			k.place.fill()
		}
	}
	return k
}

// leave removes a request from a call, and cancels the call if it was the last.
func (l *Limiter) leave(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.requests--
	if k.requests == 0 {
		k.cancel()
		l.forget(k)
	}
}

// forget prevents further requests from joining a call.
func (l *Limiter) forget(k *call) {
	if l.calls[k.callKey] == k {
		delete(l.calls, k.callKey)
	}
}

func (k *call) run(f func(*call) (*Value, error)) {
	defer close(k.done)
	l := k.all
	k.err = l.take(&k.ticket, &l.small)
	if k.err == nil {
		k.begun = l.events.Add(1)
		k.clock = time.AfterFunc(maxTime, func() { k.late.Store(true); k.cancel() })
		defer k.clock.Stop()
		k.result, k.err = f(k)
	}
	k.cancel() // before release, so that a part of f that is still running cannot take another place
	l.mu.Lock()
	defer l.mu.Unlock()
	k.release()
	l.forget(k)
	if k.err != nil && k.late.Load() {
		k.err = errTime
	}
}

// take releases the place of the ticket, and waits for one of p.
func (l *Limiter) take(t *ticket, p *places) error {
	l.mu.Lock()
	t.release()
	t.place, t.granted = p, make(chan struct{})
	granted := t.granted
	p.waiting = append(p.waiting, t)
	p.fill()
	l.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-t.ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(other *ticket) bool { return other == t })
	return context.Cause(t.ctx)
}

// fill grants free places to waiting tickets.
func (p *places) fill() {
	for i := 0; i < len(p.waiting) && p.used < p.all; {
		t := p.waiting[i]
		shares := p.afford(t)
		if shares == nil || t.ctx.Err() != nil {
			i++
			continue
		}
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.used++
		t.paid = shares
		for _, share := range shares {
			p.shares[share]++
		}
		close(t.granted)
	}
}

// afford returns the two shares whose quotas a ticket would use: an address of its requests,
// and its top-level directory. It returns nil if a quota is used up.
func (p *places) afford(t *ticket) []any {
	if t.owner.top != "" && p.shares[t.owner] >= p.each {
		return nil
	}
	for _, who := range t.askers {
		if !who.IsValid() || p.shares[who] < p.each {
			return []any{who, t.owner}
		}
	}
	return nil
}

// release releases the place of a ticket, if it has one.
func (t *ticket) release() {
	if t.paid == nil {
		return
	}
	p := t.place
	p.used--
	for _, share := range t.paid {
		p.shares[share]--
		if p.shares[share] == 0 {
			delete(p.shares, share)
		}
	}
	t.paid = nil
	p.fill()
}

// Enter waits for one of the all places of a program, and occupies it until ctx ends.
func (q *Asked) Enter(ctx context.Context, program any, all int) error {
	q.Host.open()
	l := q.Host.Limiter
	waiting, cancel := context.WithTimeoutCause(ctx, maxWait, errWait)
	defer cancel()
	t := &ticket{ctx: waiting, askers: []netip.Addr{server.Block(q.Request.Remote.Addr())}}
	l.mu.Lock()
	p := l.programs[program]
	if p == nil {
		if l.programs == nil {
			l.programs = map[any]*places{}
		}
		of := newPlaces(all, max(1, all/4))
		p = &of
		l.programs[program] = p
	}
	p.users++
	l.mu.Unlock()
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		t.release()
		p.users--
		if p.users == 0 {
			delete(l.programs, program)
		}
	})
	return l.take(t, p)
}

// spend bounds the bytes in memory that a call has read, as its View counts them. Beyond the bound
// of a small place, it waits for a large one. It fails when no request waits for the call any
// more, and when the call has read more than maxSpent.
func (k *call) spend(spent int) error {
	l := k.all
	switch {
	case spent > maxSpent:
		return errSpent
	case spent <= small || k.place != &l.small:
		return k.ctx.Err()
	}
	k.clock.Stop()
	if err := l.take(&k.ticket, &l.large); err != nil {
		return err
	}
	k.clock.Reset(maxTime)

	// Wait up to 500 ms for large replies to be sent, and collect garbage.
	for wait := 0; l.held.Load() >= maxHeld; wait++ {
		if wait == 500 {
			return errOverfull
		}
		if wait%100 == 0 {
			runtime.GC()
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// hold counts a large reply in l.held until it is garbage: neither being sent nor cached.
func (l *Limiter) hold(a *Value) {
	if len(a.Body) <= small {
		return
	}
	a.held = &l.held
	size := int64(cap(a.Body))
	l.held.Add(size)
	runtime.AddCleanup(&a.Body[0], func(size int64) { l.held.Add(-size) }, size)
}
