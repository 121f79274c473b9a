package enforce

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// reply collects what a handler writes.
type reply struct{ bytes.Buffer }

func (r *reply) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}

// world is a site, its Enforcer, and a clock.
type world struct {
	*Enforcer
	front *gopher.Front
	t     *testing.T
	now   time.Time
}

func newWorld(t *testing.T, mode Mode, rules string) *world {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{".robots": rules, "a.txt": "a", "b.txt": "b",
		"private/p.txt": "p"})
	s, err := site.Open(dir, site.Config{Watch: site.WatchOff})
	treetest.Must(t, err)
	treetest.Run(t, s.Run)
	if _, err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	w.Enforcer = &Enforcer{Mode: mode, Site: s, now: func() time.Time { return w.now }}
	w.front = &gopher.Front{Host: &answer.Host{Site: s, Cache: answer.NewCache(1 << 20),
		Admission: w.Enforcer}}
	return w
}

// ask asks as a client, and returns what it gets.
func (w *world) ask(from, sel string) string {
	w.t.Helper()
	req := &server.Request{RequestLine: selector.RequestLine{Selector: sel}, Host: "h", Port: 70,
		Remote: netip.AddrPortFrom(netip.MustParseAddr(from), 1)}
	if a, ok := w.front.Quick(req); ok {
		return string(a.Body)
	}
	var r reply
	if err := w.front.ServeGopher(&r, req); err != nil {
		return server.KindOf(err).String()
	}
	return r.String()
}

const crawler, person = "192.0.2.1", "192.0.2.2"

// TestNobodyElseIsTouched: who has not fetched robots.txt may ask for everything.
func TestNobodyElseIsTouched(t *testing.T) {
	w := newWorld(t, Refuse, "Crawl-delay: 10\nDisallow: /private/\n")
	w.ask(crawler, "robots.txt")
	for range 100 {
		if got := w.ask(person, "/private/p.txt"); got != "p" {
			t.Fatalf("got %q", got)
		}
	}
	if c := w.Totals(); c.Robots != 0 || c.Refused+c.Slowed != 0 {
		t.Errorf("%+v", c)
	}
}

// TestPoliteRobot keeps the rules as Veronica does, for a day: it is never touched.
func TestPoliteRobot(t *testing.T) {
	w := newWorld(t, Refuse, "Crawl-delay: 10\nVisit-time: 0600-1800\nDisallow: /private/\n")
	for range 24 * 6 {
		if got := w.ask(crawler, "0/robots.txt"); !strings.HasPrefix(got, "#") &&
			!strings.HasPrefix(got, "User-agent") {
			t.Fatalf("robots.txt: %q", got)
		}
		for range 5 {
			if hour := w.now.Hour(); hour >= 6 && hour < 18 {
				if got := w.ask(crawler, "/a.txt"); got != "a" {
					t.Fatalf("at %v: %q", w.now, got)
				}
			}
			w.now = w.now.Add(10 * time.Second)
		}
		w.now = w.now.Add(9 * time.Minute)
	}
}

// TestRudeRobot asks without a pause: with Slow it gets no more than one in the delay,
// beside those that it waits for.
func TestRudeRobot(t *testing.T) {
	for _, rules := range []string{"Crawl-delay: 10\n", "Request-rate: 6/1m\n"} {
		w := newWorld(t, Slow, rules)
		w.crawl(crawler)
		got := 0
		for range 1000 {
			if wait, _ := w.judge(netip.MustParseAddr(crawler), "/a.txt"); wait <= maxWait {
				got++
			}
			w.now = w.now.Add(100 * time.Millisecond)
		}
		if got < 10 || got > 10+int(maxWait/(10*time.Second))+1 {
			t.Errorf("%q: %d replies in 100 s", rules, got)
		}
		w.now = w.now.Add(time.Hour)
		if got := w.ask(crawler, "/a.txt"); got != "a" {
			t.Errorf("an hour later: %q", got)
		}
	}
}

// crawl lets a client become a robot: it fetches the file, looks at no menu, and requests
// many selectors.
func (w *world) crawl(from string) {
	w.t.Helper()
	w.ask(from, "robots.txt")
	for range crawled {
		w.ask(from, "/a.txt")
	}
	w.judge(netip.MustParseAddr(from), "/a.txt")
	w.known[netip.MustParseAddr(from)].next = time.Time{}
	if n := w.Totals().Robots; n != 1 {
		w.t.Fatalf("%d robots", n)
	}
}

