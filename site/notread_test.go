package site_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/site"
)

// reported lists the reports with a code about a tree of files, as "file:line severity
// text".
func reported(t *testing.T, files map[string]string, codes ...string) (list []string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	s := start(t, dir, site.Config{})
	snap, err := s.Snapshot(t.Context())
	must(t, err)
	for _, r := range snap.Reports {
		if slices.Contains(codes, r.Code) {
			list = append(list, fmt.Sprintf("%s:%d %s %s", r.File, r.Line, r.Severity, r.Message))
		}
	}
	slices.Sort(list)
	return list
}

// TestNotRead: a file that is called almost like an annotation is an error, wherever it
// lies; one that has another name, or that counts, is not.
func TestNotRead(t *testing.T) {
	const text = "User-agent: *\nDisallow: /x\n"
	for file, want := range map[string]bool{
		"phlog/robots.txt": true, ".robots.txt": true, "phlog/.robots.txt": true, ".Robots": true,
		"phlog/.ROBOTS": true, "ROBOTS.TXT": true,
		"Robots.txt": true, "phlog/robots": true, "phlog/.robot": true, "Robots": true,
		"robots.txt": false, ".robots": false, "phlog/.robots": false, "phlog/robots.html": false,
		"phlog/my-robots.txt": false,
	} {
		list := reported(t, map[string]string{file: text, "x": "", "phlog/x": "",
			"phlog/index.txt": ""}, policy.CodeNotRead)
		if !want && len(list) > 0 ||
			want && !slices.Equal(list,
				[]string{file + ":0 error it is not read: did you mean .robots?"}) {
			t.Errorf("%s: %q", file, list)
		}
	}
}

// broken is a tree that cannot be read.
type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, syscall.EIO }

// A command that reads a tree once is told why it cannot be read.
func TestReadFails(t *testing.T) {
	if _, _, err := site.FS(broken{}, site.Config{}).Read(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	s := site.FS(fstest.MapFS{"x": {Data: []byte("x")}}, site.Config{Files: true})
	snap, stop, err := s.Read(t.Context())
	must(t, err)
	if snap != s.Now() || snap.Tree.Find("x") != nil || len(snap.Tree.Files) != 2 {
		t.Errorf("read %+v", snap.Tree)
	}
	must(t, stop())
	must(t, stop())
}
