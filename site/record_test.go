package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// What lists the files of a site has them from the records of the scan, and finds what has
// changed by comparing two of its trees. An edit of a text makes no new policy.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{
		"a.txt": "text", "README": "text", "data": "\x00\x01", "page.gph": "[1|x|/|server|port]",
		"run.gph":     "#!/bin/sh\n",
		"phlog/x.txt": "old", "other/y.txt": "", "other/gophermap": "=../prog\n",
		"prog": "#!/bin/sh\n", "link.txt": "-> a.txt", "blog": "-> phlog",
		".robots": "Disallow: /other/\n",
	})
	s := start(t, dir, site.Config{Files: true})
	records := func(snap *site.Snapshot, dir string) (list []string) {
		for f := range s.View(t.Context()).Files(snap, dir, nil) {
			list = append(list, fmt.Sprintf("%c%s %d", f.Type, f.Name, f.Size))
		}
		return list
	}
	first := s.Now()
	if got, want := records(first, "."),
		[]string{"0README 4", "0a.txt 4", "9data 2", "1page.gph 19"}; !slices.Equal(got, want) {
		t.Errorf("the root has %q, want %q", got, want)
	}
	if got := records(first, "blog"); got != nil {
		t.Errorf("an alias has %q", got)
	}

	// next returns the directories that differ after a change, with the files where only
	// these differ.
	next := func(change func(), want []string) (snap *site.Snapshot, names []string) {
		t.Helper()
		old := s.Now()
		change()
		eventually(func() bool {
			names = nil
			for dir, files := range s.Now().Changes(old) {
				names = append(names, strings.Join(append([]string{dir}, files...), " "))
			}
			slices.Sort(names)
			return len(names) >= len(want)
		})
		return s.Now(), names
	}
	write := func(name, text string) {
		treetest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, step := range []struct {
		what   string
		change func()
		want   []string
	}{
		{"a text", func() { write("phlog/x.txt", "new text") }, []string{"phlog x.txt"}},
		{"a map", func() { write("other/gophermap", "=../prog\nmore") }, []string{"other"}},
		{"a new directory", func() {
			treetest.Write(t, dir, map[string]string{"new/deep/z.txt": ""})
		}, []string{".", "new", "new/deep"}},
		{"one that is gone", func() {
			treetest.Must(t, os.RemoveAll(filepath.Join(dir, "new")))
		}, []string{".", "new"}},
	} {
		policy := s.Now().Compiled
		snap, got := next(step.change, step.want)
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
		if isEdit := len(step.want) == 1; isEdit != (snap.Compiled == policy) {
			t.Errorf("%s: compiled again: %v", step.what, !isEdit)
		}
	}
	if got, want := records(s.Now(), "phlog"), []string{"0x.txt 8"}; !slices.Equal(got, want) {
		t.Errorf("phlog has %q, want %q", got, want)
	}
	if got := s.Now().Changes(nil); len(got) != 3 {
		t.Errorf("without an older snapshot: %v", got)
	}
}