// TestWhoIsARobot: what clients do before and after they fetch the file says what they
// are. Minutes pass where a number stands.
func TestWhoIsARobot(t *testing.T) {
	many := func(n int, sel string) []string { return slices.Repeat([]string{sel}, n) }
	denied := many(5, "/private/p.txt")
	for name, c := range map[string]struct {
		asks  []string
		robot bool
	}{
		"an administrator": {[]string{"robots.txt"}, false},
		"an administrator who looks on": {append([]string{"robots.txt", "/"},
			many(19, "/a.txt")...), false},
		"a crawler": {append([]string{"robots.txt", "/"},
			many(20, "/a.txt")...), true},
		"a slow reader": {append(append([]string{"robots.txt"},
			many(20, "/a.txt")...), "11", "/a.txt"), false},
		"a reader who followed a link": {append([]string{"/", "robots.txt"},
			many(200, "/a.txt")...), false},
		"that reader, and denied texts": {append([]string{"/", "robots.txt"},
			many(50, "/private/p.txt")...), false},
		"a reader of yesterday": {append([]string{"/", "70", "robots.txt"},
			many(21, "/a.txt")...), true},
		"a browser that a page sends": {many(20, "robots.txt"), false},
		"who fetches it twice": {[]string{"/", "robots.txt", "/a.txt", "robots.txt",
			"/a.txt"}, false},
		"who makes up a menu": {append([]string{"/nothing-there/", "robots.txt"},
			many(21, "/a.txt")...), true},
		"who makes up a menu later": {append([]string{"robots.txt", "/nothing-there/",
			"robots.txt"}, many(21, "/a.txt")...), true},
		"who reads a menu later": {append([]string{"robots.txt", "/private/",
			"robots.txt"}, many(21, "/a.txt")...), false},
		"who goes on past refusals": {append([]string{"robots.txt"}, denied...), true},
		"who does not go on":        {append([]string{"robots.txt"}, denied[:4]...), false},
		"who is told about it": {append([]string{"/about-robots"},
			many(100, "/a.txt")...), false},
		"a reader who never has the file": {many(100, "/private/p.txt"), false},
	} {
		w := newWorld(t, Refuse, "Crawl-delay: 10\nDisallow: /private/\n")
		for _, sel := range c.asks {
			if n, err := strconv.Atoi(sel); err == nil {
				w.now = w.now.Add(time.Duration(n) * time.Minute)
				continue
			}
			if got := w.ask(crawler, sel); strings.HasPrefix(name, "that reader") &&
				got == "forbidden" {
				t.Errorf("%s is refused", name)
			}
		}
		if got := w.Totals().Robots == 1; got != c.robot {
			t.Errorf("%s: a robot: %v", name, got)
		}
	}
}

// TestEmbedded: a page elsewhere can make a browser load the file as a part of it.
func TestEmbedded(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /private/\n")
	r := &server.Request{RequestLine: selector.RequestLine{Selector: "/robots.txt"}, Embedded: true,
		Remote: netip.AddrPortFrom(netip.MustParseAddr(person), 1)}
	if err := w.Admit(r); err != nil || !w.AdmitNow(r) {
		t.Errorf("it is refused: %v", err)
	}
	for range 5 {
		if got := w.ask(person, "/private/p.txt"); got != "p" {
			t.Errorf("the reader gets %q", got)
		}
	}
}

// TestDenied: two denied selectors may be a mistake, the third is none. After a day
// without robots.txt the client is nobody again.
func TestDenied(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /private/\nAllow: /private/open.txt\n")
	w.ask(crawler, "robots.txt")
	for i, want := range []string{"p", "p", "forbidden", "forbidden"} {
		if got := w.ask(crawler, "/private/p.txt"); got != want {
			t.Errorf("number %d: %q, want %q", i+1, got, want)
		}
	}
	if got := w.ask(crawler, "/a.txt"); got != "a" {
		t.Errorf("what is allowed: %q", got)
	}
	if msg := server.ErrorMessage(&server.Error{Kind: server.Forbidden}); msg != "Not for robots: see robots.txt" {
		t.Errorf("the client reads %q", msg)
	}
	w.now = w.now.Add(24 * time.Hour)
	if got := w.ask(crawler, "/private/p.txt"); got != "p" {
		t.Errorf("a day later: %q", got)
	}
}

// TestHours refuses outside of Visit-time.
func TestHours(t *testing.T) {
	w := newWorld(t, Refuse, "Visit-time: 0100-0500\n")
	w.crawl(crawler)
	if got := w.ask(crawler, "/a.txt"); got != "forbidden" {
		t.Errorf("at noon: %q", got)
	}
	w.now = w.now.Add(15 * time.Hour)
	if got := w.ask(crawler, "/a.txt"); got != "a" {
		t.Errorf("at three: %q", got)
	}
}

