package client

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

var me = robots.Robot{Names: []string{"mybot"}}

// TestStored: rules that are read from a store decide the same.
func TestStored(t *testing.T) {
	const file = "User-agent: mybot\nDisallow: /a\n\xff\nDisallow: /bee\n\nUser-agent: *\nDisallow: /c\n"
	strict := func(string) robots.Dialect { return readers.GopherStrict }
	for denied, c := range map[string]*Client{
		"/a /bee":       {Agent: "mybot"},
		"/a":            {Agent: "mybot", Limit: 46}, // half a line is no rule (R14)
		"/a /bee /c /d": {Agent: "mybot", Limit: 10}, // no line at all
		"/a /bee /c":    {Agent: "other", Dialect: strict},
	} {
		p := places{docs: map[string]string{onWeb: file}}
		c.Fetch, c.Store = p.fetch, &store{}
		a := mustGet(t, c, "https://h/")
		again := Client{Agent: c.Agent, Dialect: c.Dialect, Fetch: p.fetch, Store: c.Store}
		b := mustGet(t, &again, "https://h/")
		if p.count() != 1 || b.URL != a.URL || !b.Fetched.Equal(a.Fetched) ||
			b.File.Truncated() != a.File.Truncated() {
			t.Errorf("%s: %+v, again %+v", denied, a, b)
		}
		var list []string
		for _, path := range []string{"/a", "/bee", "/c", "/d"} {
			x, y := a.Decide(path), b.Decide(path)
			if !reflect.DeepEqual(x, y) {
				t.Errorf("%s: %s: %+v, again %+v", denied, path, x, y)
			}
			if !x.Allowed {
				list = append(list, path)
			}
		}
		if got := strings.Join(list, " "); got != denied {
			t.Errorf("denied %s, want %s", got, denied)
		}
	}
}

// TestNames: the first of the robot's names that a group names counts, and all of
// its categories do.
func TestNames(t *testing.T) {
	const file = "User-agent: *\nDisallow: /all\n\nUser-agent: mybot\nDisallow: /mybot\n\nUser-agent: mybot-news\nDisallow: /news\n\n" +
		"User-agent: archiver\nDisallow: /archive\nCrawl-delay: 9\n\nUser-agent: indexer\nAllow: /\n"
	p := places{docs: map[string]string{onWeb: file}}
	for _, test := range []struct {
		c    *Client
		deny string
	}{
		{&Client{Agent: "mybot-news", Fallback: []string{"mybot"}}, "/news"},
		{&Client{Agent: "mybot-image", Fallback: []string{"mybot"}}, "/mybot"},
		{&Client{Agent: "otherbot", Fallback: []string{"other"}}, "/all"},
		{&Client{Agent: "otherbot", Categories: []string{"archiver", "indexer", "webproxy"}},
			"/all /archive"},
		{&Client{Agent: "mybot", Categories: []string{"archiver"}}, "/mybot /archive"},
	} {
		test.c.Fetch = p.fetch
		a := mustGet(t, test.c, "https://h/")
		var denied []string
		for _, path := range []string{"/news", "/mybot", "/all", "/archive", "/free"} {
			if !a.Allowed(path) {
				denied = append(denied, path)
			}
		}
		if got := strings.Join(denied, " "); got != test.deny {
			t.Errorf("%s %v %v: denied %s, want %s", test.c.Agent, test.c.Fallback,
				test.c.Categories, got, test.deny)
		}
		if _, ok := a.CrawlDelay(); ok != strings.Contains(test.deny, "/archive") {
			t.Errorf("%s: delay %v", test.c.Agent, ok)
		}
	}
}

// TestGopherAfterRFC9309: a file on a gopher host that uses Allow was written for
// readers after RFC 9309; a selector is no URI there, every byte stands for itself.
func TestGopherAfterRFC9309(t *testing.T) {
	for file, want := range map[string]string{
		"User-agent: *\nDisallow: /\nAllow: /pub/\nAllow: pub/\n":       "+/pub/a +pub/a -/x",
		"User-agent: *\nDisallow: /*.zip$\n":                            "-/a.zip +/a.zip2",
		"User-agent: *\nAllow: /\nDisallow: /100%25\nDisallow: /q%3F\n": "-/100% +/100d -/q?a",
		"User-agent: *\nDisallow: /100%\n":                              "-/100% -/100%41",
		"User-agent: *\nDisallow: /a%23b\n":                             "-/a#b +/a%23b",
		"Disallow: /x\nUser-agent: *\nAllow: /x/y\nDisallow: /z\n":      "-/x/y -/z",
	} {
		a := rulesOf(t, first, file)
		for path := range strings.SplitSeq(want, " ") {
			if got := a.Decide(path[1:]); got.Allowed != (path[0] == '+') {
				t.Errorf("%q: %s: %+v", file, path, got)
			}
		}
	}
	const prefers = "User-agent: *\nAllow: /\nContent-Usage: /100%25 train-ai=n\n"
	if got := rulesOf(t, first, prefers).Usage("/100%"); got.Of("train-ai") != robots.No {
		t.Errorf("a preference about a name with a percent sign: %v", got)
	}
	p := places{docs: map[string]string{first: "User-agent: *\nDisallow: /\nAllow: /pub/\n"}}
	plain := Client{Fetch: p.fetch, Dialect: func(string) robots.Dialect { return robots.Gopher }}
	if mustGet(t, &plain, "gopher://h/").Allowed("/pub/a") {
		t.Error("the dialect that is asked for does not count")
	}
}

// TestAnswerOfURL: a URL of the host is decided by what a server makes of it.
func TestAnswerOfURL(t *testing.T) {
	web := FromResponse(robots.Robot{}, 200, nil,
		strings.NewReader("User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n\n"))
	for _, u := range []string{"/a", "https://h/a?q", "https://h/x/../a", "HTTP://h/%2e/a",
		"https://h/x/%2E%2E/a"} {
		if web.Allowed(u) || web.Usage(u) != nil {
			t.Errorf("%s is allowed", u)
		}
	}
	if u := "https://h/a/../b"; !web.Allowed(u) || web.Usage(u) == nil {
		t.Errorf("%s is denied", u)
	}
	old := rulesOf(t, first, "Disallow: /a b\n")
	for _, u := range []string{"/a b", "gopher://h/1/a%20b"} {
		if old.Allowed(u) {
			t.Errorf("%s is allowed", u)
		}
	}
	for _, u := range []string{"https://h/b", "gopher://other/1/b", "gopher://h:7070/1/b",
		"gophers://h/1/b", "gopher:///1/b"} {
		if d := old.Decide(u); d.Allowed || d.Reason != robots.OtherHost {
			t.Errorf("%s of another host: %+v", u, d)
		}
	}
	for _, u := range []string{"gopher://H:70/1/b", "/b", "URL:https://other/"} {
		if !old.Allowed(u) {
			t.Errorf("%s is denied", u)
		}
	}
}
