package site_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// listed are the names in the listing of a directory.
func listedNames(t *testing.T, s *site.Site, dir string) []string {
	t.Helper()
	list, err := s.View(t.Context()).ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range list {
		if name := selector.Join(dir, e.Name()); e.IsDir() {
			names = append(names, name+"/")
		} else {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A program is not there, by whatever name it is asked for; a script that is
// published as a text is.
func TestAbuseProgramsAreNotShown(t *testing.T) {
	const source = "#!/bin/sh\nPASSWORD=secret\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"d/gophermap": "=run me\n=run -x\n=/lib/inner\n=bom\n=sh script\n=/usr/bin/python3 -u count.py 1\n=cat a.txt\n", "d/count.py": "PASSWORD = 1\n", "d/a.txt": "a\n", "d/run": source, "links/gophermap": "7Count\tcount?x\n1Feed\t/lib/feed\n0Read\tread.sh\n7By name\t/lib/named\tour.example\t70\n1Dir\t/tagged\n1Their\t/~bob/s.sh\n", "links/count": source, "lib/feed": source, "lib/named": source, "links/read.sh": source, "d/bom": "\ufeff" + source, "d/script": source, "lib/inner": "=/lib/deep\n", "lib/deep": source,
		"alias": "-> lib", "other": "-> lib/deep", "lib/script.sh": source, "lib/a.txt": "a",
		"lib/x.cgi": source, "cgi-bin/y": source, "lib/z.dcgi": source, "lib/x.cgi~": source,
		"lib/gophermap~": "old", "tagged/gophertag": source, "map/gophermap": source,
		"map/x.gph": source, "map/b.txt": "b", "gophertag": "tag",
	})
	var log treetest.Log
	bob := t.TempDir() // what maps outside a tree say of it closes nothing
	write(t, bob, map[string]string{"s.sh": source})
	s, err := site.Open(dir, site.Config{Log: log.Logger(),
		Mounts: map[string]string{"~bob": bob}})
	must(t, err)
	hidden := []string{"d/run", "d/bom", "d/script", "d/count.py", "lib/x.cgi~", "lib/gophermap~",
		"lib/deep", "alias/deep", "other", "lib/x.cgi", "cgi-bin", "cgi-bin/y", "lib/z.dcgi",
		"links/count", "lib/feed", "alias/feed", "lib/named", "map/gophermap", "gophertag"}
	check := func(when string, ctx context.Context) {
		t.Helper()
		for _, name := range hidden {
			if f, err := s.View(ctx).Lookup(name); !errors.Is(err, fs.ErrNotExist) &&
				(s.Now() != nil || !errors.Is(err, context.Canceled)) {
				t.Errorf("%s: %s: %v, %v", when, name, f, err)
			}
			if _, size, ok := s.View(ctx).Ready(name, 0); ok {
				t.Errorf("%s: %s at once: %d bytes", when, name, size)
			}
		}
	}
	waitsForNothing, cancel := context.WithCancel(t.Context())
	cancel()
	check("before the scan", waitsForNothing)
	begun, waited := make(chan struct{}), make(chan error)
	go func() {
		close(begun)
		_, err := s.View(t.Context()).Lookup("d/script")
		waited <- err
	}()
	<-begun
	running(t, s)
	if err := <-waited; !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what waited for the scan: %v", err)
	}
	check("after the scan", t.Context())
	must(t, canOpen(s, "d/a.txt"))
	must(t, canOpen(s, "lib/script.sh"))
	must(t, canOpen(s, "links/read.sh"))
	must(t, canOpen(s, "~bob/s.sh"))
	if got, want := listedNames(t, s, "lib"),
		[]string{"lib/a.txt", "lib/inner", "lib/script.sh"}; !slices.Equal(got, want) {
		t.Errorf("lib lists %q, want %q", got, want)
	}
	if got, want := listedNames(t, s, "."),
		[]string{"alias/", "d/", "lib/", "links/", "map/", "tagged/",
			"~bob/"}; !slices.Equal(got, want) {
		t.Errorf("the root lists %q, want %q", got, want)
	}
	for _, want := range []string{"code=MENU-PROGRAM file=d/gophermap line=2",
		"code=MENU-PROGRAM file=lib/inner line=1",
		"file=links/gophermap line=1", "file=links/gophermap line=2", "file=cgi-bin line=0",
		"file=lib/x.cgi line=0", "file=lib/z.dcgi line=0", "file=map/gophermap line=1",
		"file=tagged/gophertag line=1", "file=map/x.gph line=1"} {
		soon(t, want, func() bool { return strings.Contains(log.String(), want) })
	}
	if robots := string(s.Now().Robots); strings.Contains(robots, "cgi") ||
		strings.Contains(robots, "gopherm") {
		t.Errorf("robots.txt tells of them:\n%s", robots)
	}

	// What becomes a program later is one from then on.
	must(t, canOpen(s, "lib/a.txt"))
	write(t, dir, map[string]string{"lib/inner": "=/lib/deep\n=/lib/script.sh\n"})
	soon(t, "an included script", func() bool { return canOpen(s, "lib/script.sh") != nil })
	write(t, dir, map[string]string{"lib/inner": source})
	if err := canOpen(s, "lib/inner"); err == nil {
		t.Error("an included text that became a program is shown")
	}
	must(t, os.Remove(filepath.Join(dir, "d/gophermap")))
	soon(t, "a script that nothing includes", func() bool {
		return canOpen(s, "lib/script.sh") == nil
	})
}

