package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

var write, must = treetest.Write, treetest.Must

func lookup(s *Site, name string) (*Resource, error) {
	return s.View(context.Background()).Lookup(name)
}

func TestHiddenAndControlNamesAreNotThere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/config": "x", "x/.hidden": "x", ".robots": "Disallow: /x\n", "bad\nname": "x",
		"esc\x1b[31m": "x", "c1\u009b": "x", "good": "x",
	})
	s, err := Open(dir, Config{})
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
	s, err := Open(dir, Config{Log: slog.New(slog.NewTextHandler(&log,
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

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// An fs.FS has the robots.txt of its directory, and the same reports.
func TestFSHasTheSamePolicy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x.txt\nDisallow: /y.txt\n",
		"d/x.txt": "", "d/gophermap": "=run\n", "d/run": "#!/bin/sh\n", "e/.robots/": "",
		"e/robots.txt": "",
		"robots.txt":   "User-agent: *\nDisallow: /b\n", ".robots": "Allow: /b/c\n", "b/c": "",
		"2026-01-01.txt": ""})
	want, err := Load(dir)
	must(t, err)
	s := FS(os.DirFS(dir), Config{})
	running(t, s)
	got := s.Now()
	if string(got.Robots) != string(want.Robots) ||
		fmt.Sprint(got.Reports) != fmt.Sprint(want.Reports) || dump(got.Tree) != dump(want.Tree) {
		t.Errorf("robots.txt:\n%s\n%v\n%s\nwant:\n%s\n%v\n%s", got.Robots, got.Reports,
			dump(got.Tree), want.Robots, want.Reports, dump(want.Tree))
	}
	if err := canOpen(s, "d/run"); err == nil {
		t.Error("a program is shown")
	}
}

func TestForbiddenIsForbidden(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"shut/file": "x", "file": "x"})
	for _, name := range []string{"shut", "file"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0))
		defer func() { _ = os.Chmod(filepath.Join(dir, name), 0o755) }()
	}
	s, err := Open(dir, Config{})
	must(t, err)
	for _, name := range []string{"shut", "shut/file", "file"} {
		if err := canOpen(s, name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
