package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// What is left out is told once, in one line, with the count and the first.
func TestLeftOutIsTold(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/ok.txt": "", "a/x\xff": "", "a/y\nz": "",
		"b/out": "-> /etc/hostname", "b/in": "-> ../a", "b/.hidden": "", "b/gone": "-> no",
		"c/secret.txt": "", "c/shut/x": "", "gophermap": "Hi\n", "c/x.cgi": ""})
	for i := range 20 { // behind pub, another tree
		write(t, dir, map[string]string{fmt.Sprintf("z%d\xff", i): "", "pub/x": ""})
	}
	must(t, os.Chmod(filepath.Join(dir, "c/secret.txt"), 0))
	must(t, os.Chmod(filepath.Join(dir, "c/shut"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "c/shut"), 0o700) })
	var log treetest.Log
	s, err := site.Open(dir, site.Config{Mounts: map[string]string{"pub": t.TempDir()},
		Log: log.Logger()})
	must(t, err)
	running(t, s)
	const want = "left out: 25 names, such as this one: 1 out of the tree by a link, 2 that gophd may not read, 22 whose names no menu can list"
	soon(t, "the report", func() bool { return strings.Contains(log.String(), "code=LEFT-OUT") })
	write(t, dir, map[string]string{"d/new.txt": ""})
	soon(t, "a new snapshot", func() bool { return s.Now().Tree.Find("d") != nil })
	soon(t, "the log says that robots.txt is the same", func() bool {
		return strings.Contains(log.String(), "changed=false")
	})
	if got := log.String(); strings.Count(got, "LEFT-OUT") != 1 || !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}
