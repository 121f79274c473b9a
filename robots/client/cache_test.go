package client

import (
	"context"
	"encoding/json"
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
	"github.com/gophd/gophd/robots/internal/robotstest"
)

// TestClientDay proves G2 and R13: a file is good for 24 h, no longer, and one
// that is not there as long.
func TestClientDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, doc := range []string{denyA, "404"} {
			p := places{docs: map[string]string{onWeb: doc}}
			c := Client{Fetch: p.fetch, MaxAge: 100 * time.Hour}
			for i, pause := range []time.Duration{0, 24*time.Hour - 1, 1, time.Hour} {
				time.Sleep(pause)
				mustGet(t, &c, "https://h/")
				if want := 1 + i/2; p.count() != want {
					t.Errorf("%q: %d fetches after pause %d, want %d", doc, p.count(), i, want)
				}
			}
		}
	})
}

// TestClientClock proves that a clock can be put in.
func TestClientClock(t *testing.T) {
	now := time.Unix(0, 0)
	p := places{docs: map[string]string{onWeb: denyA}}
	c := Client{Fetch: p.fetch, Now: func() time.Time { return now }, MaxAge: time.Hour}
	mustGet(t, &c, "https://h/")
	now = now.Add(time.Hour)
	if a := mustGet(t, &c, "https://h/"); p.count() != 2 || !a.Fetched.Equal(now) {
		t.Errorf("%d fetches, the last at %v", p.count(), a.Fetched)
	}
}

// TestClientStale proves R13: while a host is unreachable the old file holds,
// even for years, and it is asked again every few minutes.
func TestClientStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := places{docs: map[string]string{onWeb: denyA}}
		c := Client{Fetch: p.fetch}
		fetched := mustGet(t, &c, "https://h/").Fetched
		p.set(onWeb, "")
		for _, pause := range []time.Duration{24 * time.Hour, 1000 * 24 * time.Hour} {
			time.Sleep(pause)
			a := mustGet(t, &c, "https://h/")
			if !a.Stale || a.Err == nil || !a.Fetched.Equal(fetched) || a.Decide("/a").Allowed || !a.Decide("/b").Allowed {
				t.Errorf("after %v: %+v", pause, a)
			}
		}
		p.set(onWeb, "404")
		time.Sleep(5*time.Minute - 1)
		if a := mustGet(t, &c, "https://h/"); !a.Stale {
			t.Errorf("asked again too soon: %+v", a)
		}
		time.Sleep(time.Nanosecond)
		if a := mustGet(t, &c, "https://h/"); a.Stale || a.Err != nil || a.Access != Unavailable {
			t.Errorf("after the host came back: %+v", a)
		}
	})
}

// TestClientGoneAfterAbsence proves R12: that there was no file once is no
// permission while the host is unreachable, and the 30 days begin again.
func TestClientGoneAfterAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := places{docs: map[string]string{}}
		c := Client{Fetch: p.fetch}
		mustGet(t, &c, "https://h/")
		p.set(onWeb, "404")
		time.Sleep(5 * time.Minute)
		if a := mustGet(t, &c, "https://h/"); a.Access != Unavailable {
			t.Errorf("without a file: %+v", a)
		}
		p.set(onWeb, "")
		time.Sleep(31 * 24 * time.Hour)
		if a := mustGet(t, &c, "https://h/"); a.Access != Unreachable || a.Decide("/a").Allowed {
			t.Errorf("once unreachable: %+v", a)
		}
	})
}

// TestClientThirtyDays proves R12: a web host unreachable for 30 days is taken
// for one without a file; a gopher host stays denied until it is reached.
func TestClientThirtyDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := places{docs: map[string]string{}}
		c := Client{Fetch: p.fetch}
		for _, test := range []struct {
			pause     time.Duration
			web, hole Access
		}{
			{0, Unreachable, Unreachable},
			{30*24*time.Hour - 1, Unreachable, Unreachable},
			{5 * time.Minute, Unavailable, Unreachable},
		} {
			time.Sleep(test.pause)
			web, hole := mustGet(t, &c, "https://h/"), mustGet(t, &c, "gopher://h/")
			if web.Access != test.web || hole.Access != test.hole {
				t.Errorf("after %v: %v and %v", test.pause, web.Access, hole.Access)
			}
			if web.Err == nil {
				t.Error("no error tells that the host is unreachable")
			}
		}
		p.set(first, denyA)
		time.Sleep(5 * time.Minute)
		if a := mustGet(t, &c, "gopher://h/"); a.Access != Successful || a.Err != nil {
			t.Errorf("once reached: %+v", a)
		}
	})
}

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
				if a, err := c.Get(t.Context(), "https://h/"); err != nil || a.Access != Successful {
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
		p.docs[fmt.Sprintf("https://h%d/robots.txt", i)] = denyA + "Content-Usage: search=n\nVisit-time: 0000-2359\n"
	}
	c := Client{Agent: "mybot", Fetch: p.fetch, Store: &store{}, Size: 3, MaxBytes: 9000, MaxAge: time.Nanosecond, Retry: time.Nanosecond, MinDelay: time.Nanosecond}
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
				_, _ = json.Marshal(a)
				_ = a.Preferences(u, nil)
				a.Pace.Refused()
				a.Pace.Answered()
				a.Pace.Follow(a.NotModified(nil).File.Fields("mybot"))
				_ = a.Pace.Next(time.Now())
				switch n % 8 {
				case 0:
					err = c.Flush(t.Context())
				case 1:
					err = c.Restore(t.Context())
				case 2:
					err = c.Put(u, a)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestClientTimeout proves that a host that hangs counts as unreachable.
func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Fetcher{Dial: robotstest.Scripted(t, "> robots.txt\n< Disallow: /a\n...", nil)}
		c := Client{Fetch: f.Fetch}
		start := time.Now()
		a := mustGet(t, &c, "gopher://h/")
		if a.Access != Unreachable || a.Err == nil || time.Since(start) != 30*time.Second {
			t.Errorf("%+v after %v", a, time.Since(start))
		}
	})
}

// TestClientSize proves that the host asked for longest ago is forgotten.
func TestClientSize(t *testing.T) {
	p := places{docs: map[string]string{}}
	c := Client{Fetch: p.fetch, Size: 2}
	for _, host := range []string{"a", "b", "a", "c", "a", "b"} {
		mustGet(t, &c, "http://"+host)
	}
	want := []string{"http://a/robots.txt", "http://b/robots.txt", "http://c/robots.txt", "http://b/robots.txt"}
	if !slices.Equal(p.asked, want) {
		t.Errorf("asked %q, want %q", p.asked, want)
	}
	if n := len(c.cache.hosts); n != 2 || c.cache.recent.Len() != n {
		t.Errorf("%d hosts remembered, %d in order", n, c.cache.recent.Len())
	}
}
