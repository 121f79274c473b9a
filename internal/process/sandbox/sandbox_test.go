package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

func TestLookUpUser(t *testing.T) {
	for _, c := range []struct {
		spec string
		want Identity
		err  string
	}{
		{"root", Identity{Name: "root"}, ""},
		{"0", Identity{Name: "0"}, ""},
		{"root:54322", Identity{Name: "root", GID: 54322}, ""},
		{"54321:54322", Identity{Name: "54321", UID: 54321, GID: 54322}, ""},
		{"54321", Identity{}, `this machine has no user "54321"`},
		{"no-such-user", Identity{}, `this machine has no user "no-such-user"`},
		{"root:no-such-group", Identity{}, `this machine has no group "no-such-group"`},
		{"", Identity{}, `this machine has no user ""`},
		{"4294967295:0", Identity{}, "this machine has no user"},
		{"-1:0", Identity{}, "this machine has no user"},
	} {
		got, err := LookUpUser(c.spec)
		got.Groups = nil // whatever root is in on this machine
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("LookUpUser(%q) = %+v, %v; want %+v, %q", c.spec, got, err, c.want, c.err)
		}
	}
}

func TestTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	treetest.Must(t, err)
	treetest.Must(t, os.MkdirAll(dir+"/releases/1", 0o755))
	treetest.Must(t, errors.Join(os.Symlink("releases/1", dir+"/current"),
		os.Symlink(t.TempDir(), dir+"/far")))
	for _, c := range []struct{ dir, want string }{
		{dir + "/releases/1", dir + "/releases/1"},
		{dir + "/releases/1/", dir + "/releases/1"},
		{dir + "/current", dir + "/current " + dir},
		{dir + "/far", dir + "/far"},
		{"/tmp", "/tmp"},
		{"/", "/"},
	} {
		if got := Tree(c.dir); strings.Join(got, " ") != c.want {
			t.Errorf("Tree(%q) = %q; want %q", c.dir, got, c.want)
		}
	}
}
