package check

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// old serves replies by selector, and notes what was asked.
type old struct {
	mu    sync.Mutex
	asked []string
	addr  string

	refuses func(n int) string // if not nil, the reply to the n-th request, or "" for the true one
}

func oldServer(t *testing.T, replies tree) *old {
	t.Helper()
	o := &old{}
	o.addr = treetest.Conns(t, func(conn net.Conn) {
		line, _ := bufio.NewReader(conn).ReadString('\n')
		sel := strings.TrimRight(line, "\r\n")
		o.mu.Lock()
		o.asked = append(o.asked, sel)
		n := len(o.asked)
		o.mu.Unlock()
		_, port, _ := net.SplitHostPort(conn.LocalAddr().String())
		text, ok := replies[sel]
		if !ok {
			text = "3Not found\t\terror.host\t1\r\n.\r\n"
		}
		if o.refuses != nil {
			text = cmp.Or(o.refuses(n), text)
		}
		text = strings.NewReplacer("HERE", "\t127.0.0.1\t"+port+"\r\n", "OWN",
			"\tgopher.example.org\t"+port+"\r\n", "EMPTY", "").Replace(text)
		_, _ = conn.Write([]byte(text))
	})
	return o
}

func (o *old) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// compared returns what the user's own server and gophd answer otherwise.
func compared(t *testing.T, server *old, files tree) *Outcome {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	r, err := compare(t.Context(), dir, Options{},
		comparison{URL: "gopher://" + server.addr + "/", Mine: true})
	must(t, err)
	return r
}

// TestAgainstForms: what is no difference, in whatever form the old server writes it.
func TestAgainstForms(t *testing.T) {
	const picture = "GIF89a: there is no such picture"
	for name, test := range map[string]struct {
		replies, files map[string]string
		asked          int
		want           string // code and file of each finding
	}{
		// Old links with escapes and "." lead to the same; what fails on both servers is no
		// difference, whatever the old one sends in place of an error item. Feeds are each server's own.
		"links": {tree{
			"":                              "0Blank\t/d/a#040b.txtHERE0Dot\t/d/./c.txtHERE1Top\t/d/../HERE0Text\t/none.txtHEREgPicture\t/none.gifHERE0Real\t/real.txtHERE0Up\t/../xHEREhBare\t/https://gophd.example/HERE0Feed\t/d/feed.xmlHERE.\r\n",
			"/d/feed.xml":                   "a feed",
			"/d/a#040b.txt":                 "ab\n",
			"/d/./c.txt":                    "c\n",
			"/none.txt":                     "Error: Access denied! Refusing to serve out dotfiles\r\n",
			"/gophd-check-no-such-name.txt": "Error: File or directory not found!\r\n",
			"/none.gif":                     picture,
			"/gophd-check-no-such-name.gif": picture,
			"/real.txt":                     "Error: this is\nthe title of a text.\n",
		}, tree{"gophermap": "0Blank\t/d/a b.txt\n0Dot\td/c.txt\n1Top\t/\n0Text\tnone.txt\ngPicture\tnone.gif\n0Real\treal.txt\n0Up\t/../x\nhBare\thttps://gophd.example/\n0Feed\td/feed.xml\n",
			"d/a b.txt": "ab\n", "d/c.txt": "c\n",
			"d/2026-01-02-x.txt": "x"}, 9, "AGAINST-GONE real.txt, AGAINST-TEXT d/feed.xml"},

		// A server that calls itself by another name than the one in the URL: its links are
		// followed, and an empty tree loses all of them.
		"a name of its own": {tree{
			"":            "0Y\t/y.txtOWN1Docs\t/docs/OWN1Far\t/\tfar.example\t70\r\n.\r\n",
			"/y.txt":      "y\n",
			"/docs/":      "0X\t/docs/x.txtOWN.\r\n",
			"/docs/x.txt": "x\n",
		}, nil, 4, "AGAINST-GONE docs, AGAINST-GONE docs/x.txt, AGAINST-GONE y.txt, CHECK-HOST ."},

		// A server that sends nothing for an empty map has answered.
		"empty": {tree{"": "1Maths\t/mathsHERE0Text\t/text.txtHERE.\r\n", "/maths": "",
			"/text.txt": ""},
			tree{"gophermap": "1Maths\tmaths\n0Text\ttext.txt\n",
				"maths/gophermap": "", "text.txt": ""}, 3, ""},

		// A text that begins like an error item is compared as a text.
		"texts": {tree{"": "0Fruit\t/fruit.txtHERE0More\t/more.txtHERE.\r\n",
			"/fruit.txt": "3 apples\t5\n4 pears\t6\n", "/more.txt": "3 apples\t5\n"},
			tree{"gophermap": "0Fruit\tfruit.txt\n0More\tmore.txt\n",
				"fruit.txt": "3 apples\t5\n9 plums\t1\n",
				"more.txt":  "3 apples\t5\n"}, 3, "AGAINST-TEXT fruit.txt"},
	} {
		r := compared(t, oldServer(t, test.replies), test.files)
		var got []string
		for _, d := range r.Findings {
			got = append(got, d.Code+" "+d.File)
		}
		if strings.Join(got, ", ") != test.want || r.Asked != test.asked || r.Silent > 0 ||
			r.Lost != strings.Count(test.want, codeGone) ||
			(r.Host == "gopher.example.org") != strings.Contains(test.want, codeHost) {
			t.Errorf("%s: %d asked, %d lost, %d silent, host %q\n%s", name, r.Asked, r.Lost,
				r.Silent, r.Host, r.text("", "the server"))
		}
	}
}

