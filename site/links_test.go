package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/site"
)

// TestAliases: every selector of an alias works; robots are told to read the real name where
// the name above it, or below, says something.
func TestAliases(t *testing.T) {
	dir, pub, twice := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, pub, map[string]string{"p.txt": "p"})
	write(t, twice, map[string]string{"d/x.txt": "x", "d/.robots": "Disallow: /y.txt\n",
		"abs": "-> " + twice + "/d"})
	write(t, dir, map[string]string{
		".robots": "Disallow: /phlog/drafts/\n", "phlog/2026-01-03.txt": "three",
		"phlog/drafts/x.txt": "x",
		"blog":               "-> phlog", "sub/old": "-> ../phlog",
		"latest.txt":     "-> phlog/2026-01-03.txt",
		"secret/.robots": "Disallow: /\n", "secret/inner/s.txt": "s",
		"sub/inn": "-> ../secret/inner", "s.txt": "-> secret/inner/s.txt",
		"sub/way": "-> old/drafts", "self/up": "-> ..", "self/here": "-> .",
		"free/f.txt": "f", "also": "-> free", "mirror": "-> " + pub,
		".hid/.robots": "Disallow: /no.txt\n", ".hid/no.txt": "n", ".hid/yes.txt": "y",
		".hid/in/i.txt": "i",
		"z":             "-> .hid", "b": "-> .hid", "in": "-> .hid/in", "y.txt": "-> .hid/yes.txt",
		"hang": "-> free/later", "turn": "-> on/it", "on/it": "-> ../free", "on/new": "-> ../secret",
		".data/d.txt": "d", "d2.txt": "-> .data/d.txt", "d1.txt": "-> .data/d.txt",
	})
	s := start(t, dir, site.Config{Mounts: map[string]string{"pub": pub, "one": twice,
		"two": twice, "news": dir + "/phlog"}})
	snap := s.Now()
	for name, want := range map[string]struct {
		real string
		open bool
	}{
		"blog/2026-01-03.txt":     {"phlog/2026-01-03.txt", false},
		"blog/drafts/x.txt":       {"phlog/drafts/x.txt", false},
		"news/2026-01-03.txt":     {"phlog/2026-01-03.txt", false},
		"phlog/2026-01-03.txt":    {"phlog/2026-01-03.txt", true},
		"latest.txt":              {"phlog/2026-01-03.txt", true},
		"sub/old/2026-01-03.txt":  {"phlog/2026-01-03.txt", false},
		"sub/inn/s.txt":           {"secret/inner/s.txt", false},
		"s.txt":                   {"secret/inner/s.txt", false},
		"sub/way/x.txt":           {"phlog/drafts/x.txt", false},
		"also/f.txt":              {"free/f.txt", true},
		"mirror/p.txt":            {"pub/p.txt", true},
		"one/d/x.txt":             {"one/d/x.txt", true},
		"one/abs/x.txt":           {"one/d/x.txt", false},
		"two/d/x.txt":             {"one/d/x.txt", false},
		"two/abs/x.txt":           {"one/d/x.txt", false},
		"b/yes.txt":               {"b/yes.txt", true},
		"b/no.txt":                {"b/no.txt", false},
		"z/yes.txt":               {"b/yes.txt", false},
		"d1.txt":                  {"d1.txt", true},
		"d2.txt":                  {"d1.txt", true},
		"phlog/nothing/there.txt": {"phlog/nothing/there.txt", true},
	} {
		if err := canOpen(s, name); err != nil && name != "phlog/nothing/there.txt" {
			t.Errorf("%s: %v", name, err)
		}
		if got := snap.Real(name); got != want.real {
			t.Errorf("%s is %s, want %s", name, got, want.real)
		}
		if got := snap.Open(name, false); got != want.open {
			t.Errorf("%s: open: %v\n%s", name, got, snap.Robots)
		}
	}
	for _, name := range []string{"self/up", "self/here", "in/i.txt", "y.txt"} { // loops; an annotation behind a dot is above
		if err := canOpen(s, name); err == nil {
			t.Errorf("%s is answered", name)
		}
	}
	if got := snap.Tree.Phlogs(".", true); len(got) != 1 || got[0] != "phlog" {
		t.Errorf("phlogs: %q", got)
	}

	// The first link behind a dot goes: the next one is the real name.
	must(t, os.Remove(filepath.Join(dir, "b")))
	soon(t, "the next link", func() bool {
		return s.Now().Real("z/yes.txt") == "z/yes.txt" && denies(s, "Disallow: /z/no.txt")
	})

	// A link is followed as soon as it leads somewhere, and again when one on its way is turned.
	write(t, dir, map[string]string{"free/later/.robots": "Disallow: /\n", "free/later/x": "x"})
	soon(t, "a link that leads somewhere now", robotsHas(s, "Disallow: /hang/"))
	must(t, os.Rename(filepath.Join(dir, "on/new"), filepath.Join(dir, "on/it")))
	soon(t, "the other end of a link", func() bool {
		return s.Now().Real("turn/inner/s.txt") == "secret/inner/s.txt"
	})
	must(t, os.RemoveAll(filepath.Join(dir, "free/later")))
	soon(t, "a link that hangs again", robotsLacks(s, "Disallow: /hang/"))

	// A new link is denied as soon as the scan has found it, and follows its target.
	write(t, dir, map[string]string{"new": "-> secret"})
	soon(t, "a new link", func() bool { return denies(s, "Disallow: /new/\n") })
	must(t, os.Remove(filepath.Join(dir, "secret/.robots")))
	soon(t, "nothing denies it", func() bool {
		return !denies(s, "/new/") && !denies(s, "/sub/inn/")
	})
}

// TestManyLinks: past the bound links are not followed, listed or denied, whatever way leads to
// them. Who makes many takes nothing from others.
func TestManyLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"phlog/x.txt": "x", "phlog/.robots": "Disallow: /y.txt\n",
		"blog": "-> phlog", "a/1.txt": "", "way": "-> a"})
	for i := range 1000 + 200 {
		must(t, os.Symlink("../phlog", filepath.Join(dir, "a", fmt.Sprintf("l%04d", i))))
	}
	s := start(t, dir, site.Config{})
	last, first := fmt.Sprintf("l%04d", 1000+199), "l0000"
	for name, followed := range map[string]bool{"blog/x.txt": true, "a/" + first + "/x.txt": true,
		"way/" + first:         true,
		"a/" + last + "/x.txt": false, "a/" + last: false, "way/" + last + "/x.txt": false} {
		if err := canOpen(s, name); (err == nil) != followed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !robotsHas(s, "Disallow: /blog/")() || !robotsHas(s, "Disallow: /a/"+first+"/")() ||
		!robotsLacks(s, "Disallow: /a/"+last+"/")() {
		t.Errorf("robots.txt:\n%.500s", s.Now().Robots)
	}
	list, err := s.View(t.Context()).ReadDir("a")
	must(t, err)
	if len(list) != 1000-2+1 { // two links are in the root
		t.Errorf("%d names are listed", len(list))
	}
}
