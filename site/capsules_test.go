package site_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gophd/gophd/site"
)

// TestCapsules: Gemini sees the trees of Config.Capsules in place of those of Config.Users, and
// no other front does; a robot is denied what the annotations of either tree deny to it.
func TestCapsules(t *testing.T) {
	h, dir := newHome(t), t.TempDir()
	conf := h.config()
	conf.Capsules = filepath.Join(h.dir, "*", "public_gemini")
	add := func(uid int, user string, files map[string]string) {
		t.Helper()
		h.addTree(t, uid, user, "public_gemini", files)
	}
	allowing := "Disallow: /a/\nAllow: /a/b/\n"
	h.add(t, 2001, "ann", map[string]string{"x.txt": "gopher", "g.txt": "g"})
	add(2001, "ann", map[string]string{"x.txt": "gemini", "s/s.txt": "s", "way": "-> .in",
		".in/i.txt": "i", ".robots": "Disallow: /s/\n"})
	h.add(t, 2002, "bob", map[string]string{"b.txt": "b"})
	add(2003, "cid", map[string]string{"2026-01-02-c.gmi": "c", "d/c.gmi": "c", "also": "-> d"})
	h.add(t, 2004, "dora", map[string]string{".robots": allowing, "a/b/c.txt": ""})
	add(2004, "dora", map[string]string{".robots": "User-agent: foo\nDisallow: /z/\nAllow: /a/c\n",
		"a/b/c.txt": ""})
	h.add(t, 2005, "eve", map[string]string{".robots": allowing, "a/b/c.txt": ""})
	add(2005, "eve", map[string]string{".robots": allowing, "a/b/c.txt": ""})
	s := start(t, dir, conf)
	asGemini := func() *site.View {
		v := s.View(t.Context())
		v.OfCapsules()
		return v
	}
	gemini := func(name string) string { return shown(asGemini(), name) }
	gopher := func(name string) string { return shown(s.View(t.Context()), name) }
	for _, row := range []struct{ name, gopher, gemini string }{
		{"~ann/x.txt", "gopher", "gemini"},
		{"~ann/g.txt", "g", "error"},
		{"~ann/way/i.txt", "error", "i"},
		{"~bob/b.txt", "b", "b"},
		{"~cid/d/c.gmi", "error", "c"},
		{".~cid/d/c.gmi", "error", "error"},
	} {
		if a, b := gopher(row.name), gemini(row.name); a != row.gopher || b != row.gemini {
			t.Errorf("%s is %q and %q", row.name, a, b)
		}
	}
	for line, want := range map[string]bool{"Disallow: /~ann/s/": true, "Disallow: /~dora/a/": true,
		"Disallow: /~dora/z/": true, "Allow: /~dora/": false,
		"foo": true, "Allow: /~eve/a/b/": true, "~ann/.in": false, ".~": false} {
		if denies(s, line) != want {
			t.Errorf("%q is %v in robots.txt:\n%s", line, !want, s.Now().Robots)
		}
	}
	if at := asGemini().Now(); at.Real("~cid/also") != "~cid/d" || !at.Has("~bob", true) ||
		s.Now().Has("~cid", true) || !slices.Equal(at.Tree.Phlogs(".", true), []string{"~cid"}) {
		t.Errorf("%q %q", at.Real("~cid/also"), at.Tree.Phlogs(".", true))
	}

	// Trees and annotations come and go.
	add(2002, "bob", map[string]string{"b.txt": "new", ".robots": "Disallow: /k/\n"})
	soon(t, "a tree for Gemini", func() bool {
		return gemini("~bob/b.txt") == "new" && gopher("~bob/b.txt") == "b" && denies(s, "/~bob/k/")
	})
	add(2002, "bob", map[string]string{".robots": "Disallow: /later/\n"})
	soon(t, "its annotation has changed", func() bool {
		return denies(s, "/~bob/later/") && !denies(s, "/~bob/k/")
	})
	must(t, os.RemoveAll(filepath.Join(h.dir, "ann", "public_gemini")))
	soon(t, "it is gone", func() bool {
		return gemini("~ann/x.txt") == "gopher" && !denies(s, "/~ann/s/")
	})
}
