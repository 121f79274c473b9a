package site

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAliases: every selector of an alias works; robots are told to read the real name where
// the name above it, or below, says something.
func TestAliases(t *testing.T) {
	dir, pub := t.TempDir(), t.TempDir()
	write(t, pub, map[string]string{"p.txt": "p"})
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
		".data/d.txt": "d", "d2.txt": "-> .data/d.txt", "d1.txt": "-> .data/d.txt",
	})
	s := start(t, dir, Config{Mounts: map[string]string{"pub": pub, "news": dir + "/phlog"}})
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

	// A new link is denied as soon as the scan has found it, and follows its target.
	write(t, dir, map[string]string{"new": "-> secret"})
	soon(t, "a new link", func() bool { return denies(s, "Disallow: /new/\n") })
	must(t, os.Remove(filepath.Join(dir, "secret/.robots")))
	soon(t, "nothing denies it", func() bool {
		return !denies(s, "/new/") && !denies(s, "/sub/inn/")
	})
}
