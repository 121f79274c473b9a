package site

import (
	"slices"
	"testing"
	"testing/fstest"
)

// A user whose tree holds nothing but copies from /etc/skel is not listed.
func TestUsersWithSkelAlone(t *testing.T) {
	h := newHome(t)
	h.add(t, 2001, "ann", map[string]string{"index.txt": "hello\n"})
	h.add(t, 2002, "bob", map[string]string{"index.txt": "hello, it is me\n"})
	h.add(t, 2003, "cleo", map[string]string{"index.txt": "hello\n", "own.txt": ""})
	h.add(t, 2004, "dora", map[string]string{"other.txt": "hello\n"})
	h.add(t, 2005, "eve", map[string]string{"index.txt": "hello\n", "d/x": ""})
	s, err := Open(t.TempDir(), h.config())
	must(t, err)
	s.users.skel = map[string][]byte{"index.txt": []byte("hello\n")}
	running(t, s)
	names := func() (all []string) {
		for _, u := range s.View(t.Context()).Users() {
			all = append(all, u.Name)
		}
		slices.Sort(all)
		return all
	}
	for range 20 { // in any order
		if got := names(); !slices.Equal(got, []string{"bob", "cleo", "dora", "eve"}) {
			t.Errorf("those with a tree of their own: %q", got)
		}
	}
}

// A tree that is no directory has no owners: nothing of it is run.
func TestOwned(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.sh": "", "d/gophermap": "", "link": "-> a.sh"})
	mount := t.TempDir()
	write(t, mount, map[string]string{"b.sh": ""})
	s, err := Open(dir, Config{Mounts: map[string]string{"m": mount}})
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
	if _, ok := FS(fstest.MapFS{"a.sh": {}}, Config{}).View(t.Context()).Owned("a.sh", "a.sh"); ok {
		t.Error("a file of an fs.FS is run")
	}
}
