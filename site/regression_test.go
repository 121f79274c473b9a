package site

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/watch"
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

func robotsHas(s *Site, line string) func() bool {
	return func() bool { return strings.Contains(string(s.Now().Robots), line+"\n") }
}

func robotsLacks(s *Site, line string) func() bool {
	return func() bool { return !robotsHas(s, line)() }
}

// A link that hung is followed as soon as what it leads to is there.
func TestLinkComesAlive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x", "a/link": "-> ../d/later"})
	s := started(t, dir, Config{})
	write(t, dir, map[string]string{"d/later/.robots": "Disallow: /\n", "d/later/x": "x"})
	soon(t, "a link that leads somewhere now", robotsHas(s, "Disallow: /a/link/"))
	must(t, os.RemoveAll(filepath.Join(dir, "d/later")))
	soon(t, "a link that hangs again", robotsLacks(s, "Disallow: /a/link/"))
}

// A link is followed again when one on its way is changed.
func TestLinkThroughLinkFollows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one/x": "x", "two/.robots": "Disallow: /\n", "two/x": "x", "way/on": "-> ../one",
		"a/link": "-> ../way/on",
	})
	s := started(t, dir, Config{})
	must(t, os.Symlink("../two", filepath.Join(dir, "way/new")))
	must(t, os.Rename(filepath.Join(dir, "way/new"), filepath.Join(dir, "way/on")))
	soon(t, "the other end of the link", robotsHas(s, "Disallow: /a/link/"))
}

// A text that is written again leaves the policy as it is.
func TestNothingIsCompiledForTexts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n", "d/x": "x", "e/y": "y"})
	s := started(t, dir, Config{})
	before := s.Now()
	for _, text := range []string{"1", "22", "333"} {
		write(t, dir, map[string]string{"d/x": text})
		time.Sleep(60 * time.Millisecond)
	}
	write(t, dir, map[string]string{"d/new": "x"})
	time.Sleep(60 * time.Millisecond)
	if s.Now() != before {
		t.Error("a new snapshot")
	}
	write(t, dir, map[string]string{"d/.robots": "Disallow: /new\n"})
	soon(t, "a new annotation", func() bool { return s.Now() != before })
}

// TestManyLinks: past the bound links are not followed, listed or denied, whatever way leads to
// them. Who makes many takes nothing from others.
func TestManyLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"phlog/x.txt": "x", "phlog/.robots": "Disallow: /y.txt\n",
		"blog": "-> phlog", "a/1.txt": "", "way": "-> a"})
	for i := range maxDirLinks + 200 {
		must(t, os.Symlink("../phlog", filepath.Join(dir, "a", fmt.Sprintf("l%04d", i))))
	}
	s := started(t, dir, Config{})
	last, first := fmt.Sprintf("l%04d", maxDirLinks+199), "l0000"
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
	if len(list) != maxDirLinks-2+1 { // two links are in the root
		t.Errorf("%d names are listed", len(list))
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		wanted map[string]int
		most   int
		each   int
	}{
		{map[string]int{}, 10, 0},
		{map[string]int{"a": 3, "b": 4}, 10, 4},
		{map[string]int{"a": 3, "b": 40}, 10, 7},
		{map[string]int{"a": 1, "b": 40, "c": 50}, 10, 4},
		{map[string]int{"a": 10}, 10, 10},
	} {
		if got := share(test.wanted, test.most); got != test.each {
			t.Errorf("%v of %d: %d, want %d", test.wanted, test.most, got, test.each)
		}
	}
}

// The root is followed by its name, and nothing of an old one is kept.
func TestRootGoneAndBack(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "root")
	write(t, base, map[string]string{"root/d/x": "old", "next/d/x": "new",
		"next/d/.robots": "Disallow: /x\n"})
	s := started(t, dir, Config{})
	read := func() string {
		f, err := lookup(s, "d/x")
		if err != nil {
			return err.Error()
		}
		defer func() { _ = f.Close() }()
		var b [10]byte
		n, _ := f.Read(b[:])
		return string(b[:n])
	}
	must(t, os.Rename(dir, filepath.Join(base, "gone")))
	time.Sleep(50 * time.Millisecond)
	if got := read(); got != "old" {
		t.Errorf("while the root is gone: %q", got)
	}
	must(t, os.Rename(filepath.Join(base, "next"), dir))
	soon(t, "the new root", func() bool { return read() == "new" })
	soon(t, "its robots.txt", robotsHas(s, "Disallow: /d/x"))
}

// A directory that cannot be listed is denied, because nobody knows what is in it:
// one that can be searched, whose files are answered, and one that is shut, which
// its owner may open at any time.
func TestUnlistableDirectoryIsDenied(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"search/x": "x", "shut/x": "x", "x": "x"})
	must(t, os.Chmod(filepath.Join(dir, "search"), 0o311))
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
	defer func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o755) }()
	defer func() { _ = os.Chmod(filepath.Join(dir, "search"), 0o755) }()
	s := started(t, dir, Config{})
	if f, err := lookup(s, "search/x"); err != nil {
		t.Error(err)
	} else {
		_ = f.Close()
	}
	asFS := FS(os.DirFS(dir), Config{})
	_, stop, err := asFS.Read(t.Context())
	must(t, err)
	must(t, stop())
	for _, s := range []*Site{s, asFS} {
		if !robotsHas(s, "Disallow: /search/")() || !robotsHas(s, "Disallow: /shut/")() {
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
}

// An annotation that cannot be read denies its directory until it can be.
func TestUnreadableAnnotation(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n", "d/x": "x", "d/y": "y"})
	note := filepath.Join(dir, "d/.robots")
	must(t, os.Chmod(note, 0))
	s := started(t, dir, Config{})
	if !robotsHas(s, "Disallow: /d/")() {
		t.Errorf("robots.txt:\n%s", s.Now().Robots)
	}
	must(t, os.Chmod(note, 0o644))
	soon(t, "what it says", func() bool {
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
	s, err := Open(dir, Config{})
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
	if _, err := s.View(t.Context()).ReadDir("shut"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("shut: %v", err)
	}
}

// TestStoppedReloadIsNoError: a reload that the end of gophd cuts short is not
// reported as a content tree that cannot be read.
func TestStoppedReloadIsNoError(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x": "x"})
	var log bytes.Buffer
	s, err := Open(dir, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	s.guard.Stop()
	if err := s.changed(watch.Batch{All: true}); !errors.Is(err, stall.ErrStopped) {
		t.Errorf("the reload is not cut short: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}