// TestAgainstCharset: a menu is compared in the characters that gophd would send.
func TestAgainstCharset(t *testing.T) {
	server := oldServer(t, tree{"": "iПривет\t\terror.host\t1\r\n.\r\n"})
	dir := t.TempDir()
	write(t, dir, tree{"gophermap": "\xcf\xf0\xe8\xe2\xe5\xf2\n"})
	var o Options
	must(t, o.Serve.Charset.UnmarshalText([]byte("windows-1251")))
	r, err := compare(t.Context(), dir, o,
		comparison{URL: "gopher://" + server.addr + "/", Mine: true})
	must(t, err)
	if len(r.Findings) > 0 {
		t.Error(r.text("", "the server"))
	}
}

// Every difference from a running server is found, once, and nothing else.
func TestAgainst(t *testing.T) {
	server := oldServer(t, tree{
		"":           "iHi\t\tx\t1\r\n0A\t/a.txt\told.example\t70\r\n0Gone\t/gone.txtHERE0Other\t/other.txtHERE1D\t/d/HERE1Prog\t/p/\told.example\t70\r\n1X\t/private/HERE1Far\t/\tfar.example\t70\r\n.\r\n",
		"/a.txt":     "a.\r\n",
		"/gone.txt":  "gone\n",
		"/other.txt": "other\n",
		"/d/":        "0Y\t/d/y.txtHERE0X\t/d/x.txtHERE.\r\n",
		"/d/x.txt":   "x\n",
		"/d/y.txt":   "y\n",
		"/p/":        "0Printed\t/a.txtHERE.\r\n",
		"/private/":  "0No\t/private/noHERE.\r\n",
		"robots.txt": "User-agent: *\nDisallow: /private/\n",
	})
	dir := t.TempDir()
	write(t, dir, tree{"gophermap": "Hi\n0A\t/a.txt\told.example\n0Gone\tgone.txt\n0Other\tother.txt\n1D\td\n1Prog\t/p/\told.example\n1X\tprivate/\n1Far\t/\tfar.example\n",
		"a.txt": "a.", "other.txt": "another\n", "d/x.txt": "x\n", "d/y.txt": "y\n",
		"p/gophermap": "#!/bin/sh\n", "private/no": "x"})
	against := func(o comparison) (list []string, n int) {
		o.URL = "gopher://" + server.addr + "/"
		r, err := compare(t.Context(), dir, Options{Host: "old.example"}, o)
		must(t, err)
		if text := r.text("", o.URL); !strings.Contains(text, ": 1 AGAINST-GONE\n") ||
			!o.Mine && !strings.Contains(text, "selectors, 4 with a difference, 2 lost\n") {
			t.Error(text)
		}
		for _, d := range r.Findings {
			list = append(list, string(d.Severity)+" "+d.Code+" "+d.File)
		}
		return list, r.Asked
	}
	want := []string{"error AGAINST-GONE gone.txt", "error AGAINST-LESS p",
		"warning AGAINST-TEXT other.txt", "notice AGAINST-ORDER d", "notice AGAINST-TEXT p"}
	got, n := against(comparison{})
	same(t, "another's server", got, want)
	if n != 8 {
		t.Errorf("%d asked", n)
	}
	if slices.ContainsFunc(server.requests(), func(sel string) bool {
		return strings.HasPrefix(sel, "/private")
	}) {
		t.Errorf("asked for what robots.txt denies: %q", server.requests())
	}
	if _, n := against(comparison{Mine: true}); n != 10 {
		t.Errorf("one's own server: %d asked", n)
	}
}

