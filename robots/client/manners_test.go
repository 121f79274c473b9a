package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/robots/internal/robotstest"
)

// TestManyHosts: past every bound a host's pace is kept while it must not be asked;
// 1,025 hosts in three rounds once cost 3,075 fetches and 2,050 requests too early.
func TestManyHosts(t *testing.T) {
	for name, c := range map[string]*Client{
		"default": {}, "few bytes": {MaxBytes: 1}, "some": {MaxBytes: 100 * hostBytes},
	} {
		synctest.Test(t, func(t *testing.T) {
			const hosts = 1025
			p := places{docs: map[string]string{}}
			for i := range hosts {
				p.docs[fmt.Sprintf("https://h%d/robots.txt",
					i)] = "User-agent: *\nDisallow: /x\nCrawl-delay: 10000\n"
			}
			c.Fetch = p.fetch
			early := 0
			for range 3 {
				for i := range hosts {
					a := mustGet(t, c, fmt.Sprintf("https://h%d/a", i))
					if a.Allowed("/x") {
						t.Fatalf("%s: h%d lets in", name, i)
					}
					if a.Pace.Next(time.Now()) != time.Now() {
						early++
						continue
					}
					if err := a.Pace.Wait(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if early != 2*hosts {
				t.Errorf("%s: %d requests had to wait, want %d", name, early, 2*hosts)
			}
			if most := map[bool]int{true: 3 * hosts,
				false: hosts}[c.MaxBytes > 0]; p.count() > most {
				t.Errorf("%s: %d fetches", name, p.count())
			}
			// Once they may be asked again, the hosts that are too many go.
			time.Sleep(2 * time.Hour)
			for i := range 10 {
				mustGet(t, c, fmt.Sprintf("https://h%d/", i))
			}
			if n := len(c.cache.hosts); c.MaxBytes > 0 &&
				c.cache.bytes > c.MaxBytes+10*(hostBytes+fileBytes) {
				t.Errorf("%s: %d hosts, %d bytes", name, n, c.cache.bytes)
			}
		})
	}
}

// TestMaxDelay: no host makes a robot wait longer than its author allows.
func TestMaxDelay(t *testing.T) {
	p := places{docs: map[string]string{onWeb: "User-agent: *\nCrawl-delay: 86400\n",
		"https://r/robots.txt": "User-agent: *\nRequest-rate: 1/2d\nVisit-time: 0000-2400\n"}}
	for _, test := range []struct {
		url        string
		most, want time.Duration
	}{
		{"https://h/", 5 * time.Second, 5 * time.Second},
		{"https://h/", 48 * time.Hour, 24 * time.Hour},
		{"https://r/", 5 * time.Second, 5 * time.Second},
		{"https://r/", 0, time.Hour},
		{"https://r/", 48 * time.Hour, 48 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := mustGet(t, &Client{Fetch: p.fetch, MaxDelay: test.most}, test.url)
			mustWait(t, a.Pace)
			if got := untilNext(a.Pace); got != test.want {
				t.Errorf("%+v: waits %v", test, got)
			}
		})
	}
}

// store is a Store in memory.
type store struct{ kept sync.Map }

func (s *store) Load(_ context.Context, origin string) ([]byte, error) {
	if data, ok := s.kept.Load(origin); ok {
		return data.([]byte), nil
	}
	return nil, fs.ErrNotExist
}

func (s *store) Save(_ context.Context, origin string, data []byte) error {
	s.kept.Store(origin, data)
	return nil
}

// TestStore: a robot that is started again knows the files, the paces, what hosts asked
// for, and since when they fail.
func TestStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &store{}
		p := places{docs: map[string]string{onWeb: denyA + "Crawl-delay: 60\n",
			"https://slow/robots.txt": "404"}}
		c := Client{Fetch: p.fetch, Store: kept}
		a := mustGet(t, &c, "https://h/")
		mustWait(t, a.Pace)
		mustGet(t, &c, "https://slow/").Pace.Hold(time.Now().Add(3 * time.Hour))
		mustGet(t, &c, "https://gone/")
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := p.count()
		again := Client{Fetch: p.fetch, Store: kept}
		b := mustGet(t, &again, "https://h/")
		if b.Allowed("/a") || !b.Fetched.Equal(a.Fetched) ||
			untilNext(b.Pace) != time.Minute {
			t.Errorf("the file of %v, next request in %v", b.Fetched,
				untilNext(b.Pace))
		}
		if wait := untilNext(mustGet(t, &again,
			"https://slow/").Pace); wait != 3*time.Hour {
			t.Errorf("held for %v", wait)
		}
		if g := mustGet(t, &again, "https://gone/"); g.Access != Unreachable ||
			p.count() != asked {
			t.Errorf("the host that failed: %v, %d fetches", g.Access, p.count()-asked)
		}
		time.Sleep(31 * 24 * time.Hour)
		now := time.Now().Format(time.RFC3339)
		for _, record := range []string{"{broken", `{"tried":"` + now + `"}`,
			`{"fetched":"` + now + `","tried":"9999-01-01T00:00:00Z"}`,
			`{"url":"https://h/robots.txt","dialect":"rfc9309","tried":"` + now + `"}`,
			`{"fetched":"` + now + `","url":"x","dialect":"x","tried":"` + now + `"}`} {
			_ = kept.Save(t.Context(), "https://h:443", []byte(record))
			if b := mustGet(t, &Client{Fetch: p.fetch, Store: kept},
				"https://h/"); b.Allowed("/a") || b.Access != Successful {
				t.Errorf("%s: %v", record, b.Access)
			}
		}
	})
}

