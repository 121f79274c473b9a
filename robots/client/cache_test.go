package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/ask"
)

// TestClientOneFetch proves that many waiters share one fetch, and that one who
// leaves, even the first, does not end it.
func TestClientOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetches := 0
		c := Client{Fetch: func(ctx context.Context, _ *url.URL) (io.ReadCloser, error) {
			fetches++
			if err := ask.Sleep(ctx, 10*time.Second); err != nil {
				return nil, err
			}
			return io.NopCloser(strings.NewReader(denyA)), nil
		}}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Get(impatient, "https://h/"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first gets %v, want the end of its context", err)
			}
		})
		synctest.Wait()
		for range 100 {
			wg.Go(func() {
				if a, err := c.Get(t.Context(), "https://h/"); err != nil ||
					a.Access != Successful {
					t.Errorf("a waiter gets %v, %v", a, err)
				}
			})
		}
		wg.Wait()
		if fetches != 1 {
			t.Errorf("%d fetches, want 1", fetches)
		}
	})
}

// TestConcurrentUse: many goroutines use one client and its answers in every way; the race
// detector watches.
func TestConcurrentUse(t *testing.T) {
	p := places{docs: map[string]string{}}
	for i := range 8 {
		p.docs[fmt.Sprintf("https://h%d/robots.txt", i)] = denyA +
			"Content-Usage: search=n\nVisit-time: 0000-2359\n"
	}
	c := Client{Agent: "mybot", Fetch: p.fetch, Store: &store{}, MaxBytes: 9000,
		MaxAge: time.Nanosecond, MinDelay: time.Nanosecond}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 40 {
				u := fmt.Sprintf("https://h%d/a", (i+n)%9)
				a, err := c.Get(t.Context(), u)
				if err != nil || a.Allowed(u) {
					t.Errorf("%s: %v, %v", u, a, err)
					return
				}
				_ = a.Preferences(u, nil)
				a.Pace.Refused()
				a.Pace.Answered()
				a.Pace.Follow(a.NotModified(nil).File.Fields("mybot"))
				_ = a.Pace.Next(time.Now())
				if n%8 == 0 {
					if err := c.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestClientSize proves that the host asked for longest ago is forgotten.
func TestClientSize(t *testing.T) {
	p := places{docs: map[string]string{}}
	c := Client{Fetch: p.fetch, MaxBytes: 3 * hostBytes}
	for _, host := range []string{"a", "b", "a", "c", "a", "b"} {
		mustGet(t, &c, "http://"+host)
	}
	want := []string{"http://a/robots.txt", "http://b/robots.txt", "http://c/robots.txt",
		"http://b/robots.txt"}
	if !slices.Equal(p.asked, want) {
		t.Errorf("asked %q, want %q", p.asked, want)
	}
	if n := len(c.cache.hosts); n != 2 || c.cache.recent.Len() != n {
		t.Errorf("%d hosts remembered, %d in order", n, c.cache.recent.Len())
	}
}

// TestLifeOfHost: what holds while a host's file is there, gone, or cannot be had (G2, R12,
// R13): a file for 24 hours, then until the host is reached; a failure for five minutes. An
// error item of Gopher, or nothing, in place of a file that was there is a failure. A web
// host that fails for thirty days has no file, a hole only if it answers. No restart, and
// no small MaxBytes, changes that.
func TestLifeOfHost(t *testing.T) {
	const hour, day, month = time.Hour, 24 * time.Hour, 30 * 24 * time.Hour
	const item = "3Not found\t\terror.host\t1\r\n.\r\n"
	type step struct {
		wait time.Duration
		doc  string // sent from now on; "": the host cannot be reached
		want string
		ask  int // fetches so far; 0: not counted
	}
	for name, test := range map[string]struct {
		url   string
		most  time.Duration // MaxAge
		steps []step
	}{
		"a day": {onWeb, 100 * hour,
			[]step{{0, denyA, "file", 1}, {day - 1, denyA, "file", 1}, {1, denyA, "file", 2},
				{hour, denyA, "file", 2}}},
		"a day of none": {onWeb, 0,
			[]step{{0, "404", "none", 1}, {day - 1, "404", "none", 1}, {1, "404", "none", 2}}},
		"an hour": {onWeb, hour, []step{{0, denyA, "file", 1}, {hour, denyA, "file", 2}}},
		"stale": {onWeb, 0,
			[]step{{0, denyA, "file", 1}, {day, "", "stale", 2},
				{5*time.Minute - 1, "404", "stale", 2}, {1, "404", "none", 3}}},
		"years": {onWeb, 0,
			[]step{{0, denyA, "file", 1}, {1000 * day, "", "stale", 2},
				{1000 * day, "", "stale", 3}}},
		"thirty days": {onWeb, 0,
			[]step{{0, "", "unreachable", 1}, {month - 1, "", "unreachable", 2},
				{5 * time.Minute, "", "none", 3}}},
		"from anew": {onWeb, 0,
			[]step{{0, "", "unreachable", 1}, {hour, "404", "none", 2},
				{month + day, "", "unreachable", 3}, {month + day, "", "none", 4}}},
		"a hole": {first, 0,
			[]step{{0, "", "unreachable", 0}, {month + day, "", "unreachable", 0},
				{hour, denyA, "file", 0}}},
		"an error item": {first, 0,
			[]step{{0, denyA, "file", 0}, {25 * hour, item, "stale", 0},
				{5 * time.Minute, item, "stale", 0}, {month + day, item, "none", 0}}},
		"nothing": {first, 0,
			[]step{{0, denyA, "file", 0}, {25 * hour, emptyDoc, "stale", 0},
				{month + day, emptyDoc, "stale", 0}, {hour, emptyDoc, "none", 0}}},
		"never a file": {first, 0,
			[]step{{0, emptyDoc, "unreachable", 0}, {5 * time.Minute, emptyDoc, "none", 0}}},
	} {
		for _, mode := range []string{"", "restarted", "without memory"} {
			synctest.Test(t, func(t *testing.T) {
				p := places{docs: map[string]string{}}
				c := &Client{Fetch: p.fetch, MaxAge: test.most, Store: &store{}}
				for i, step := range test.steps {
					time.Sleep(step.wait)
					p.set(test.url, step.doc)
					if test.url == first {
						p.set(second, step.doc)
					}
					if i > 0 && mode == "restarted" || i > 1 && mode == "without memory" {
						c = &Client{Fetch: p.fetch, MaxAge: test.most, Store: c.Store}
					}
					if i == 1 && mode == "without memory" {
						_, o, _ := parse(test.url)
						c.dropFile(c.host(o))
					}
					a := mustGet(t, c, test.url)
					got := map[Access]string{Successful: "file", Unavailable: "none",
						Unreachable: "unreachable"}[a.Access]
					if a.Stale {
						got = "stale"
					}
					if mode == "without memory" && step.want == "stale" &&
						(a.Access == Unreachable || step.wait > month && test.url == onWeb) {
						step.want = got // the file is gone, but not what is known of the host
					}
					if got != step.want || a.Allowed("/a") != (got == "none") ||
						a.Allowed("/b") != (got != "unreachable") {
						t.Errorf("%s %s: step %d: %s, want %s (%v)", name, mode, i, got,
							step.want, a.Err)
					}
					if mode != "without memory" && step.ask > 0 && p.count() != step.ask {
						t.Errorf("%s %s: step %d: %d fetches, want %d", name, mode, i,
							p.count(), step.ask)
					}
					synctest.Wait()
				}
			})
		}
	}
}
