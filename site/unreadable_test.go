package site_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/gophd/gophd/site"
)

// unprivileged makes the rest of the test go on as an ordinary user: root may read
// everything. A test that calls it must not be parallel.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	group := os.Getegid()
	t.Setenv("TMPDIR", "/tmp")
	must(t, syscall.Setegid(65534))
	must(t, syscall.Seteuid(65533)) // 65534 owns what the kernel does not show
	t.Cleanup(func() { must(t, errors.Join(syscall.Seteuid(0), syscall.Setegid(group))) })
}

// A directory that cannot be listed is denied, because nobody knows what is in it:
// one that can be searched, whose files are answered, and one that is shut, which
// its owner may open at any time. So is one with an annotation that cannot be read.
func TestUnlistableDirectoryIsDenied(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"search/x": "x", "shut/x": "x", "x": "x",
		"d/.robots": "Disallow: /x\n", "d/x": "x", "d/y": "y"})
	note := filepath.Join(dir, "d/.robots")
	must(t, os.Chmod(note, 0))
	must(t, os.Chmod(filepath.Join(dir, "search"), 0o311))
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
	defer func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o755) }()
	defer func() { _ = os.Chmod(filepath.Join(dir, "search"), 0o755) }()
	s := start(t, dir, site.Config{})
	if f, err := lookup(s, "search/x"); err != nil {
		t.Error(err)
	} else {
		_ = f.Close()
	}
	asFS := site.FS(os.DirFS(dir), site.Config{})
	_, stop, err := asFS.Read(t.Context())
	must(t, err)
	must(t, stop())
	for _, s := range []*site.Site{s, asFS} {
		if !robotsHas(s, "Disallow: /search/")() || !robotsHas(s, "Disallow: /shut/")() ||
			!robotsHas(s, "Disallow: /d/")() {
			t.Errorf("robots.txt:\n%s", s.Now().Robots)
		}
	}
	must(t, os.Chmod(filepath.Join(dir, "search"), 0o755))
	soon(t, "a directory that opens", robotsLacks(s, "Disallow: /search/"))
	must(t, os.WriteFile(filepath.Join(dir, "search/.robots"), []byte("Disallow: /x\n"), 0o644))
	soon(t, "what is in it", robotsHas(s, "Disallow: /search/x"))
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0o755))
	soon(t, "a shut directory that opens", robotsLacks(s, "Disallow: /shut"))
	must(t, os.WriteFile(filepath.Join(dir, "shut/.robots"), []byte("Disallow: /x\n"), 0o644))
	soon(t, "a directory that was shut", robotsHas(s, "Disallow: /shut/x"))
	must(t, os.Chmod(note, 0o644))
	soon(t, "what the annotation says", func() bool {
		return robotsHas(s, "Disallow: /d/x")() && robotsLacks(s, "Disallow: /d/")()
	})
	must(t, os.Chmod(note, 0))
	soon(t, "denial", robotsHas(s, "Disallow: /d/"))
}

// What cannot be read is not listed.
func TestUnreadableIsNotListed(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"shut/x": "x", "search/x": "x", "secret": "x",
		"open/x": "x", "text": "x"})
	for name, mode := range map[string]fs.FileMode{"shut": 0, "search": 0o311, "secret": 0} {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
		defer func() { _ = os.Chmod(filepath.Join(dir, name), 0o755) }()
	}
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	list, err := s.View(t.Context()).ReadDir(".")
	must(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if slices.Sort(got); !slices.Equal(got, []string{"open", "text"}) {
		t.Errorf("listed: %q", got)
	}
	for _, name := range []string{"shut", "shut/x", "secret"} {
		if err := canOpen(s, name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.View(t.Context()).ReadDir("shut"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("shut: %v", err)
	}
}
