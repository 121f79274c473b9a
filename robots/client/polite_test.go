package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// site is a web site in memory: a robots.txt, and pages that say their path.
func site(robotsTxt string, seen *[]string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		*seen = append(*seen, req.URL.Path+" "+req.UserAgent())
		text := req.URL.Path
		if text == "/robots.txt" {
			text = robotsTxt
		}
		return &http.Response{Request: req, StatusCode: http.StatusOK, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

// TestTooSoon: a request that may not start before its deadline fails at once, and says
// when it may.
func TestTooSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		mustWait(t, &p)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := p.Wait(ctx)
		soon, ok := errors.AsType[*TooSoon](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 ||
			!soon.At.Equal(start.Add(10*time.Second)) {
			t.Errorf("%v after %v", err, time.Since(start))
		}

		// The last request took six seconds: the next may start after twelve, and needs six.
		p.Took(6 * time.Second)
		for _, seconds := range []time.Duration{17, 19} {
			ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
			if err := p.Wait(ctx); (err == nil) != (seconds == 19) {
				t.Errorf("%d s: %v", seconds, err)
			}
			cancel()
		}
	})
}

// TestPatient: ten pages with the timeout of an http.Client that is shorter than the pace.
func TestPatient(t *testing.T) {
	base := &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, s := net.Pipe()
			go func() {
				req, err := http.ReadRequest(bufio.NewReader(s))
				switch {
				case err != nil:
				case req.URL.Path == "/page7":
					_, _ = io.WriteString(s,
						"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /page70\r\n\r\n")
				default:
					_, _ = io.WriteString(s,
						"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+req.URL.Path)
				}
				_ = s.Close()
			}()
			return c, nil
		}}
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			bot := &Client{Agent: "mybot",
				Fetch: (&places{docs: map[string]string{"http://h/robots.txt": denyA}}).fetch}
			browser := &http.Client{Timeout: 9 * time.Second,
				Transport: &Transport{Client: bot, Base: base, Patient: patient}}
			got := 0
			for i := range 10 {
				resp, err := browser.Get("http://h/page" + string(rune('0'+i)))
				if err != nil {
					if _, ok := errors.AsType[*TooSoon](err); !ok {
						t.Errorf("patient %v: %v", patient, err)
					}
					continue
				}
				text, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || !strings.HasPrefix(string(text), "/page") {
					t.Errorf("patient %v: %q, %v", patient, text, err)
				}
				got++
			}
			if want := map[bool]int{true: 10, false: 1}[patient]; got != want {
				t.Errorf("patient %v: %d pages, want %d", patient, got, want)
			}

			// Who cancels does not wait.
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			time.AfterFunc(time.Second, cancel)
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://h/last", nil)
			if _, err := browser.Do(req); err == nil ||
				patient && time.Since(start) != time.Second {
				t.Errorf("patient %v: canceled: %v after %v", patient, err, time.Since(start))
			}
		})
	}
}

// TestBaseCarriesRobots: Base sends the requests for robots.txt, too, under the name that
// pages are requested with; a Transport that is its own Base is an error.
func TestBaseCarriesRobots(t *testing.T) {
	for agent, want := range map[string]string{"": "mybot", "colly - https://x": "mybot",
		"Mozilla/5.0 (compatible; MyBot/1.0)": "Mozilla/5.0 (compatible; MyBot/1.0)"} {
		var seen []string
		tr := &Transport{Client: &Client{Agent: "mybot", MinDelay: time.Nanosecond}, Base: site(denyA, &seen)}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://h/b", nil)
		req.Header.Set("User-Agent", agent)
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if !slices.Equal(seen, []string{"/robots.txt " + want, "/b " + want}) {
			t.Errorf("%q: %q", agent, seen)
		}
		req, _ = http.NewRequestWithContext(t.Context(), http.MethodGet, "http://h/a", nil)
		if _, err := tr.RoundTrip(req); !errors.Is(err, ErrDenied) {
			t.Errorf("denied: %v", err)
		}
	}

	var closed closer
	tr := &Transport{Client: &Client{MinDelay: time.Nanosecond}, Base: &closed}
	(&http.Client{Transport: tr}).CloseIdleConnections()
	if !closed {
		t.Error("idle connections stay open")
	}
	tr.Base = roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/robots.txt" {
			return nil, errors.New("no route")
		}
		return tr.RoundTrip(req)
	})
	tr.Client.Fetcher = &Fetcher{Transport: web{"http://h/robots.txt": "404"}}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://h/a", nil)
	req.Header = nil
	if _, err := tr.RoundTrip(req); !errors.Is(err, errLoop) {
		t.Errorf("its own base: %v", err)
	}
	if _, err := (&Transport{}).RoundTrip(req); !errors.Is(err, errNoClient) {
		t.Errorf("no client: %v", err)
	}
	if _, err := tr.RoundTrip(&http.Request{}); err == nil {
		t.Error("a request without a URL")
	}
	tr.Base = tr
	tr.CloseIdleConnections()
}

