package answer_test

import (
	"bytes"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

var write, must, eventually = treetest.Write, treetest.Must, treetest.Eventually

// run opens a site and keeps it until the test ends.
func run(t testing.TB, dir string) *site.Site {
	t.Helper()
	return runWith(t, dir, site.Config{})
}

func runWith(t testing.TB, dir string, conf site.Config) *site.Site {
	t.Helper()
	s, err := site.Open(dir, conf)
	must(t, err)
	treetest.Run(t, s.Run)
	_, err = s.Snapshot(t.Context())
	must(t, err)
	return s
}

// request is one for a selector, which may have a TAB and a query.
func request(t testing.TB, line string) *server.Request {
	t.Helper()
	parsed, err := selector.Parse([]byte(line))
	must(t, err)
	return &server.Request{RequestLine: parsed, Host: "h", Port: 70}
}

// Files answers as the Gopher front does.
type Files struct{ *answer.Host }

var wire = &answer.Format{Raw: true, Draw: func(_ *answer.Asked, a *answer.Value) ([]byte, error) {
	return menu.Menu{Items: a.Items}.AppendTo(nil), nil
}}

func newFiles(s *site.Site, cache int64) *Files {
	return &Files{&answer.Host{Site: s, Cache: answer.NewCache(cache)}}
}

// Quick answers at once.
func (h *Files) Quick(r *server.Request) (server.Answer, bool) {
	return h.Host.Quick(r, wire)
}

// ServeGopher answers.
func (h *Files) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	a, err := h.Ask(r, wire)
	if err != nil {
		return err
	}
	defer a.Close()
	if !a.Drawn {
		for _, it := range a.Items {
			_ = w.WriteItem(it)
		}
	}
	_, err = a.WriteTo(w)
	return err
}

// get returns the reply to a request line, of whatever it was made.
func get(t testing.TB, h server.Handler, line string) (string, error) {
	t.Helper()
	var r reply
	err := h.ServeGopher(&r, request(t, line))
	return r.String(), err
}

// reply collects what a handler writes.
type reply struct{ bytes.Buffer }

func (r *reply) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}

// A .gph is a menu, whatever its spelling; its source is not sent.
func TestMenuFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x.gph": "Hi\n[0|A|a b.txt|server|port]\n", "d/a b.txt": "a",
		"d/prog.gph": "#!/bin/sh\nsecret\n"})
	h := newFiles(run(t, dir), 1<<20)
	for range 2 { // made, and kept
		for _, sel := range []string{"/d/x.gph", "d/x.gph", "/d/x#056gph", "/d/%78.gph"} {
			if got, err := get(t, h, sel); err != nil ||
				got != "iHi\t\terror.host\t1\r\n0A\t/d/a b.txt\th\t70\r\n.\r\n" {
				t.Errorf("%s: %q, %v", sel, got, err)
			}
		}
		if got, err := get(t, h, "/d/a#040b.txt"); got != "a" {
			t.Errorf("an octal escape: %q, %v", got, err)
		}
		if got, err := get(t, h, "/d/prog.gph"); server.KindOf(err) != server.NotFound {
			t.Errorf("a program: %q, %v", got, err)
		}
	}
}

// A map that lists users, where there are none, is reported.
func TestNoUsers(t *testing.T) {
	dir, log := t.TempDir(), treetest.Log{}
	write(t, dir, map[string]string{"gophermap": "~\nx\n"})
	h := newFiles(runWith(t, dir, site.Config{Log: log.Logger()}), 0)
	got, err := get(t, h, "/")
	if err != nil || !strings.HasPrefix(got, "ix\t") ||
		!strings.Contains(log.String(), "there are no users to list") {
		t.Errorf("%q, %v, %s", got, err, &log)
	}
}

