package answer

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/server"
)

// Making a menu, a feed or a page may cost a thousand times as much as sending one from
// the cache. Limiter.made makes everything that a request needs:
//
//	join requests for the same → wait for a place → f, which spends → result for all
//
// A request gets what was begun after it arrived. Requests that arrive while the
// same thing is being made wait for the next making, all for the same one; if the
// first result was kept and still holds, the second making finds it and costs
// nothing. A making that no request waits for is cancelled.
//
// Each making begins in a small place. When it has spent more than small bytes, it
// gives that place back and waits for a large one, so that a small making never
// waits for a large one. Places go round the addresses that wait, and no address
// has more than a quarter of the small ones and one large one. While others wait, a
// making that has held a small place for slowAfter, or a large one during one system
// call of that length, is most likely waiting for a disk: it goes on without its
// place, but still counts for its address, and a large one waits for a place when the
// call returns. What large ones hold until they have a place again is bounded: where a
// machine has much to do, any call takes long.

// The bounds of all makings of a process.
const (
	smallPlaces = 32
	largePlaces = 2
	small       = 256 << 10 // bytes that a making may spend in a small place
	maxSpent    = 96 << 20  // bytes that a making may spend in all
	maxTime     = 30 * time.Second
	maxWait     = 45 * time.Second // less than the server's default StallTimeout: clients must be answered
	maxHeld     = 48 << 20         // bytes of large replies in memory besides the cache; then no more are made
	maxSlow     = 256              // small makings that go on without a place, and
	maxHanging  = 8                // large ones, and
	maxStray    = 48 << 20         // bytes that large ones hold without a place
	slowAfter   = 50 * time.Millisecond
)

// placeSize is the kind of a place.
type placeSize int

const (
	isSmall placeSize = iota
	isLarge
	sizes
)

// places are how many there are, and how many an address may have.
var places = [sizes]struct{ all, each int }{{smallPlaces, smallPlaces / 4}, {largePlaces, 1}}

// A Limiter bounds the replies that are made for requests at once; see the package's
// documentation. All hosts of a process share one. The zero value is ready to use.
type Limiter struct {
	held limit.Held // large replies

	mu      sync.Mutex
	next    map[callKey]*call // not begun: requests from now on get what it makes
	now     map[callKey]*call // begun
	used    [sizes]int
	slow    [sizes]int // makings without a place
	stray   int        // bytes that large ones of them, or those that wait again, have spent
	clients map[netip.Addr]*client
	turns   [sizes]list.List // clients with makings that wait, next first
	oldest  list.List        // makings in small places, by when they began
	large   []*call          // makings in large places
	timer   *time.Timer      // nil: no making waits for a place
}

// client is an address block that has places or waits for one.
type client struct {
	addr    netip.Addr
	asks    int // for so many makings
	has     [sizes]int
	waiting [sizes][]*call
	turn    [sizes]*list.Element // nil: nothing waits
}

// Errors of exceeded bounds.
var (
	errOverfull = &server.Error{Kind: server.Busy, Err: errors.New("clients that read slowly hold too many large replies")}
	errSpent    = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply takes more than %d MiB to make", maxSpent>>20)}
	errWait     = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply is waited for longer than %v", maxWait)}
	errTime     = &server.Error{Kind: server.Busy, Err: fmt.Errorf("a reply takes longer than %v to make", maxTime)}
)

// wait waits for a place.
func (k *call) wait(s placeSize) error {
	k.all.mu.Lock()
	k.place, k.granted = s, make(chan struct{})
	granted := k.granted
	for _, c := range k.askers {
		k.all.queue(k, c)
	}
	k.all.fill(s)
	k.all.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-k.ctx.Done():
		return context.Cause(k.ctx)
	}
}

// queue puts a making last in the line of a client.
func (l *Limiter) queue(k *call, c *client) {
	c.waiting[k.place] = append(c.waiting[k.place], k)
	if c.turn[k.place] == nil {
		c.turn[k.place] = l.turns[k.place].PushBack(c)
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(slowAfter, l.passSlow)
	}
}

// fill gives free places to the clients whose turn it is.
func (l *Limiter) fill(s placeSize) {
	skipped := 0
	for l.used[s] < places[s].all && skipped < l.turns[s].Len() {
		e := l.turns[s].Front()
		c := e.Value.(*client)
		if c.addr.IsValid() && c.has[s] >= places[s].each {
			l.turns[s].MoveToBack(e)
			skipped++
			continue
		}
		k := c.first(s)
		if k == nil {
			l.turns[s].Remove(e)
			c.turn[s] = nil
			continue
		}
		l.turns[s].MoveToBack(e)
		skipped = 0
		l.used[s]++
		c.has[s]++
		k.payer = c
		if s == isSmall {
			k.began = time.Now()
			k.order = l.oldest.PushBack(k)
		}
		if s == isLarge {
			l.large = append(l.large, k)
			k.seen = -1
			l.collect(k)
		}
		close(k.granted)
	}
}

// first takes the first making out of a client's line that still waits.
func (c *client) first(s placeSize) *call {
	for len(c.waiting[s]) > 0 {
		k := c.waiting[s][0]
		c.waiting[s] = c.waiting[s][1:]
		if k.payer == nil && k.place == s && k.ctx.Err() == nil {
			return k
		}
	}
	return nil
}

// release gives the place of a making back, if it has one.
func (l *Limiter) release(k *call) {
	c := k.payer
	if c == nil {
		return
	}
	c.has[k.place]--
	l.large = slices.DeleteFunc(l.large, func(o *call) bool { return o == k })
	if k.slow {
		l.slow[k.place]--
	} else {
		l.used[k.place]--
	}
	if k.order != nil {
		l.oldest.Remove(k.order)
	}
	k.payer, k.slow, k.order = nil, false, nil
	l.fill(k.place)
}

// passSlow takes the places of makings that have had them for slowAfter, as long as
// others wait.
func (l *Limiter) passSlow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	for l.turns[isSmall].Len() > 0 && l.slow[isSmall] < maxSlow && l.used[isSmall] == smallPlaces {
		e := l.oldest.Front()
		if e == nil || time.Since(e.Value.(*call).began) < slowAfter {
			break
		}
		k := e.Value.(*call)
		l.oldest.Remove(e)
		k.order, k.slow = nil, true
		l.used[isSmall]--
		l.slow[isSmall]++
		l.fill(isSmall)
	}
	if l.turns[isLarge].Len() > 0 {
		l.passHanging()
	}
	if l.turns[isSmall].Len()+l.turns[isLarge].Len() > 0 {
		l.timer = time.AfterFunc(slowAfter, l.passSlow)
	}
}

// passHanging takes the places of large makings that are in the same system call as
// when it was last called.
func (l *Limiter) passHanging() {
	for _, k := range slices.Clone(l.large) {
		now := k.calls.Load()
		if now%2 == 0 || now != k.seen || l.slow[isLarge] >= maxHanging || l.stray+k.spent > maxStray {
			k.seen = now
			continue
		}
		l.large = slices.DeleteFunc(l.large, func(o *call) bool { return o == k })
		k.slow, k.stray = true, k.spent
		l.stray += k.stray
		k.hanging.Store(true)
		l.used[isLarge]--
		l.slow[isLarge]++
	}
	l.fill(isLarge)
}

// collect ends the count of what a making has spent without a place.
func (l *Limiter) collect(k *call) {
	l.stray -= k.stray
	k.stray = 0
}

// hold counts a large reply until it is neither sent nor kept any more.
func (l *Limiter) hold(body []byte) {
	if len(body) > small {
		l.held.Add(body)
	}
}
