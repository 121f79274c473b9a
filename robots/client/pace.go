package client

// A pace is a plan for every minute of the day and the time of the last
// request. Rates and windows change only at whole minutes, so the next request
// is found by walking from minute to minute, from the earliest time that any
// rate allows; a host without windows needs no walk.

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// The rule of thumb for a host that sets no rate (C8): the longer of ten seconds and twice
// the duration of the last fetch.
const (
	thumbDelay  = 10 * time.Second
	thumbFactor = 2
	minDelay    = time.Second
	maxDelay    = time.Hour
)

// A Pace schedules the requests of one robot to one host. Every interval runs
// from the start of one request to the start of the next. The zero Pace goes by
// the rule of thumb of C8. A Pace must not be copied. Goroutines may share it; they send
// their requests one after the other.
type Pace struct {
	// Min and Max bound the interval, whatever the host requires. Where it requires none, a
	// Min above zero replaces the ten seconds of the rule of thumb. If zero, 1 s and 1 h. They
	// must not be changed once the pace is in use; Max applies to later calls of Follow.
	Min, Max time.Duration

	mu   sync.Mutex
	turn chan struct{} // full while one goroutine waits for its time
	plan plan
	last time.Time // start of the last request; zero: none yet
	hold time.Time // not before
	took time.Duration
	slow time.Duration // the least interval since the host refused requests; zero: it does not
}

// A TooSoon is the error of a request that may start only when its context has ended, or is
// about to end. It is [context.DeadlineExceeded].
type TooSoon struct {
	At time.Time // when it may start
}

// Error names the time.
func (e *TooSoon) Error() string {
	return "too soon: the next request to the host may start at " + e.At.Format(time.RFC3339)
}

// Is makes the error a context.DeadlineExceeded.
func (e *TooSoon) Is(target error) bool {
	return target == context.DeadlineExceeded
}

// update calls change with the lock held.
func (p *Pace) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// Follow makes the pace keep the Crawl-delay, Request-rate and Visit-time lines
// among the fields that bind a robot, instead of those followed before. Where
// several apply at a time, the slowest does; values that do not parse are
// passed over. See [robots.File.Fields].
func (p *Pace) Follow(fields []robots.Field) {
	p.update(func() { p.plan = newPlan(fields, cmp.Or(max(p.Max, 0), maxDelay)) })
}

// Hold delays the next request until a time, as Retry-After does.
func (p *Pace) Hold(until time.Time) {
	p.update(func() { p.hold = later(p.hold, until) })
}

// Took sets how long the last fetch took, for the rule of thumb.
func (p *Pace) Took(d time.Duration) {
	p.update(func() { p.took = d })
}

// Refused slows the pace down after a reply such as 429 or 503: the interval doubles, from
// at least a second up to an hour.
func (p *Pace) Refused() {
	p.update(func() {
		asked := p.plan.interval(time.Now(), p.thumb())
		p.slow = 2 * min(max(p.slow, asked, p.Min, minDelay/2), maxDelay/2)
	})
}

// Answered halves the interval that Refused made longer.
func (p *Pace) Answered() {
	p.update(func() {
		if p.slow /= 2; p.slow < minDelay {
			p.slow = 0
		}
	})
}

// heed learns from a reply: whether the host refused the request, and how long it wants no other.
func (p *Pace) heed(refused bool, wait time.Duration) {
	if refused {
		p.Refused()
	}
	if wait > 0 {
		p.Hold(time.Now().Add(wait))
	}
}

// thumb is the interval by the rule of thumb. The caller holds the lock.
func (p *Pace) thumb() time.Duration {
	return max(cmp.Or(max(p.Min, 0), thumbDelay), thumbFactor*min(p.took, readers.MaxDelay/thumbFactor))
}

// Next is the earliest time, not before now, at which a request may start.
func (p *Pace) Next(now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now = later(now, p.hold)
	if !p.last.IsZero() {
		now = later(now, p.last.Add(max(p.slow, cmp.Or(max(p.Min, 0), minDelay))))
	}
	return p.plan.next(p.last, now, p.thumb())
}

// busy reports whether a request now would come too early.
func (p *Pace) busy(now time.Time) bool {
	last, hold := p.times()
	return hold.After(now) || !last.IsZero() && p.Next(now).After(now)
}

// size is about how many bytes the plan takes.
func (p *Pace) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return 8 * int64(len(p.plan))
}

// times returns the start of the last request, and the end of the hold.
func (p *Pace) times() (last, hold time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last, p.hold
}

// Wait returns when a request may start, and counts that request. If the context would end
// before that, or before the request had as long as the last one took, it returns a
// [TooSoon] at once; if the context ends while it waits, the error of the context. It counts
// no request then. Only the context bounds the wait: hours with Visit-time, an hour with
// Crawl-delay.
func (p *Pace) Wait(ctx context.Context) error {
	var turn chan struct{}
	p.update(func() {
		if p.turn == nil {
			p.turn = make(chan struct{}, 1)
		}
		turn = p.turn
	})
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		now := time.Now()
		next := p.Next(now)
		if !next.After(now) {
			err := ctx.Err()
			if err == nil {
				p.update(func() { p.last = now })
			}
			return err
		}
		var took time.Duration
		p.update(func() { took = p.took })
		if end, ok := ctx.Deadline(); ok && end.Before(next.Add(took)) && ctx.Err() == nil {
			return &TooSoon{At: next}
		}
		if err := ask.Sleep(ctx, time.Until(next)); err != nil {
			return err
		}
	}
}
