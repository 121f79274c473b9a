package answer_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// TestHeading: a title comes from a text only where the text has one.
func TestHeading(t *testing.T) {
	files, wants := map[string]string{}, map[string]string{}
	for text, want := range map[string]string{
		"Hello\n\nthere":                       "Hello",
		"Hello\nthere\n":                       "",
		"Hello\n":                              "Hello",
		"\n\n  # A *title* \n":                 "A *title*",
		"---\n***\n":                           "",
		"":                                     "",
		"\"Quoted\" – so":                      "\"Quoted\" – so",
		"\x1b[31mred\x07\n":                    "red",
		"A walk    2026-01-02\n":               "A walk",
		"caf\xe9":                              "café",
		"\xff\xfec\x00\xe9\x00\n\x00":          "cé",
		"20260102\n\nTITLE:  A walk\nBy: me\n": "A walk",
		"2026-01-02 - A walk\n":                "A walk",
		"2026-01-02\n\nA walk\n\nIt went.\n":   "A walk",
		"日記\n":                                 "日記",
		"▒▒▒▒▒\n":                              "",
		"# Closed #\n":                         "Closed",
		"- Item\n":                             "",
		"+ Item\n":                             "",
		"// Package x\n\npackage x\n":          "",
		strings.Repeat("x", 100):               strings.Repeat("x", 100),
		strings.Repeat("x", 101):               "",
		"━ so ━\n":                             "so",
		strings.Repeat("y", 40000):             "",
	} {
		files["t"+strconv.Itoa(len(files))+".txt"] = text
		wants["t"+strconv.Itoa(len(wants))+".txt"] = want
	}
	for name, want := range map[string]string{"a.md": "Below", "a.gmi": "Below", "a.txt": "First",
		"a": "First", "a.c": "", "a.csv": "", "a.log": "", "a.patch": "", "a.sh": ""} {
		files[name], wants[name] = "First\n\n```\n# art\n```\n# Below\n", want
	}
	files["b.md"], wants["b.md"] = "A paragraph\nof two lines.\n\nSet\n===\n", "Set"
	files["c.md"], wants["c.md"] = "A line\n\nSet\n- \n", "Set"
	dir := t.TempDir()
	write(t, dir, files)
	tree := run(t, dir)
	q := &answer.Asked{Host: &answer.Host{Site: tree}, Request: &server.Request{Host: "h", Port: 70},
		View: tree.View(t.Context())}
	for name, want := range wants {
		if got := q.Title(name, false); got != cmp.Or(want, name) {
			t.Errorf("%s, %.30q: %q, want %q", name, files[name], got, want)
		}
	}
}

// Each way to a title, and the name where there is none.
func TestTitle(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gophermap":       "text\n!- The root -\n!Not this\n0A label\tphlog/a.txt\n0Other\tphlog/a.txt\n0Far\t/phlog/b.txt\tfar.example\n1Sub\tsub\n0top.txt\ttop.txt\n",
		"phlog/gophermap": "0Inner label\ta.txt\n0x\t/top.txt\th\t70\n0[TXT]  Of columns   4K  2026-01-02\td.txt\n0e.txt   4K\te.txt\n*\n", "phlog/a.txt": "First\n", "phlog/b.txt": "2026-01-01\n=====\n\nSecond\n",
		"phlog/c.bin": "\x00", "phlog/d.txt": "D", "phlog/e.txt": "E",
		"phlog/noext": "Text", "tagged/gophertag": "Tagged\n", "tagged/x.txt": "",
		"sub/x": "\x00\x01", "m.gph": "!A map\n", "top.txt": "Top\n",
		".footer": " \x1b[1mAnn\x07 of\r\nmore\n",
	})
	tree := run(t, dir)
	q := &answer.Asked{Host: &answer.Host{Site: tree}, Request: &server.Request{Host: "h", Port: 70},
		View: tree.View(t.Context())}
	for name, want := range map[string]string{
		".": "The root", "phlog/a.txt": "Inner label", "phlog/b.txt": "Second",
		"phlog/c.bin": "c.bin", "phlog/d.txt": "Of columns", "phlog/e.txt": "E",
		"phlog/noext": "Text", "phlog": "phlog",
		"tagged": "Tagged", "tagged/x.txt": "x.txt", "sub": "Sub", "sub/x": "x", "m.gph": "m.gph",
		"top.txt": "Top",
	} {
		f, err := q.View.Lookup(name)
		must(t, err)
		if got := q.Title(name, f.Info.IsDir()); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		must(t, f.Close())
	}
	for name, want := range map[string]string{"top.txt": "Top\n true", "phlog/b.txt": "2026- false",
		"phlog/c.bin": " false", "none": " false"} {
		if text, whole, _ := q.Read(name, 5); fmt.Sprint(text, " ", whole) != want {
			t.Errorf("%s begins with %q, %v", name, text, whole)
		}
	}
	for name, want := range map[string]string{".footer": "Ann of", "none": ""} {
		if got := q.OwnersLine(name); got != want {
			t.Errorf("the line of %s is %q, want %q", name, got, want)
		}
	}
	gone := &answer.Format{Draws: func(*answer.Value) bool {
		return true
	}, Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
		must(t, os.Remove(filepath.Join(dir, "top.txt")))
		text, err := q.Text(a)
		if err == nil {
			t.Errorf("a file that has gone is %q", text)
		}
		return nil, err
	}}
	if _, err := q.Host.Ask(request(t, "/top.txt"), gone); server.KindOf(err) != server.NotFound {
		t.Error(err)
	}
}

