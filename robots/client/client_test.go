package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/robots"
)

// emptyDoc is a document without a byte.
const emptyDoc = "empty"

// net in memory: what the client asks for, and what it gets. A place that is
// not there is unreachable; "404" is not there.
type places struct {
	mu    sync.Mutex
	docs  map[string]string
	asked []string
}

func (p *places) fetch(_ context.Context, u *url.URL) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, u.String())
	doc, ok := p.docs[u.String()]
	switch {
	case !ok:
		return nil, errors.New("no route")
	case doc == "404":
		return nil, fmt.Errorf("asking: %w", fs.ErrNotExist)
	case doc == emptyDoc:
		doc = ""
	}
	return io.NopCloser(strings.NewReader(doc)), nil
}

// set changes a document; an empty one makes the place unreachable.
func (p *places) set(place, doc string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.docs[place] = doc
	if doc == "" {
		delete(p.docs, place)
	}
}

func (p *places) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

const (
	first  = "gopher://h/0robots.txt"
	second = "gopher://h/00/robots.txt"
	onWeb  = "https://h/robots.txt"
	denyA  = "User-agent: *\nDisallow: /a\n"
)

func mustGet(t *testing.T, c *Client, raw string) *HostRules {
	t.Helper()
	a, err := c.Get(t.Context(), raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return a
}

// rulesOf returns the rules of a host with a file at a place, and none elsewhere.
func rulesOf(t *testing.T, place, file string) *HostRules {
	t.Helper()
	p := places{docs: map[string]string{place: file}}
	return mustGet(t, &Client{Fetch: p.fetch}, place)
}

// TestClientFetchOrder proves G1: robots.txt, then 0/robots.txt, and what
// counts as not found.
func TestClientFetchOrder(t *testing.T) {
	const item = "3Not found\t\terror.host\t1\r\n.\r\n"
	for name, test := range map[string]struct {
		first, second string
		asked         int
		access        Access
		instead       string
	}{
		"the first takes precedence": {denyA, "Disallow: *\n", 1, Successful, ""},
		"the second":                 {item, denyA, 2, Successful, ""},
		"an error item is no file":   {item, item, 2, Unavailable, `error item "Not found"`},
		"an info menu is no file": {item, "iNo such thing\t\th\t70\r\n.\r\n", 2, Unavailable,
			"iNo such thing"},
		"no document is no file": {item, "404", 2, Unavailable, "asking: "},
		"HTML is no file": {"<html><p style='color: red'>\nno</html>\n", "\n", 2, Unavailable,
			`received ""`},
		"unreachable":               {"", "", 1, Unreachable, ""},
		"unreachable at the second": {"\n", "", 2, Unreachable, ""},
	} {
		p := places{docs: map[string]string{}}
		p.set(first, test.first)
		p.set(second, test.second)
		a := mustGet(t, &Client{Fetch: p.fetch}, "gopher://h/1/a")
		if want := []string{first, second}[:test.asked]; !slices.Equal(p.asked, want) ||
			a.Access != test.access || (a.Instead != nil) != (test.instead != "") ||
			a.Instead != nil && !strings.Contains(a.Instead.Error(), test.instead) ||
			a.Access == Successful && a.URL != want[test.asked-1] {
			t.Errorf("%s: asked %q, %v at %q, %v", name, p.asked, a.Access, a.URL, a.Instead)
		}
		if a.Allowed("/a") != (test.access == Unavailable) ||
			a.Allowed("/b") != (test.access != Unreachable) {
			t.Errorf("%s: /a allowed %v, /b %v", name, a.Allowed("/a"), a.Allowed("/b"))
		}
	}
}

// TestHosts: scheme, host and port make a host, however it is written.
func TestHosts(t *testing.T) {
	for file, urls := range map[string]string{
		"https://h/robots.txt":                     "https://h/a https://H:443/b?c https://user:word@h/ HTTPS://h./",
		"https://h:444/robots.txt":                 "https://h:444/",
		"http://h/robots.txt":                      "http://h:080/",
		"http://[::1]/robots.txt":                  "http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[0000::0001]:80/",
		"http://[::1]:8000/robots.txt":             "http://[::1]:8000",
		"gophers://h/0robots.txt":                  "gophers://h gophers://H:70/1/x",
		"https://xn--bcher-kva.example/robots.txt": "https://bücher.example/a https://BÜCHER.example:443/ https://xn--bcher-kva.example./",
	} {
		p := places{docs: map[string]string{file: denyA}}
		c := Client{Fetch: p.fetch}
		for u := range strings.FieldsSeq(urls) {
			if a := mustGet(t, &c, u); a.Access != Successful ||
				!slices.Equal(p.asked, []string{file}) {
				t.Errorf("%s: %v, asked %q", u, a.Access, p.asked)
			} else if a.Decide(u).Reason == robots.OtherHost ||
				a.Decide("https://other/b").Reason != robots.OtherHost {
				t.Errorf("%s: %v, and https://other/b %v", u, a.Decide(u),
					a.Decide("https://other/b"))
			}
		}
	}
	if a := rulesOf(t, onWeb, "404"); !a.Allowed("/b?u=https://other/") ||
		a.Allowed("https://other/b") {
		t.Error("a host without a file speaks for others, or not for itself")
	}
	var c Client
	for raw, fails := range map[string]string{
		"": "scheme is none of gemini, gopher, gophers, http, https", "/a": "scheme is none of",
		"mailto:a@h": "scheme is none of", "irc://h": "scheme",
		"http:///a": "no host", "http://h:x": "invalid port",
		"http://h:0": `port "0" is not from 1 to 65535`, "gopher://h:65536": `port "65536"`,
		"%": "invalid URL escape",
	} {
		a, err := c.Get(t.Context(), raw)
		d, err2 := c.Allowed(t.Context(), raw)
		if a != nil || d.Allowed || err == nil || err2 == nil ||
			!strings.Contains(err.Error(), fails) {
			t.Errorf("%q: %v, %v, want %s", raw, err, err2, fails)
		}
	}
}

// TestLongLineOverGopher: a file that is one line beyond the limit is no menu.
func TestLongLineOverGopher(t *testing.T) {
	a := rulesOf(t, first, "Disallow: /"+strings.Repeat("x", 1<<20))
	if a.Access != Successful || a.Allowed("/a") ||
		a.Allowed("") {
		t.Errorf("%v, allowed %v", a.Access, a.Allowed("/a"))
	}
}