// A menu that tells the time or the client's address is made for each request.
func TestChangingMenuIsNotKept(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"gophermap": "You are $REMOTE_ADDR\n"})
	h := newFiles(run(t, dir), 1<<20)
	for _, addr := range []string{"192.0.2.1", "::ffff:192.0.2.2", "2001:db8::1"} {
		r := request(t, "/")
		r.Remote = netip.AddrPortFrom(netip.MustParseAddr(addr), 7)
		if _, ok := h.Quick(r); ok {
			t.Error("it was kept")
		}
		var w reply
		must(t, h.ServeGopher(&w, r))
		if want := "iYou are " + strings.TrimPrefix(addr, "::ffff:") +
			"\t"; !strings.HasPrefix(w.String(), want) {
			t.Errorf("got %q, want %q", w.String(), want)
		}
	}
}

// Texts in Latin-1 are sent as UTF-8, small and large, kept or not. In UTF-16 small ones
// are, and large ones stay what they are, as does what is no text by its name or its bytes.
func TestLatin1(t *testing.T) {
	dir := t.TempDir()
	line := "Gr\xfc\xdfe aus K\xf6ln\r\n"
	large := strings.Repeat(line, 8000)
	late := strings.Repeat("plain\n", 20_000) + line
	box := strings.Repeat("\xcd", 40)
	wide := "\xff\xfe" + strings.Repeat("K\x00\xf6\x00l\x00n\x00\n\x00", 12_000)
	write(t, dir, map[string]string{"wide.txt": wide, "w.txt": wide[:12], "wide": wide[:12],
		"a.txt": line, "large.txt": large, "noext": line, "a.bin": line, "box.txt": box,
		"late.txt": late, "ok.txt": "Grüße\n", "a.html": line})
	utf := func(s string) string {
		return strings.NewReplacer("\xfc", "ü", "\xdf", "ß", "\xf6", "ö").Replace(s)
	}
	tree := run(t, dir)
	for _, tt := range []struct {
		charset menu.Charset
		want    map[string]string
	}{
		{menu.CharsetAuto, map[string]string{"wide.txt": strings.Repeat("Köln\n", 12_000),
			"w.txt": "Köln\n", "wide": wide[:12], "a.txt": utf(line), "large.txt": utf(large),
			"noext": utf(line), "a.bin": line, "box.txt": box, "late.txt": late,
			"ok.txt": "Grüße\n", "a.html": line}},
		{menu.CharsetLatin1, map[string]string{"a.txt": utf(line),
			"box.txt": strings.Repeat("Í", 40), "ok.txt": "Grüße\n", "a.bin": line}},
		{menu.CharsetUTF8, map[string]string{"a.txt": line, "large.txt": large, "noext": line,
			"box.txt": box}},
	} {
		for _, cache := range []int64{0, 8 << 20} {
			h := newFiles(tree, cache)
			h.Charset = tt.charset
			for range 2 {
				for name, want := range tt.want {
					got, err := get(t, h, "/"+name)
					if err != nil || got != want {
						t.Errorf("charset %v: %s is sent as %.40q, %v", tt.charset, name, got, err)
					}
					a, ok := h.Quick(request(t, "/"+name))
					if a.File != nil {
						whole := make([]byte, a.Size)
						_, err := io.ReadFull(a.File, whole)
						must(t, err)
						a.Body = whole
						must(t, a.File.Close())
					}
					if ok && string(a.Body) != want {
						t.Errorf("charset %v: %s at once is %.40q", tt.charset, name, a.Body)
					}
				}
			}
		}
	}
}

// A spelling that must not show what is denied leads to the one that robots.txt
// names, under the label of the directory.
func TestPointerKeepsTheLabel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /\n", "d/gophertag": "My drafts\n",
		"d/x.txt": "x", "f/.robots": "Disallow: /x.txt\n", "f/x.txt": "x",
		"e/.robots": "Disallow: /\n", "e/x.txt": "x"})
	h := newFiles(run(t, dir), 0)
	for sel, want := range map[string]string{"/%64/": "1My drafts\t/d/\t",
		"/%64": "1My drafts\t/d/\t", "/%65/": "1/e/\t/e/\t", "/f/%78.txt": "0/f/x.txt\t/f/x.txt\t",
		"/d/%78.txt": "x"} {
		if got, err := get(t, h, sel); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v; want %q", sel, got, err, want)
		}
	}
}
