package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// plan is the interval between requests that a host requires of a robot: in each minute of
// the day in UT or, if it never changes, once. The empty plan requires none.
type plan []time.Duration

// day is the minutes of one day.
const day = 24 * 60

// closed is the interval of a minute without requests. With an interval of 0 the rule of thumb
// applies; a Crawl-delay of 0 is stored as a nanosecond.
const closed time.Duration = -1

// newPlan reads a plan from the fields that bind a robot. Intervals are at most most.
func newPlan(fields []robots.Field, most time.Duration) plan {
	var delay time.Duration
	var rates []readers.Rate
	var visits []readers.Window
	minutes := 1
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
				if r.Window != nil {
					minutes = day
				}
			}
		case "visit-time":
			if w, err := readers.ParseVisitTime(f.Value); err == nil {
				visits = append(visits, w)
				minutes = day
			}
		}
	}

	p := make(plan, minutes)
	for m := range p {
		at := time.Unix(int64(m)*60, 0)
		rate, _ := readers.EffectiveRate(rates, at)
		p[m] = min(max(delay, rate.Interval()), most)
		isOpen := func(w readers.Window) bool { return w.Contains(at) }
		if len(visits) > 0 && !slices.ContainsFunc(visits, isOpen) { // C7
			p[m] = closed
		}
	}
	return p
}

// interval returns the interval at a time; thumb if the host requires none.
func (p plan) interval(at time.Time, thumb time.Duration) time.Duration {
	if len(p) == 0 {
		return thumb
	}
	at = at.UTC()
	minute := at.Hour()*60 + at.Minute()
	return cmp.Or(p[minute%len(p)], thumb)
}

// next returns the earliest time, not before now, at which the request after last may start;
// thumb is the interval if the host requires none.
func (p plan) next(last, now time.Time, thumb time.Duration) time.Time {
	// Some minute is open, and no interval is longer than MaxDelay: this ends.
	for t := now; ; {
		end := t.Truncate(time.Minute).Add(time.Minute)
		if d := p.interval(t, thumb); d != closed {
			start := later(t, last.Add(d))
			if len(p) < day || start.Before(end) {
				return start
			}
		}
		t = end
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