// TestFreshness: how long a file is good, by its status, Cache-Control, Age and Retry-After,
// within the 24 hours of R13; a validator is sent; a host that refuses its file slows the pace.
func TestFreshness(t *testing.T) {
	for _, test := range []struct {
		status  int
		header  string
		good    time.Duration
		checked int // replies 304
	}{
		{200, "", 24 * time.Hour, 0},
		{404, "", 24 * time.Hour, 0},
		{429, "", 5 * time.Minute, 0},
		{500, "", 5 * time.Minute, 0},
		{0, "", 5 * time.Minute, 0},
		{200, "Cache-Control: max-age=3600", time.Hour, 0},
		{200, "Cache-Control: public, Max-Age=\"7200\"", 2 * time.Hour, 0},
		{200, "Cache-Control: max-age=999999999", 24 * time.Hour, 0},
		{200, "Cache-Control: no-cache, max-age=7200", 5 * time.Minute, 0},
		{200, "Cache-Control: max-age=0", 5 * time.Minute, 0},
		{200, "Cache-Control: max-age=x", 24 * time.Hour, 0},
		{200, "Cache-Control: max-age=7200\nAge: 3600", time.Hour, 0},
		{200, "Cache-Control: max-age=7200\nAge: 9999", 5 * time.Minute, 0},
		{200, "Etag: \"7\"", 24 * time.Hour, 2},
		{200, "Etag: \"7\"\nCache-Control: max-age=3600", time.Hour, 2},
		{200, "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", 24 * time.Hour, 2},
		{503, "Retry-After: 7200", 2 * time.Hour, 0},
		{503, "Retry-After: soon", 5 * time.Minute, 0},
		{429, "Retry-After: 99999999", 24 * time.Hour, 0},
		{500, "Retry-After: Sat, 01 Jan 2000 02:00:00 GMT", 2 * time.Hour, 0},
		{503, "Retry-After: Fri, 31 Dec 1999 00:00:00 GMT", 5 * time.Minute, 0},
		{503, "Retry-After: Mon, 10 Jan 2000 00:00:00 GMT", 24 * time.Hour, 0},
	} {
		header := http.Header{}
		for line := range strings.Lines(test.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			header.Set(name, value)
		}
		synctest.Test(t, func(t *testing.T) {
			requests, checked := 0, 0
			f := Fetcher{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				requests++
				resp := &http.Response{Request: req, StatusCode: test.status,
					Header: header.Clone(), Body: io.NopCloser(strings.NewReader(denyA))}
				if req.Header.Get("If-None-Match") == `"7"` ||
					req.Header.Get("If-Modified-Since") != "" {
					checked++
					resp.StatusCode, resp.Body = http.StatusNotModified, http.NoBody
					resp.Header.Del("Cache-Control")
				}
				return resp, nil
			})}
			b := FromResponse(me, test.status, header, nil)
			if got := time.Until(b.Until); got != test.good {
				t.Errorf("%+v: FromResponse: good for %v", test, got)
			}
			if again := b.NotModified(nil); test.status == 200 && time.Until(again.Until) != test.good {
				t.Errorf("%+v: NotModified: good until %v", test, again.Until)
			}
			c := Client{Fetcher: &f}
			var a *HostRules
			for i, pause := range []time.Duration{0, test.good - 1, 1, test.good} {
				time.Sleep(pause)
				a = mustGet(t, &c, "https://h/")
				if want := []int{1, 1, 2, 3}[i]; requests != want || a.Stale ||
					a.Allowed("/a") != (test.status == 404) ||
					test.status == 200 && a.Until.Sub(a.Fetched) != test.good {
					t.Errorf("%+v, step %d: %d requests, want %d; %v until %v", test, i,
						requests, want, a.Access, a.Until)
				}
			}
			if checked != test.checked {
				t.Errorf("%+v: %d replies 304, want %d", test, checked, test.checked)
			}

			for _, p := range []*Pace{a.Pace, b.Pace} {
				mustWait(t, p)
				slow := untilNext(p) > 10*time.Second
				if slow != (test.status == 429 || test.status >= 500) {
					t.Errorf("%+v: the host's pace is slower: %v", test, slow)
				}
			}
		})
	}
}