// The URLs of a resource: a port is named unless it is the usual one.
func TestURLs(t *testing.T) {
	for _, tt := range []struct {
		r                 server.Request
		gopher, site, own string
	}{
		{server.Request{Host: "h", Port: 70}, "gopher://h/0/a%20b", "http://h:70/a%20b",
			"gopher://h/0/a%20b"},
		{server.Request{Host: "h", Port: 80}, "gopher://h:80/0/a%20b", "http://h/a%20b",
			"gopher://h:80/0/a%20b"},
		{server.Request{Host: "::1", Port: 443, TLS: true}, "gophers://[::1]:443/0/a%20b",
			"https://[::1]/a%20b", "gophers://[::1]:443/0/a%20b"},
		{server.Request{Host: "::1", Port: 70, TLS: true, Protocol: "gemini",
			Local: netip.MustParseAddrPort("[::1]:1965")}, "gopher://[::1]/0/a%20b", "https://[::1]:70/a%20b", "gemini://[::1]/a%20b"},
		{server.Request{Host: "h", Port: 70, Protocol: "nex",
			Local: netip.MustParseAddrPort("[::1]:1901")}, "gopher://h/0/a%20b", "http://h:70/a%20b", "nex://h:1901/a%20b"},
	} {
		for form, want := range map[*answer.Format]string{nil: tt.own, {}: tt.own, {Web: true}: tt.site} {
			if got := (&answer.Asked{Request: &tt.r, Format: form}).URL('0', "/a b"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if got := answer.GopherURL(&tt.r, '0', "/a b"); got != tt.gopher {
			t.Errorf("%s, want %s", got, tt.gopher)
		}
		if got := answer.WebURL(&tt.r, "/a b"); got != tt.site {
			t.Errorf("%s, want %s", got, tt.site)
		}
	}
}

// Where items lead, from a host h at port 70.
func TestTarget(t *testing.T) {
	q := &answer.Asked{Request: &server.Request{Host: "h", Port: 70}}
	for line, want := range map[string]answer.Target{
		"0A\t/a.txt\th\t70": {Path: "/a.txt"}, "1A\ta/\tH\t70": {Path: "/a/"},
		"1A\t\th\t70": {Path: "/"}, "7A\t/search\th\t70": {Path: "/search", Asks: true},
		"0A\t/a b\tfar\t70":             {URL: "gopher://far/0/a%20b"},
		"1A\t/\tfar\t7070":              {URL: "gopher://far:7070/"},
		"0A\t/a\th\t71":                 {URL: "gopher://h:71/0/a"},
		"7A\t/s\tfar\t70":               {URL: "gopher://far/7/s", Asks: true},
		"hA\tURL:https://x.org/\th\t70": {URL: "https://x.org/"}, "hA\tURL:javascript:x\th\t70": {},
		"8A\tguest\tbbs\t23": {URL: "telnet://bbs:23"}, "2A\tcso\tx\t105": {}, "iA\t/a\th\t70": {},
		"3A\t/a\th\t70": {}, "0A\t//x.org/\th\t70": {},
	} {
		it, err := menu.ParseItem(line)
		must(t, err)
		if got := q.Target(it); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

// TestOwn: which Gemini URLs link to this site, with a front at a port and without one.
func TestOwn(t *testing.T) {
	for link, want := range map[string]bool{"gemini://h/": true, "gemini://H.:1965/a": true,
		"gemini://h:1966/": true, "gemini://h:1967/": false, "gemini://far/": false,
		"spartan://h:1966/": false} {
		u, err := url.Parse(link)
		must(t, err)
		for fronts, counts := range map[*map[string]int]bool{{"gemini": 1966}: true, {}: false} {
			q := &answer.Asked{Host: &answer.Host{Fronts: *fronts},
				Request: &server.Request{Host: "h", Port: 70}}
			if got := q.Own(u); got != (want && counts) {
				t.Errorf("%s, with %v: %v", link, *fronts, got)
			}
		}
	}
}

// TestIsProse: a gap in several lines is one of prose, columns are not.
func TestIsProse(t *testing.T) {
	for text, want := range map[string]bool{"one  gap\nin two lines": true, "a  gap": false,
		"a name  a size\na name  a size": false, "a column  of one line": false, "+--+--+": false} {
		if got := answer.IsProse(strings.Split(text, "\n"), false); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Which lines belong together, and which are drawn; no line is lost.
func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "[]",
		"a\nb\n\nc":                      "[a|b| c]",
		"a\n b\n\nc":                     "[*a| b| c]",
		"a\n b\n\n/  \\\n\nprose.  Two.": "[*a| b||/  \\| prose.  Two.]",
		"\n\na":                          "[| a]",
		"=File        size\n=x   1":      "[*=File        size|=x   1]",
		"a\tb":                           "[*a\tb]",
		"A \x1b[1mbold\x1b[0m word of a line of forty columns  and\na gap": "[*A \x1b[1mbold\x1b[0m word of a line of forty columns  and|a gap]",
		"━ a\nb":             "[━ a|b]",
		"+---+\n=| a\n+---+": "[*+---+|=| a|+---+]",
		"╔══╗\n=║ a ║\n\n════\na": "[*╔══╗|=║ a ║| ════|a]",
	} {
		var items []menu.Item
		for line := range strings.SplitSeq(text, "\n") {
			if label, ok := strings.CutPrefix(line, "="); ok {
				items = append(items, menu.Item{Type: menu.TypeText, Label: label, Selector: "/x"})
			} else if text != "" {
				items = append(items, menu.Info(line))
			}
		}
		var got []string
		n := 0
		for _, b := range answer.Blocks(items) {
			var lines []string
			for _, it := range b.Items {
				lines = append(lines, map[bool]string{false: "="}[answer.IsInfo(it)]+it.Label)
			}
			got = append(got, map[bool]string{true: "*"}[b.Drawn]+strings.Join(lines, "|"))
			n += len(b.Items)
		}
		if fmt.Sprint(got) != want || n != len(items) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
