package client

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// fields reads `Name: value` lines.
func fields(lines ...string) []robots.Field {
	var all []robots.Field
	for i, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		all = append(all, robots.Field{Name: strings.ToLower(name),
			Value: strings.TrimSpace(value), Line: i + 1})
	}
	return all
}

// The clock of a synctest bubble starts at midnight UT, 2000-01-01.

// TestPaceIntervals proves C8, Crawl-delay and Min at times that need no window. The
// longer of mine and theirs counts, and mine where they ask for nothing.
func TestPaceIntervals(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []robots.Field
		min    time.Duration
		took   time.Duration
		want   time.Duration
	}{
		{"C8 rule of thumb: ten seconds", nil, 0, time.Second, 10 * time.Second},
		{"C8 rule of thumb: twice the last fetch", nil, 0, 8 * time.Second, 16 * time.Second},
		{"crawl-delay", fields("Crawl-delay: 2.5"), 0, time.Minute, 2500 * time.Millisecond},
		{"crawl-delay of nothing", fields("Crawl-delay: 0"), 0, time.Minute, time.Second},
		{"the longer of two delays", fields("Crawl-delay: 3", "Crawl-delay: 2"), 0, 0,
			3 * time.Second},
		{"a delay beyond all limits", fields("Crawl-delay: 99999999999"), 0, 0, time.Hour},
		{"my delay is longer", fields("Crawl-delay: 0.1"), 3 * time.Second, 0, 3 * time.Second},
		{"my delay is shorter", fields("Crawl-delay: 5"), 3 * time.Second, 0, 5 * time.Second},
		{"my delay, and none of theirs", nil, 3 * time.Second, 0, 3 * time.Second},
		{"my delay is below a second", fields("Crawl-delay: 0"), time.Millisecond, 0,
			time.Millisecond},
		{"my delay is longer than a rate", fields("Request-rate: 1/1 0000-2359"),
			20 * time.Second, 0, 20 * time.Second},
		{"C8 rate", fields("Request-rate: 10/60"), 0, time.Minute, 6 * time.Second},
		{"C8 slowest rate", fields("Request-rate: 10/60", "Request-rate: 1/30"), 0, 0,
			30 * time.Second},
		{"the slower of rate and delay", fields("Request-rate: 10/60", "Crawl-delay: 7"), 0, 0,
			7 * time.Second},
		{"the slower of delay and rate", fields("Request-rate: 1/9", "Crawl-delay: 7"), 0, 0,
			9 * time.Second},
		{"values that do not parse", fields("Request-rate: 10", "Crawl-delay: x", "Visit-time: y"),
			-time.Second, 0, 10 * time.Second},
		{"C8 inside a window", fields("Request-rate: 1/20 0000-0100", "Request-rate: 1/5"), 0, 0,
			20 * time.Second},
		{"C8 outside of all windows", fields("Request-rate: 1/20 0100-0200", "Request-rate: 1/5"),
			0, 0, 5 * time.Second},
		{"C8 outside, and no other", fields("Request-rate: 1/20 0100-0200"), 0, 0,
			10 * time.Second},
		{"a later window is faster", fields("Request-rate: 1/1d", "Request-rate: 1/1m 0010-0020"),
			0, 0, 10 * time.Minute},
		{"the wait ends inside a slower window",
			fields("Request-rate: 1/2m", "Request-rate: 1/1h 0001-0009"), 0, 0, 10 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := Pace{Min: test.min}
			p.Follow(test.fields)
			mustWait(t, &p)
			p.Took(test.took)
			start := time.Now()
			mustWait(t, &p)
			if got := time.Since(start); got != test.want {
				t.Errorf("%s: waited %v, want %v", test.name, got, test.want)
			}
		})
	}
}

