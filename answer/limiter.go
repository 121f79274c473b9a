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

// Making a menu, a feed or a page may cost a thousand times as much as sending one from
// the cache. Limiter.made makes everything that a request needs:
//
//	join requests for the same → wait for a place → f, which spends → result for all
//
// Each making begins in a small place. When it has spent more than small bytes, it gives
// that place back and waits for a large one, so that a small making never waits for a large
// one. Places are given first come, first served, within shares: an address, and a
// top-level directory of a host, have at most a quarter of the small places and one large
// one. So neither a client nor a disk that hangs takes the places of others.
//
// Requests to a program take places, too: of those of the program, an address has a quarter.
//
// A request gets a result that was begun after it arrived, or one that still holds by its
// stamp. A making that no request waits for is cancelled.

// The bounds of all makings of a process.
const (
	smallPlaces = 32
	largePlaces = 2
	small       = 256 << 10 // bytes that a making may spend in a small place
	maxSpent    = 96 << 20  // bytes that a making may spend in all
	maxTime     = 30 * time.Second
	maxWait     = 45 * time.Second // less than the server's default StallTimeout: clients must be answered
	maxHeld     = 48 << 20         // bytes of large replies in memory besides the cache; then no more are made
)

// A Limiter bounds the replies that are made for requests at once; see the package's
// documentation. All hosts of a process share one. The zero value is ready to use.
type Limiter struct {
	// What a making has read ends with it (site.View counts it). What is made of that is held
	// until nobody has it any more, neither a slow client nor the cache: until it is garbage.
	// What programs have printed goes as it is sent.
	held    atomic.Int64 // bytes of large replies
	printed atomic.Int64 // bytes of the output of programs

	events atomic.Uint64 // requests that came and makings that began, in order

	mu           sync.Mutex
	calls        map[callKey]*call // that requests join
	small, large places
	programs     map[any]*places // those that are in use
}

// places are what makings and requests to programs take.
type places struct {
	all, each int // how many there are, and how many of one share
	used      int
	shares    map[any]int // used, by address and by topShare
	waiting   []*ticket   // first come first
	users     int         // requests to the program, if they are a program's
}

func newPlaces(all, each int) places { return places{all: all, each: each, shares: map[any]int{}} }

// A ticket is for a place that is waited for or held. The mutex of the Limiter guards it.
type ticket struct {
	ctx     context.Context
	askers  []netip.Addr // address blocks: any of them may pay
	owner   topShare
	place   *places
	granted chan struct{} // closed when the place is its own
	paid    []any         // the shares that it is in; nil: it has no place
}

// A topShare is the share of a top-level directory.
type topShare struct {
	of  *Host
	top string
}

// call is one result that is being made, for all requests that wait for it.
type call struct {
	callKey
	ticket // its ctx ends when no request waits, and maxTime after the beginning
	all    *Limiter
	cancel context.CancelFunc
	clock  *time.Timer   // cancels it; stopped while it waits for a place
	late   atomic.Bool   // the clock has
	done   chan struct{} // closed when result and err are set
	result *Value
	err    error
	begun  uint64 // event; 0: not yet
	kept   int64  // bytes held by the cache

	// Under the mutex of all:
	requests int // that wait for it
}

// Errors of exceeded bounds.
var (
	errOverfull = &server.Error{Kind: server.Busy, Err: errors.New("clients that read slowly hold too many large replies")}
	errSpent    = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply takes more than %d MiB to make", maxSpent>>20)}
	errWait     = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply is waited for longer than %v", maxWait)}
	errTime     = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply takes longer than %v to make", maxTime)}
)

// panicked is a panic in a making. It continues in the goroutines of the requests
// that wait, where the server takes it for an error of theirs alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// protect turns a panic of f into an error.
func protect(f func() (*Value, error)) (a *Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	return f()
}

// made returns the result of f, which this request shares with all others that ask for
// the same meanwhile. It returns when ctx ends, and after maxWait. F runs in a goroutine of
// its own.
func (l *Limiter) made(ctx context.Context, who netip.Addr, what callKey, f func(*call) (*Value, error)) (*Value, error) {
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
		if fresh || k.err == nil && k.result != nil && k.result.stamp != nil && k.result.stamp.Look(ctx) {
			return k.result, k.err
		}
	}
}

// join lets a request wait for a making, a new one if there is none.
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

// leave ends the wait of a request.
func (l *Limiter) leave(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.requests--
	if k.requests == 0 {
		k.cancel()
		l.forget(k)
	}
}

// forget lets no request join a making any more.
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
	k.cancel() // before its place is given back: what goes on of it, left behind, takes no other
	l.mu.Lock()
	defer l.mu.Unlock()
	k.release()
	l.forget(k)
	if k.err != nil && k.late.Load() {
		k.err = errTime
	}
}

// take waits for a place, in place of the one that the ticket has.
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

// fill gives free places to those who wait.
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

// afford returns the shares that a place is taken from: of an address that asks for it, and
// of its top-level directory. It returns nil if one is used up.
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

// release gives a place back, if the ticket has one.
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

// Enter waits for one of the places of a program. The request has it until ctx ends.
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

// spend bounds the bytes that a making has read and keeps, which its View counts. Beyond the
// bound of a small place, it waits for a large one. It fails when no request waits any more,
// and when the making has spent too much.
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

	// Wait a little for large replies to be sent, and collect garbage.
	for wait := 0; l.held.Load() >= maxHeld+k.kept; wait++ { // of which the cache has the rest
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

// hold counts a large reply until it is neither sent nor kept any more: until it is garbage.
func (l *Limiter) hold(body []byte) {
	if len(body) > small {
		l.held.Add(int64(cap(body)))
		runtime.AddCleanup(&body[0], func(n int) { l.held.Add(int64(-n)) }, cap(body))
	}
}
