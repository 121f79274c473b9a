package readers_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/robotstest"
	"github.com/gophd/gophd/robots/readers"
)

// TestAsDialects holds the readers that follow a text against the dialect of that text,
// and Kennedy's against a plain statement of what it does.
func TestAsDialects(t *testing.T) {
	dialects := map[string]readers.Dialect{
		"gopher-strict": readers.GopherStrict, "veronica2": readers.Veronica2,
		"rfc9309-raw": readers.RFC9309, "1994": readers.Standard1994,
	}
	for range 20000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := robotstest.File(rnd)
		sel := "/" + robotstest.Selector(rnd)
		robot := []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
		if strings.Contains(sel, "?") && starEscape.Match(data) {
			continue // compared with another form of the selector, which no model has
		}
		for _, r := range readers.All() {
			want := gemini(data, robot, sel)
			if d, ok := dialects[r.Name]; ok {
				name := robot
				if r.Agent != "" {
					name = r.Agent
				}
				want = robots.Parse(d, data).Allowed(name, sel)
				if d == readers.Standard1994 {
					r.Exact = true // as the text's own example has it; programs take the first record that fits
				}
			} else if r.Name != "gemini" {
				continue // held against the programs themselves
			}
			if got := r.Read(data).Allowed(robot, sel); got != want {
				t.Fatalf("seed %d: %s: %q for %q in %q: %v, want %v", seed, r.Name, sel, robot,
					data, got, want)
			}
		}
	}
}

var starEscape = regexp.MustCompile(`\*[^\n\r?]*%`)

// contentUsage is a field that Kennedy's reader does not know, so that it ends no list of robots.
var contentUsage = regexp.MustCompile(`(?i)content-usage`)

func gemini(data []byte, robot, sel string) bool {
	f := robots.Parse(readers.RFC9309, contentUsage.ReplaceAll(data, []byte("Content-Other")))
	for _, g := range append(f.Agent(robot).Groups(), f.Agent("*").Groups()...) {
		for _, rule := range g.Rules {
			p := strings.TrimSuffix(rule.Pattern, "*")
			if !rule.Allow && p != "" && !strings.Contains(p, "*") && strings.HasPrefix(sel, p) {
				return false
			}
		}
	}
	return true
}

// TestTheRoot: the empty selector is "/" to readers of web paths, and reached by "*" alone
// in others.
func TestTheRoot(t *testing.T) {
	want := map[string]string{ // + where "/", "*" and both of them deny it
		"gopher-strict": "-++", "veronica2": "-++", "rfc9309": "+++", "rfc9309-raw": "+++",
		"google": "+++", "google-raw": "+++",
		"protego": "+++", "temoto": "+-+",
		"1994": "---", "first-match": "+-+", "first-match-3.14": "+-+",
		"first-match-3.14-raw": "+-+", "longest-match": "+++", "longest-match-raw": "+++",
		"gemini": "---", "gopher-mcp": "+++",
	}
	for _, r := range readers.All() {
		got := ""
		for _, rules := range []string{"Disallow: /\n", "Disallow: *\n",
			"Disallow: /\nDisallow: *\n"} {
			if r.Read([]byte("User-agent: *\n"+rules)).Allowed("zed", "") {
				got += "-"
			} else {
				got += "+"
			}
		}
		if want[r.Name] != got {
			t.Errorf("%s: %s, want %s", r.Name, got, want[r.Name])
		}
		if !r.Read(nil).Allowed("zed", "/x") || r.Note == "" {
			t.Errorf("%s: denies without a file, or has no note", r.Name)
		}
	}
}

// TestStarredNameIsNobody: "*Word*" names nobody, as for the dialects.
func TestStarredNameIsNobody(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: *GoodBot*\nAllow: /\n\nUser-agent: *BadBot\nDisallow: /\n"
	for _, r := range readers.All() {
		if r.Read([]byte(file)).Allowed("otherbot", "/private/x") {
			t.Errorf("%s is let in", r.Name)
		}
	}
}