// TestTheFileItGot: a robot is held to the file that it has read, not to a later one.
func TestTheFileItGot(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /b.txt\n")
	w.ask(crawler, "robots.txt")
	w.known[netip.MustParseAddr(crawler)].denied = forgiven
	later := *w.Site.Now()
	later.Robots = []byte("User-agent: *\nDisallow: /a.txt\n")
	w.last = nil
	w.rulesOf(&later)
	if got := w.ask(crawler, "/a.txt"); got != "a" {
		t.Errorf("what the later file denies: %q", got)
	}
	if got := w.ask(crawler, "/b.txt"); got != "forbidden" {
		t.Errorf("what its file denies: %q", got)
	}
}

func TestSpared(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /\n")
	w.Spare = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("2001:db8::5/128")}
	for _, from := range []string{crawler, "2001:db8::5", "::ffff:192.0.2.9"} {
		w.ask(from, "robots.txt")
		for range 5 {
			if got := w.ask(from, "/a.txt"); got != "a" {
				t.Fatalf("%s: %q", from, got)
			}
		}
	}
	if c := w.Totals(); c.Robots != 0 {
		t.Errorf("%+v", c)
	}
}

// TestBlockIsOneClient: addresses of one /56 are one client.
func TestBlockIsOneClient(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /private/\n")
	w.ask("2001:db8:1:a0::1", "robots.txt")
	w.ask("2001:db8:1:a7::2", "/private/p.txt")
	w.ask("2001:db8:1:a8::2", "/private/p.txt")
	for range 3 {
		w.ask("fc00:dead:beef:4dad::1:2", "robots.txt") // of Tor: each circuit is a client
	}
	for from, want := range map[string]string{"2001:db8:1:a9::3": "forbidden",
		"2001:db8:1:1b9::3": "p", "fc00:dead:beef:4dad::1:3": "p"} {
		if got := w.ask(from, "/private/p.txt"); got != want {
			t.Errorf("from %s: %q, want %q", from, got, want)
		}
	}
}

// address returns one of many.
func address(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }

// TestTableIsBounded: the client that fetched the file first is forgotten, the last is not.
func TestTableIsBounded(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /private/\n")
	for i := range maxClients + 500 {
		w.ask(address(i), "robots.txt")
		w.now = w.now.Add(time.Second)
	}
	for i, want := range map[int]string{0: "p", maxClients + 499: "forbidden"} {
		got := ""
		for range 3 {
			got = w.ask(address(i), "/private/p.txt")
		}
		if got != want {
			t.Errorf("number %d: %q, want %q", i, got, want)
		}
	}
}

// TestReadersAreBounded: of those that looked at a menu before, some are taken for robots
// when very many have.
func TestReadersAreBounded(t *testing.T) {
	w := newWorld(t, Refuse, "Disallow: /private/\n")
	for i := range maxReaders + 1 {
		w.ask(address(i), "/")
	}
	got := map[string]int{}
	for i := 0; i < maxReaders; i += 32 {
		w.ask(address(i), "robots.txt")
		answer := ""
		for range 3 {
			answer = w.ask(address(i), "/private/p.txt")
		}
		got[answer]++
	}
	if got["p"] < maxReaders/64 || got["forbidden"] == 0 {
		t.Errorf("answers: %v", got)
	}
}

// TestSlow answers late instead, and refuses what would wait too long.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Enforcer{Mode: Slow}
		began := time.Now()
		if !e.delay(t.Context(), 5*time.Second) || time.Since(began) != 5*time.Second {
			t.Errorf("waited %v", time.Since(began))
		}
		if e.delay(t.Context(), maxWait+1) {
			t.Error("waits too long")
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		if e.delay(ctx, 5*time.Second) {
			t.Error("waits though the client has gone")
		}
		done := make(chan bool, maxWaiting)
		for range maxWaiting {
			go func() { done <- e.delay(t.Context(), time.Second) }()
		}
		synctest.Wait()
		if e.delay(t.Context(), time.Second) {
			t.Error("too many wait")
		}
		for range maxWaiting {
			if !<-done {
				t.Error("one did not wait")
			}
		}
		if n := e.waiting.Load(); n != 0 {
			t.Errorf("%d wait at the end", n)
		}
	})
}

func TestSlowIsLate(t *testing.T) {
	w := newWorld(t, Slow, "Crawl-delay: 0.2\n")
	w.crawl(crawler)
	for i := range 3 {
		if got := w.ask(crawler, "/a.txt"); got != "a" {
			t.Errorf("number %d: %q", i, got)
		}
	}
	if c := w.Totals(); c.Slowed != 2 || c.Refused != 0 {
		t.Errorf("%+v", c)
	}
}
