package site_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// TestMenusOfPrograms: robots.txt denies the menus that programs make, and follows when
// one goes; an author with many of them does not fill the file.
func TestMenusOfPrograms(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"d/gophermap": "#!/bin/sh\n", "e/gophermap": "text\n=prog\n",
		"e/prog": "#!/bin/sh\n", "f/gophermap": "#!/bin/sh\n", "f/.robots": "Allow: /$\n",
		"g/index.dcgi": "", "g2/index.dcgi": "", "g2/gophermap": "a map\n"}
	for i := range 17 {
		files[fmt.Sprintf("many/%d/gophermap", i)] = "#!/bin/sh\n"
		files[fmt.Sprintf("most/%d/gophermap", max(i, 1))] = "#!/bin/sh\n"
	}
	write(t, dir, files)
	s := start(t, dir, site.Config{Watch: site.WatchOff, Runs: func(name string) bool {
		return path.Base(name) != "not"
	}})
	snap, err := s.Snapshot(t.Context())
	must(t, err)
	for sel, want := range map[string]bool{"/d/": false, "/d/x": true, "/e/": false,
		"/e/prog": true, "/f/": true, "/g/": false, "/g2/": true, "/many/3/": false, "/many/x": false, "/most/3/": false, "/most/x": true, "/": true} {
		name, isDir, _ := selector.Path(sel)
		if got := !snap.Compiled.DeniedToAll(name, isDir); got != want {
			t.Errorf("%s: allowed %v", sel, got)
		}
	}
	if strings.Contains(string(snap.Robots), "many/1") {
		t.Errorf("%s", snap.Robots)
	}
	write(t, dir, map[string]string{"d/gophermap": "a map\n"})
	s.Reload()
	soon(t, "robots.txt still denies /d/", func() bool {
		return !s.Now().Compiled.DeniedToAll("d", true)
	})
}