func mustWait(t *testing.T, p *Pace) {
	t.Helper()
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// untilNext is how long the next request has to wait.
func untilNext(p *Pace) time.Duration { return time.Until(p.Next(time.Now())) }

// TestPaceVisitTime proves C7: no visit outside of the union of the windows.
func TestPaceVisitTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		p.Follow(fields("Visit-time: 0600-0601", "Visit-time: 2359-0000", "Request-rate: 1/30"))
		var got []string
		for range 9 {
			mustWait(t, &p)
			got = append(got, time.Now().UTC().Format("150405"))
		}
		want := []string{"000000", "000030", "060000", "060030", "060100", "060130", "235900",
			"235930", "000000"}
		if !slices.Equal(got, want) {
			t.Errorf("visits at %v, want %v", got, want)
		}
	})
}

// TestPaceOddBounds: bounds that are none are the defaults, and no Next runs without end.
func TestPaceOddBounds(t *testing.T) {
	for _, d := range []time.Duration{-1, math.MinInt64, math.MaxInt64} {
		p := Pace{Min: min(d, 0), Max: d}
		p.Took(d)
		p.Follow(fields("Visit-time: 0600-0601", "Crawl-delay: 5",
			"Request-rate: 1/365d 0001-2359"))
		p.Refused()
		now := at(0)
		if got := p.Next(now); !got.After(now) || got.Sub(now) > 48*time.Hour {
			t.Errorf("%d: the next request at %v", d, got)
		}
	}
}

// TestPaceManyWaiters proves that goroutines go one after the other, each after
// the full interval, and that one whose context ends takes no turn.
func TestPaceManyWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		p.Follow(fields("Crawl-delay: 5"))
		start := time.Now()
		ended, end := context.WithCancel(t.Context())
		end()
		if err := p.Wait(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait gives %v, want the end of its context", err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { mustWait(t, &p) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait gives %v, want the end of its context", err)
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("Wait returns after %v, its context ended after 1 s", got)
		}
		wg.Wait()
		mustWait(t, &p)
		if got := time.Since(start); got != 20*time.Second {
			t.Errorf("five requests took %v, want 20 s", got)
		}
	})
}

// TestPaceFollowWhileWaiting proves that the last request is remembered when a
// host changes its mind.
func TestPaceFollowWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		start := time.Now()
		mustWait(t, &p)
		go func() {
			time.Sleep(time.Second)
			p.Follow(fields("Crawl-delay: 60"))
		}()
		mustWait(t, &p)
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the second request came after %v, want 1 min", got)
		}
	})
}

// FuzzPlan proves that the next request keeps to the plan it comes from.
func FuzzPlan(f *testing.F) {
	f.Add("0600-0845", "1/20m 1700-0459", "1/1d", "2.5", uint16(100), uint16(400))
	f.Fuzz(func(t *testing.T, visit, rate, untimed, delay string, last, now uint16) {
		all := fields("Visit-time: "+visit, "Request-rate: "+rate, "Request-rate: "+untimed,
			"Crawl-delay: "+delay)
		p := newPlan(all, readers.MaxDelay)
		from := at(int(now))
		before := at(int(last))
		got := p.next(before, from, thumbDelay)
		if got.Before(from) {
			t.Fatalf("next request at %v, before now, %v", got, from)
		}
		if w, err := readers.ParseVisitTime(visit); err == nil && !w.Contains(got) {
			t.Errorf("next request at %v, outside of %v", got, w)
		}
		var rates []readers.Rate
		for _, v := range []string{rate, untimed} {
			if r, err := readers.ParseRequestRate(v); err == nil {
				rates = append(rates, r)
			}
		}
		if r, ok := readers.EffectiveRate(rates, got); ok && got.Sub(before) < r.Interval() {
			t.Errorf("next request %v after the last, faster than %v", got.Sub(before), r)
		}
	})
}

// at is a minute of some day.
func at(minute int) time.Time {
	return time.Date(2002, 11, 5, 0, minute, 30, 0, time.UTC)
}