// TestLongestMatch: CPython's parser since 3.15 goes by what a rule matches.
func TestLongestMatch(t *testing.T) {
	r, _ := readers.Named("longest-match-raw")
	for _, c := range []struct {
		rules, sel string
		allow      bool
	}{
		{"Disallow: /log$\nAllow: /log\n", "/log", true}, // $ counts nothing, Allow on a tie
		{"Disallow: /log$\n", "/log", false},
		{"Disallow: /log$\n", "/log/", true},
		{"Disallow: /*.txt\nAllow: /a/b/\n", "/a/b/x.txt", false}, // 10 bytes against 5
		{"Disallow: /*a\nAllow: /a/b/c/\n", "/a/b/c/x", true},     // 2 bytes against 7
		{"Disallow: /*b\nAllow: /a/\n", "/a/b/c/b/x", false},      // to the last b
		{"Disallow: *\nAllow: /a\n", "/a", true},
		{"Disallow: *\nAllow: /a\n", "/ab", false},
		{"Disallow: /*c*$\n", "/abcd", false},
		{"Disallow: /a$b\n", "/a$b", true}, // a $ inside of a pattern makes it no rule
		{"Disallow: /a**b$*\n", "/aXb", false},
		{"Disallow: /a%7eb\n", "/a~b", false},
		{"Disallow: /a?x=%26\n", "/a?x=&", true},
		{"Disallow: /a?x=%26\n", "/a?x=%26", false},
		{"Disallow: /caf%C3%A9\n", "/café", false},
		{"Disallow: /x\u2028Allow: /xy\n", "/xy", true}, // more bytes end lines
		{"Disallow: /\nAllow: /a\u00a0\n", "/a", true},  // and are blank
		{"Crawl-delay: 1\nUser-agent: b\nDisallow: /\n", "/x", true},
	} {
		if got := r.Read([]byte("User-agent: *\n"+c.rules)).Allowed("zed", c.sel); got != c.allow {
			t.Errorf("%q: %q is allowed: %v", c.rules, c.sel, got)
		}
	}
	for _, c := range []struct {
		file, robot string
		allow       bool
	}{
		{"User-agent: bot\nDisallow: /\n", "mybot/1.0", false},                                 // a part of the name
		{"User-agent: bot\nDisallow: /\n\nUser-agent: MyBot\nDisallow:\n", "mybot", true},      // its own group comes first
		{"User-agent: bot\nDisallow: /\n\nUser-agent: mybot\nDisallow:\n", "mybot/1.0", false}, // but by the whole name alone
		{"User-agent: a\nUser-agent: b\nDisallow: /\nUser-agent: a\nAllow: /x\n", "b", false},
		{"User-agent: b\nUser-agent: *\nDisallow: /\n", "xbx", false},
	} {
		if got := r.Read([]byte(c.file)).Allowed(c.robot, "/x"); got != c.allow {
			t.Errorf("%q: %q may fetch /x: %v", c.file, c.robot, got)
		}
	}
}

// TestOwnRow: a reader that somebody adds is a row, and what a rule needs less what it can
// is computed.
func TestOwnRow(t *testing.T) {
	own := readers.Reader{Name: "own", Groups: true, Allow: true, Dollar: true,
		Ties: readers.TiesDisallow, Forms: []readers.Form{readers.Raw}, Dialect: readers.RFC9309}
	read := own.Read([]byte("User-agent: *\nAllow: /a\nDisallow: /a\nDisallow: /b$\nDisallow: /c*d\n"))
	for sel, want := range map[string]bool{"/a": false, "/b": false, "/b/": true, "/cxd": true,
		"/c*d": false} {
		if got := read.Allowed("zed", sel); got != want {
			t.Errorf("%q is allowed: %v", sel, got)
		}
	}
	needs := readers.NeedsOf("/c*d$") | readers.NeedsGroups | readers.NeedsEscapes
	if got := own.Lacks(needs); got != readers.NeedsStar|readers.NeedsEscapes {
		t.Errorf("it lacks %b", got)
	}
	if got := readers.NeedsOf("/c*"); got != 0 {
		t.Errorf("/c* needs %b", got)
	}
	names := map[string]bool{}
	for _, r := range readers.All() {
		if names[r.Name] || !slices.Contains(r.Forms, r.Forms[0]) {
			t.Errorf("%s: twice", r.Name)
		}
		names[r.Name] = true
		if got := r.Asks("x"); (got == "x") != r.Bare || r.Asks("/x") != "/x" {
			t.Errorf("%s asks %q", r.Name, got)
		}
	}
}

// TestEmptyParts: to CPython a part of a URL that is empty loses its mark, and two slashes
// begin a host.
func TestEmptyParts(t *testing.T) {
	old, _ := readers.Named("first-match")
	for rule, want := range map[string]string{
		"/dir/x;": "-/dir/x", "/dir/x;y": "+/dir/x", "/d;/x": "+/d", "/x?": "-/x",
		"/x?y": "+/x", "/x#": "-/x",
		"//": "-/y", "///a": "-/a", "//host/a": "+/a", "/a": "-//host/a", "/": "-//",
	} {
		m := old.Read([]byte("User-agent: *\nDisallow: " + rule + "\n"))
		if got := m.Allowed("a", want[1:]); got != (want[0] == '+') {
			t.Errorf("Disallow: %s: %s is allowed: %v", rule, want[1:], got)
		}
	}
}