type closer bool

func (c *closer) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, io.EOF
}
func (c *closer) CloseIdleConnections() { *c = true }

// TestBackOff: the interval doubles with each refusal in a row, up to an hour, and halves
// after a success.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pace{Min: 10 * time.Second}
		a := &HostRules{Pace: &p}
		next := func() time.Duration { return untilNext(&p) }
		mustWait(t, &p)
		for _, want := range []time.Duration{20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600} {
			a.learn(&Reply{Status: 503, Header: http.Header{}}, 0)
			if next() != want*time.Second {
				t.Errorf("after a refusal: %v, want %vs", next(), int(want))
			}
		}
		a.learn(&Reply{Status: 200, Header: http.Header{}}, 0)
		if next() != 30*time.Minute {
			t.Errorf("after a success: %v", next())
		}
		for range 20 {
			a.learn(&Reply{Status: 404, Header: http.Header{}}, 0)
		}
		if next() != 10*time.Second {
			t.Errorf("after many: %v", next())
		}

		// Retry-After counts with any status, and numbers that no counter holds are a day.
		a.learn(&Reply{Status: 200,
			Header: http.Header{"Retry-After": {"99999999999999999999999"}}}, 0)
		if p.Hold(time.Now()); next() != 24*time.Hour {
			t.Errorf("Retry-After: %v", next())
		}
		*a = HostRules{Pace: &Pace{}}
		a.learn(&Reply{Status: 44, Meta: "99999"}, 0)
		if got := untilNext(a.Pace); got != 24*time.Hour {
			t.Errorf("44 of Gemini: %v", got)
		}

		// Gopher has no status: its error item says so.
		for text, want := range map[string]time.Duration{
			"3Too many requests\t\terror.host\t1\r\n.\r\n": 20 * time.Second,
			"3Not found\t\terror.host\t1\r\n.\r\n":         10 * time.Second,
			"3 too many cooks\r\n":                         10 * time.Second, "": 10 * time.Second,
		} {
			c := Client{Fetch: (&places{docs: map[string]string{first: denyA}}).fetch,
				Fetcher: &Fetcher{Dial: gopherServer(t, nil, func(string) string {
					return text
				})}}
			r, err := c.Do(t.Context(), "gopher://h/0/b")
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(r.Body); string(body) != text || err != nil ||
				r.Body.Close() != nil {
				t.Errorf("%q: read %q, %v", text, body, err)
			}
			if got := untilNext(r.Rules.Pace); got != want {
				t.Errorf("%q: the next request after %v", text, got)
			}
		}
	})
}

// TestAgentNames: a name that no group can have is an error with the token that was meant.
func TestAgentNames(t *testing.T) {
	p := places{docs: map[string]string{onWeb: denyA}}
	for agent, meant := range map[string]string{
		"Mozilla/5.0 (compatible; mybot/1.0; +https://example.org/bot)": `"mybot"`,
		"my bot": `"bot"`, "mybot/2.0": `"mybot"`, "Archive Box": `"Archive"`, "b\u00fccher": `"b"`,
		"(+)": "letters",
	} {
		for _, c := range []*Client{{Agent: agent, Fetch: p.fetch},
			{Fallback: []string{agent}, Fetch: p.fetch}} {
			if _, err := c.Get(t.Context(), "https://h/"); err == nil ||
				!strings.Contains(err.Error(), meant) {
				t.Errorf("%q: %v", agent, err)
			}
		}
	}
	for _, agent := range []string{"", "*", "MJ12bot", "my-bot_2.0"} {
		mustGet(t, &Client{Agent: agent, Fetch: p.fetch}, "https://h/")
	}

	// A Fetcher of the caller's sends the name, too.
	var seen []string
	c := Client{Agent: "mybot", Fetcher: &Fetcher{Transport: site(denyA, &seen)}}
	mustGet(t, &c, "http://h/")
	c.Fetcher.UserAgent = "MyBot/1.0 (+https://example.org/bot)"
	mustGet(t, &c, "http://h2/")
	if !slices.Equal(seen, []string{"/robots.txt mybot",
		"/robots.txt MyBot/1.0 (+https://example.org/bot)"}) {
		t.Errorf("sent %q", seen)
	}
}

