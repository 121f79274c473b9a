package site_test

import (
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/site"
)

// A tree that is no directory has no owners: nothing of it is run.
func TestOwned(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.sh": "", "d/gophermap": "", "link": "-> a.sh"})
	mount := t.TempDir()
	write(t, mount, map[string]string{"b.sh": ""})
	s, err := site.Open(dir, site.Config{Mounts: map[string]string{"m": mount}})
	must(t, err)
	defer s.Close()
	for _, c := range []struct {
		name, by, real string
		ok             bool
	}{{"a.sh", "d/gophermap", "a.sh", true}, {"link", "d/gophermap", "a.sh", true},
		{"m/b.sh", "d/gophermap", "m/b.sh", false}, {"m/b.sh", "m/b.sh", "m/b.sh", true},
		{"none", "d/gophermap", "", false}} {
		if real, ok := s.View(t.Context()).Owned(c.name, c.by); ok != c.ok || ok && real != c.real {
			t.Errorf("%s by %s: %q, %v", c.name, c.by, real, ok)
		}
	}
	if _, ok := site.FS(fstest.MapFS{"a.sh": {}}, site.Config{}).View(t.Context()).Owned("a.sh", "a.sh"); ok {
		t.Error("a file of an fs.FS is run")
	}
}
