package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// plan is the interval between requests that a host requires of a robot at every minute of
// the day. The zero plan requires none.
type plan struct {
	always  time.Duration       // the interval at all times, if minutes is nil
	minutes *[day]time.Duration // set if the interval differs
}

// Two values of a plan are no intervals: with unasked the rule of thumb applies, closed
// forbids requests. A Crawl-delay of 0 is stored as a nanosecond, unlike no Crawl-delay.
const (
	unasked time.Duration = 0
	closed  time.Duration = -1
)

// newPlan reads a plan from the fields that bind a robot. Intervals are at most most.
func newPlan(fields []robots.Field, most time.Duration) plan {
	var delay time.Duration
	var rates []readers.Rate
	var visits []readers.Window
	differs := false
	for _, f := range fields {
		switch f.Name {
		case "crawl-delay":
			// A delay beyond all limits comes with an error, but counts.
			if d, err := readers.ParseCrawlDelay(f.Value); err == nil || d > 0 {
				delay = max(delay, d, 1)
			}
		case "request-rate":
			if r, err := readers.ParseRequestRate(f.Value); err == nil {
				rates = append(rates, r)
				differs = differs || r.Window != nil
			}
		case "visit-time":
			if w, err := readers.ParseVisitTime(f.Value); err == nil {
				visits = append(visits, w)
				differs = true
			}
		}
	}
	if !differs {
		return plan{always: min(slower(delay, rates, time.Unix(0, 0)), most)}
	}
	p := plan{minutes: new([day]time.Duration)}
	for m := range p.minutes {
		at := time.Unix(int64(m)*60, 0)
		p.minutes[m] = closed
		isOpen := func(w readers.Window) bool { return w.Contains(at) }
		if len(visits) == 0 || slices.ContainsFunc(visits, isOpen) { // C7
			p.minutes[m] = min(slower(delay, rates, at), most)
		}
	}
	return p
}

// slower is the longer of a delay and the interval of the rate at a time.
func slower(delay time.Duration, rates []readers.Rate, at time.Time) time.Duration {
	r, _ := readers.EffectiveRate(rates, at)
	return max(delay, r.Interval())
}

// next returns the earliest time, not before now, at which the request after last may start;
// thumb is the interval if the host requires none.
func (p plan) next(last, now time.Time, thumb time.Duration) time.Time {
	if p.minutes == nil {
		return later(now, last.Add(cmp.Or(p.always, thumb)))
	}
	// Some minute is open, and no interval is longer than MaxDelay: this ends.
	for t := now; ; {
		end := t.Truncate(time.Minute).Add(time.Minute)
		if d := p.minutes[minuteOf(t)]; d != closed {
			if start := later(t, last.Add(cmp.Or(d, thumb))); start.Before(end) {
				return start
			}
		}
		t = end
	}
}

// interval returns the interval that the host requires at a time; thumb if it requires none.
func (p plan) interval(now time.Time, thumb time.Duration) time.Duration {
	if p.minutes == nil {
		return cmp.Or(p.always, thumb)
	}
	return cmp.Or(p.minutes[minuteOf(now)], thumb)
}

// day is the minutes of one day in UT.
const day = 24 * 60

// minuteOf is the minute of the day in UT.
func minuteOf(t time.Time) int {
	t = t.UTC()
	return t.Hour()*60 + t.Minute()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