// TestLinkToProgramIsNotShown: a link under a harmless name does not show the
// source of a program, nor the directory of programs. Each map of a directory counts.
func TestLinkToProgramIsNotShown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.cgi": "#!/bin/sh\necho secret\n", "link.txt": "-> x.cgi",
		"cgi-bin/y": "secret", "programs": "-> cgi-bin", "ok.txt": "ok",
		"m/gophermap": "=one\n", "m/more.gph": "[7|More|/m/two|server|port]\n",
		"m/one": "#!/bin/sh\n", "m/two": "#!/bin/sh\n"})
	s := start(t, dir, site.Config{})
	shows(t, s, map[string]string{"link.txt": "error", "programs": "error",
		"programs/y": "error", "m/one": "error", "m/two": "error", "ok.txt": "ok",
		".": "dir [m ok.txt] <nil>"})
}

// TestAnsweredProgramsAreNotReported: what a program beside the site answers is no
// finding.
func TestAnsweredProgramsAreNotReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"cgi-bin/a.cgi": "", "b.dcgi": "", "c.cgi": "",
		"gophermap": "1Book\t/cgi-bin/a.cgi\n1Other\t/c.cgi\n"})
	for _, c := range []struct {
		programs []string
		want     int // findings
	}{{nil, 5}, {[]string{"/cgi-bin", "/*.dcgi"}, 2}} {
		var log treetest.Log
		t.Run(fmt.Sprint(c.programs), func(t *testing.T) {
			start(t, dir, site.Config{Programs: c.programs,
				Log: log.Logger()})
		})
		if n := strings.Count(log.String(), "code=MENU-PROGRAM"); n != c.want {
			t.Errorf("with %q: %s", c.programs, log.String())
		}
	}
}

// TestAnsweredFilesAreNotShown: the site does not show what a program answers, not
// under its own name and not under that of a link. Its own name is listed.
func TestAnsweredFilesAreNotShown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"app/script": "#!/bin/sh\necho secret\n", "alias": "-> app",
		"one.txt": "-> app/script", "d/a.php": "secret", "two.txt": "-> d/a.php",
		"ok.txt": "-> d/b.txt", "d/b.txt": "ok"})
	s := start(t, dir, site.Config{Programs: []string{"/app", "/*.php"}})
	shows(t, s, map[string]string{"alias/script": "error", "one.txt": "error",
		"two.txt": "error", "ok.txt": "ok", "d/a.php": "error", "app/script": "error",
		"d": "dir [a.php b.txt] <nil>", "alias": "dir [] <nil>", "app": "dir [script] <nil>"})
}

// What is refused is closed at once, not when memory is collected.
func TestRefusedIsClosed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/gophermap": "=run\n", "d/run": "#!/bin/sh\n"})
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	open := func() int {
		list, err := os.ReadDir("/dev/fd")
		must(t, err)
		return len(list)
	}
	before := open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it waits for no scan
	for range 100 {
		if _, err := s.View(ctx).Lookup("d/run"); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if after := open(); after > before+20 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