// TestDirStoreNames: any host has a file, and the caller learns that one cannot be saved.
func TestDirStoreNames(t *testing.T) {
	d := DirStore(t.TempDir())
	if _, err := d.Load(t.Context(), "gopher://h:70"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was saved: %v", err)
	}
	long := "gophers://" + strings.Repeat(strings.Repeat("h", 60)+".", 4) + "example:65535"
	origins := []string{"gopher://[fe80::1%lo]:70", long, long[:len(long)-1], "http://h:80"}
	for _, origin := range slices.Concat(origins, origins) {
		if err := d.Save(t.Context(), origin, []byte(origin)); err != nil {
			t.Fatal(err)
		}
	}
	for _, origin := range origins {
		if data, err := d.Load(t.Context(), origin); err != nil || string(data) != origin {
			t.Errorf("%s: %q, %v", origin, data, err)
		}
	}

	synctest.Test(t, func(t *testing.T) {
		p := places{docs: map[string]string{onWeb: denyA}}
		c := Client{Fetch: p.fetch, Store: DirStore("/nowhere/at/all")}
		mustGet(t, &c, "https://h/")
		if err := c.Flush(t.Context()); err == nil {
			t.Error("nothing tells that a host could not be saved")
		}
		if err := c.Flush(t.Context()); err != nil {
			t.Errorf("it is told twice: %v", err)
		}
	})
}

// TestPreferences: the most restrictive of all statements about a page, and who states it.
func TestPreferences(t *testing.T) {
	const file = "User-agent: *\nContent-Signal: search=yes, ai-train=no, use=reference\nContent-Usage: search=y, ai-use=y\nContent-Usage: /poems/ train-ai=n\nDisallow: /a\n"
	rules := FromResponse(me, http.StatusOK, nil, strings.NewReader(file))
	for _, test := range []struct {
		url    string
		header http.Header
		want   string
	}{
		{"/", nil, "ai-use=y (robots.txt:3: Content-Usage) search=y (robots.txt:3: Content-Usage) train-ai=n (robots.txt:2: Content-Signal) use=reference (robots.txt:2: Content-Signal)"},
		{"/poems/x", nil, "search=y (robots.txt:2: Content-Signal) train-ai=n (robots.txt:4: Content-Usage) use=reference (robots.txt:2: Content-Signal)"},
		{"/", http.Header{"Content-Usage": {"ai-use=n, train-ai=y"},
			"X-Robots-Tag": {"otherbot: none", "MyBot: nofollow, noindex"}},
			"ai-use=n (Content-Usage) search=n (X-Robots-Tag) train-ai=n (robots.txt:2: Content-Signal) use=reference (robots.txt:2: Content-Signal)"},
		{"/poems/", http.Header{"Robots-Tag": {"noai"}},
			"ai-use=n (Robots-Tag) search=y (robots.txt:2: Content-Signal) train-ai=n (robots.txt:4: Content-Usage) use=reference (robots.txt:2: Content-Signal)"},
		{"/poems/", http.Header{"X-Robots-Tag": {"max-image-preview: large, noindex", "otherbot: noai"}},
			"search=n (X-Robots-Tag) train-ai=n (robots.txt:4: Content-Usage) use=reference (robots.txt:2: Content-Signal)"},
		{"/poems/", http.Header{"X-Robots-Tag": {"otherbot: noai, mybot: nofollow, noindex"}},
			"search=n (X-Robots-Tag) train-ai=n (robots.txt:4: Content-Usage) use=reference (robots.txt:2: Content-Signal)"},
		{"/a", http.Header{"Content-Usage": {"search=y"}}, ""},
	} {
		var got []string
		for _, p := range rules.Preferences(test.url, test.header) {
			got = append(got, p.Key+"="+p.Value+" ("+p.Origin+")")
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s, %v:\n got %s\nwant %s", test.url, test.header,
				strings.Join(got, " "), test.want)
		}
	}
	none := FromResponse(me, http.StatusNotFound, nil, nil)
	if got := none.Preferences("/",
		http.Header{"X-Robots-Tag": {"unavailable_after: 25 Jun 2010 15:00:00 PST",
			"noindex"}}); len(got) != 1 || got[0].Key != "search" {
		t.Errorf("without a file: %v", got)
	}
}