// TestAgainstAlone: a root that links nothing on its server shows nothing about the rest.
func TestAgainstAlone(t *testing.T) {
	server := oldServer(t, tree{"": "iHello\t\t\t\r\n1Far\t/\tfar.example\t70\r\n1Away\t/\taway.example\t70\r\n.\r\n"})
	var out strings.Builder
	c := &Check{Against: comparison{URL: "gopher://" + server.addr + "/", Mine: true}, Out: &out}
	if err := c.Check(t.Context(), []string{t.TempDir()}); err == nil ||
		strings.Contains(out.String(), "0 lost") ||
		!strings.Contains(out.String(), "1 selector, ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestAgainstBusy: a server that limits its clients is asked again, and what it never
// answers is not taken for equal.
func TestAgainstBusy(t *testing.T) {
	const busy = "3Too many requests: please wait\t\terror.host\t1\r\n.\r\n"
	root := ""
	replies := tree{}
	dir := t.TempDir()
	for i := range 8 {
		name := fmt.Sprintf("/d%d/a.txt", i)
		root += "0A\t" + name + "HERE"
		replies[name] = "text\n"
	}
	write(t, dir, tree{"d3/a.txt": "text\n"})
	replies[""] = root + ".\r\n"
	for name, test := range map[string]struct {
		refuses      func(n int) string // the reply to the n-th request in place of the true one
		lost, silent int
		never        bool
	}{
		"a third is answered": {func(n int) string {
			if n%3 != 0 {
				return busy
			}
			return ""
		}, 8, 0, false},
		"empty replies": {func(n int) string {
			return map[bool]string{true: "EMPTY"}[n%2 == 1]
		}, 8, 0, false},
		"busy after some": {func(n int) string {
			return map[bool]string{true: busy}[n > 5]
		}, 4, 5, false},
		"busy all the time": {func(int) string { return busy }, 0, 0, true},
	} {
		server := oldServer(t, replies)
		server.refuses = test.refuses
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r, err := compare(t.Context(), dir, Options{},
				comparison{URL: "gopher://" + server.addr + "/", Mine: true})
			if test.never {
				if err == nil || !strings.Contains(err.Error(), "Too many requests") {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			must(t, err)
			if r.Lost != test.lost || r.Silent != test.silent || time.Since(began) < time.Second {
				t.Errorf("%s: %d lost, %d silent, waited %v\n%s", name, r.Lost, r.Silent,
					time.Since(began), r.text("", "the server"))
			}
		})
	}
}

// TestAgainstKeepsNoReplies: a hostile server sends 8 MiB for each of many names of as many
// extensions, and long selectors; the memory that the comparison keeps does not grow.
func TestAgainstKeepsNoReplies(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	root := "0Long\t/" + strings.Repeat("y", 100_000) + "HERE"
	for i := range 100 {
		root += fmt.Sprintf("0N\t/n.e%dHERE", i)
	}
	server := oldServer(t, tree{"": root + ".\r\n"})
	server.refuses = func(n int) string {
		if n == 1 {
			return ""
		}
		return large + strconv.Itoa(n)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var held uint64
	r := compared(t, server, nil)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held = after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
	if r.Asked != 101 || held > 20<<20 {
		t.Errorf("%d asked, %d bytes are kept", r.Asked, held)
	}
}
