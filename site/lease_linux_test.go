package site_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// TestLeases: who holds leases on files costs nobody else anything. A file is busy, the
// directory of an annotation is denied, be it in a capsule, and what a map includes is refused as before,
// until they can be read again, which no event says.
func TestLeases(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x": "x", "n/.robots": "Disallow: /y\n", "n/y": "", "n/z": "",
		"m/gophermap": "=run\n", "m/x.gph": "", "m/index.gmi": "", "m/run": "#!/bin/sh\n", "o/.robots": "Disallow: /x\n", "o/x": ""})
	h := newHome(t)
	capsule := filepath.Join(h.add(t, 2001, "ann",
		map[string]string{"../public_gemini/.robots": "Disallow: /y\n"}), "../public_gemini")
	conf := h.config()
	conf.Poll, conf.Capsules = -1, filepath.Join(h.dir, "*", "public_gemini")
	s := start(t, dir, conf)
	time.Sleep(2100 * time.Millisecond) // what is younger is compared again anyway
	var free []func()
	for _, name := range []string{"a/x", "n/.robots", "m/gophermap", "m/x.gph", "m/index.gmi"} {
		free = append(free, treetest.Lease(t, filepath.Join(dir, name)))
	}
	free = append(free, treetest.Lease(t, filepath.Join(capsule, ".robots")))
	if err := canOpen(s, "a/x"); !errors.Is(err, stall.Err) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a leased file, which is there: %v", err)
	}
	for _, name := range []string{"m/gophermap", "m/x.gph", "m/index.gmi"} {
		m := s.View(t.Context())
		if _, err := m.Open(name); err == nil || m.Err() == nil {
			t.Errorf("%s, which is leased, is left out of what is made", name)
		}
	}
	began := time.Now()
	s.Reload()
	soon(t, "denial of what cannot be read", robotsHas(s, "Disallow: /n/"))
	soon(t, "that of a capsule, too", robotsHas(s, "Disallow: /~ann/"))
	write(t, dir, map[string]string{"o/.robots": "Disallow: /new\n", "o/new": ""})
	soon(t, "what others wrote", robotsHas(s, "Disallow: /o/new"))
	if time.Since(began) > 40*time.Second {
		t.Skip("the kernel takes leases back by now")
	}
	if err := canOpen(s, "m/run"); err == nil {
		t.Error("a program is shown while its map cannot be read")
	}
	for _, f := range free {
		f()
	}
	soon(t, "the annotation", robotsHas(s, "Disallow: /n/y"))
	soon(t, "the capsule's", robotsHas(s, "Disallow: /~ann/y"))
	must(t, canOpen(s, "a/x"))
	if err := canOpen(s, "m/run"); err == nil {
		t.Error("a program is shown")
	}

	// So can the next one that is leased.
	write(t, dir, map[string]string{"next": "Disallow: /z\n"})
	again := treetest.Lease(t, filepath.Join(dir, "next"))
	must(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "n/.robots")))
	soon(t, "denial of what cannot be read again", robotsHas(s, "Disallow: /n/"))
	again()
	soon(t, "the next annotation", robotsHas(s, "Disallow: /n/z"))
}

// TestFailedOpen: what Open has opened before it fails, it closes.
func TestFailedOpen(t *testing.T) {
	dir, mounted := t.TempDir(), t.TempDir()
	if s, err := site.Open(dir, site.Config{Mounts: map[string]string{"a": mounted,
		"b": filepath.Join(dir, "none")}}); s != nil || err == nil {
		t.Errorf("%v, %v", s, err)
	}
	list, err := filepath.Glob("/proc/self/fd/*")
	must(t, err)
	for _, fd := range list {
		if to, _ := os.Readlink(fd); to == dir || to == mounted {
			t.Errorf("%s is open", to)
		}
	}
}