// TestTransport: any HTTP client asks, waits, and asks again where it is redirected; what it
// gets sets the pace.
func TestTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Client{Agent: "mybot", MinDelay: time.Nanosecond}
		browser := http.Client{Transport: &Transport{Client: &c, Base: web{
			"http://h/robots.txt": "200 User-agent: mybot\nDisallow: /private\n",
			"http://h/to-private": "301 /private", "http://h/to-b": "302 /b", "http://h/b": "200",
			"http://h/busy": "503"}}}
		for path, denied := range map[string]bool{"/b": false, "/private/x": true,
			"/to-private": true, "/to-b": false, "/busy": false} {
			resp, err := browser.Get("http://h" + path)
			if d, ok := errors.AsType[*DeniedError](err); denied && (!errors.Is(err, ErrDenied) ||
				!ok || d.Decision.Rule.Line != 2 || !strings.Contains(err.Error(), "line 2")) {
				t.Errorf("%s: %v", path, err)
			} else if !denied && (err != nil || resp.Body.Close() != nil) {
				t.Errorf("%s: %v", path, err)
			}
			if wait := untilNext(mustGet(t, &c, "http://h/").Pace); path == "/busy" &&
				wait != time.Second {
				t.Errorf("after 503: the next request in %v", wait)
			}
		}
	})
}

// TestGemini: robots files and documents over Gemini, by its statuses.
func TestGemini(t *testing.T) {
	secure, trusting := robotstest.Certificate(t)
	synctest.Test(t, func(t *testing.T) {
		robotsTxt := "20 text/plain\r\nUser-agent: *\nDisallow: /private\nCrawl-delay: 0.001\n"
		answer := func(request string) string {
			switch path := strings.TrimPrefix(strings.TrimSpace(request),
				"gemini://example.com"); path {
			case "/robots.txt":
				return robotsTxt
			case "/moved":
				return "30 /private/y\r\n"
			case "/":
				return "20 text/gemini\r\n# hello\n"
			case "/slow":
				return "44 3600\r\n"
			}
			return "51 not here\r\n"
		}
		dial := gopherServer(t, secure, answer)
		f := &Fetcher{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "example.com:1965" {
				return nil, errors.New("no route")
			}
			return dial(ctx, network, address)
		}}
		for _, config := range []*tls.Config{nil, trusting} {
			f.TLS = config
			c := Client{Fetcher: f, MinDelay: time.Nanosecond}
			for path, want := range map[string]string{"": "20 # hello\n", "/private/x": "denied",
				"/moved": "denied", "/none": "51 "} {
				r, err := c.Do(t.Context(), "gemini://example.com"+path)
				got := "denied"
				if !errors.Is(err, ErrDenied) && err == nil {
					body, _ := io.ReadAll(r.Body)
					got = fmt.Sprint(r.Status, " ", string(body))
				}
				if got != want {
					t.Errorf("%q: %s, %v, want %s", path, got, err, want)
				}
			}
			if _, err := c.Do(t.Context(), "gemini://example.com/slow"); err != nil {
				t.Fatal(err)
			}
			if wait := untilNext(mustGet(t, &c,
				"gemini://example.com/").Pace); wait < 50*time.Minute {
				t.Errorf("after 44: the next request in %v", wait)
			}
		}
		for header, want := range map[string]Access{"51 no": Unavailable, "59 bad": Unavailable,
			"60 cert": Unavailable, "40 later": Unreachable, "44 60": Unreachable, "hello": Unreachable,
			"20": Successful} {
			robotsTxt = header + "\r\n"
			if a := mustGet(t, &Client{Fetcher: f}, "gemini://example.com/"); a.Access != want {
				t.Errorf("%s: %v, %v, want %v", header, a.Access, a.Err, want)
			}
		}
		if a := mustGet(t, &Client{Fetcher: f}, "gemini://elsewhere/"); a.Access != Unreachable ||
			a.Allowed("/") {
			t.Errorf("nobody there: %v", a.Access)
		}
	})
}
