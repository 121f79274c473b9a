package site_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

var (
	write, must, soon      = treetest.Write, treetest.Must, treetest.Until
	start, running, aged   = site.Start, site.Running, site.Aged
	canOpen                = site.CanOpen
	robotsHas, robotsLacks = site.RobotsHas, site.RobotsLacks
)

func lookup(s *site.Site, name string) (*site.Resource, error) {
	return s.View(context.Background()).Lookup(name)
}

func content(s *site.Site, name string) string {
	return shown(s.View(context.Background()), name)
}

// shown is what a View shows under a name; "error" is any error.
func shown(v *site.View, name string) string {
	f, err := v.Lookup(name)
	if err != nil {
		return "error"
	}
	defer func() { _ = f.Close() }()
	if f.Info.IsDir() {
		list, err := v.ReadDir(name)
		var names []string
		for _, e := range list {
			names = append(names, e.Name())
		}
		slices.Sort(names)
		return fmt.Sprint("dir ", names, err)
	}
	b := make([]byte, 1000)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

// shows checks what names show.
func shows(t *testing.T, s *site.Site, names map[string]string) {
	t.Helper()
	for name, want := range names {
		if got := content(s, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if _, size, ok := s.View(t.Context()).Ready(name, 0); ok && want == "error" {
			t.Errorf("%s at once: %d bytes", name, size)
		}
	}
}

// says checks that robots.txt has these lines.
func says(t *testing.T, s *site.Site, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !denies(s, line) {
			t.Errorf("robots.txt lacks %q:\n%s", line, s.Now().Robots)
		}
	}
}

func denies(s *site.Site, text string) bool {
	return strings.Contains(string(s.Now().Robots), text)
}

func TestHiddenAndControlNamesAreNotThere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/config": "x", "x/.hidden": "x", ".robots": "Disallow: /x\n", "bad\nname": "x",
		"esc\x1b[31m": "x", "c1\u009b": "x", "good": "x",
	})
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	for _, name := range []string{".git/config", ".git", "x/.hidden", ".robots", "bad\nname",
		"esc\x1b[31m", "c1\u009b", "/good", "x/../good", ""} {
		if f, err := lookup(s, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v, %v", name, f, err)
		}
	}
	list, err := s.View(t.Context()).ReadDir(".")
	must(t, err)
	if len(list) != 2 {
		t.Errorf("listing: %v", list)
	}
}

func TestWhoForbids(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"shut/file": "x", "file": "x"})
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "file"), 0o200))
	var log bytes.Buffer
	s, err := site.Open(dir, site.Config{Log: slog.New(slog.NewTextHandler(&log,
		&slog.HandlerOptions{Level: slog.LevelWarn}))})
	must(t, err)
	for name, want := range map[string]string{"shut/file": `"shut" has mode drw-------`,
		"file": `"file" has mode --w-------`} {
		if _, err := lookup(s, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		_, _ = lookup(s, name)
		if strings.Count(log.String(), "file="+name+" ") != 1 {
			t.Errorf("%s is not told once, as a warning: %s", name, log.String())
		}
	}
	for i := range 50 {
		_, _ = lookup(s, fmt.Sprint("shut/", i))
	}
	if n := strings.Count(log.String(), "PERMISSION"); n != 2 {
		t.Errorf("names that a client has made up: %d lines:\n%s", n, log.String())
	}
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0o700))
}

// names lists what a scan has found.
func names(d *site.Dir) string {
	list := d.Name
	for _, f := range d.Files {
		list += " " + f.Name
	}
	for _, sub := range d.Dirs {
		list += "\n" + names(sub)
	}
	return list
}

// An fs.FS has the robots.txt of its directory, and the same reports.
func TestFSHasTheSamePolicy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x.txt\nDisallow: /y.txt\n",
		"d/x.txt": "", "d/gophermap": "=run\n", "d/run": "#!/bin/sh\n", "e/.robots/": "",
		"e/robots.txt": "",
		"robots.txt":   "User-agent: *\nDisallow: /b\n", ".robots": "Allow: /b/c\n", "b/c": "",
		"2026-01-01.txt": ""})
	want, err := site.Load(dir)
	must(t, err)
	s := site.FS(os.DirFS(dir), site.Config{})
	running(t, s)
	got := s.Now()
	if string(got.Robots) != string(want.Robots) ||
		fmt.Sprint(got.Reports) != fmt.Sprint(want.Reports) || names(got.Tree) != names(want.Tree) {
		t.Errorf("robots.txt:\n%s\n%v\n%s\nwant:\n%s\n%v\n%s", got.Robots, got.Reports,
			names(got.Tree), want.Robots, want.Reports, names(want.Tree))
	}
	if text := fmt.Sprint(got.Reports); !denies(s, "Disallow: /e/\n") ||
		!strings.Contains(text, "e/.robots") {
		t.Errorf("a directory in place of an annotation: %s\n%s", got.Robots, text)
	}
	if err := canOpen(s, "d/run"); err == nil {
		t.Error("a program is shown")
	}
}
