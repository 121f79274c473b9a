package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// DefaultUsersMinUID is the lowest user id of people, on most systems.
const DefaultUsersMinUID = 1000

// users finds the directories that match Config.Users.
type users struct {
	home   string // the directory in which a user's is: "/home"
	below  string // what follows in it: "public_gopher"
	minUID int
	skel   map[string][]byte // the files that each new user gets, by their names

	found []diag.Diagnostic // what hinders some of them, as of the last look
}

// CheckUsers reports what is wrong with a pattern for Config.Users.
func CheckUsers(pattern string) error {
	_, err := parseUsers(pattern, 0)
	return err
}

// parseUsers reads a pattern: absolute, with one "*" that stands for a whole
// element, the user's name.
func parseUsers(pattern string, minUID int) (*users, error) {
	home, below, ok := strings.Cut(pattern, "/*")
	if !ok || !filepath.IsAbs(pattern) || strings.Contains(below, "*") || below != "" && below[0] != '/' || strings.ContainsAny(home, "*?[") {
		return nil, fmt.Errorf("users %q: want a path with one element that is *, such as /home/*/public_gopher", pattern)
	}
	below = strings.Trim(below, "/")
	return &users{home: cmp.Or(filepath.Clean(home), "/"), below: below, minUID: cmp.Or(minUID, DefaultUsersMinUID),
		skel: readSkel(filepath.Join("/etc/skel", below))}, nil
}

// maxSkel is how large a file may be that is compared with that of a new user, in
// bytes.
const maxSkel = 64 << 10

// readSkel reads what a new user gets.
func readSkel(dir string) map[string][]byte {
	files := map[string][]byte{}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() <= maxSkel {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
				files[e.Name()] = text
			}
		}
	}
	return files
}

// trees adds the trees of all users to next, those of old that have not changed
// and others, and returns the names of the others.
func (u *users) trees(old, next map[string]*disk.Tree) (fresh []string) {
	u.found = nil
	homes, err := os.ReadDir(u.home)
	if err != nil {
		u.found = append(u.found, unopened(u.home, "the directory of the users cannot be read: "+err.Error(), ""))
	}
	for _, e := range homes {
		name := "~" + e.Name()
		if !selector.Askable(name) || strings.HasPrefix(e.Name(), ".") || next[name] != nil {
			continue
		}
		dir := filepath.Join(u.home, e.Name(), u.below)
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrPermission) {
			u.closed(name, filepath.Join(u.home, e.Name()))
		}
		if err != nil || !info.IsDir() {
			continue
		}
		if was := old[name]; was != nil && os.SameFile(was.Info, info) && was.Owner == disk.OwnerOf(info) {
			next[name] = was
			continue
		}
		if t := u.open(name, dir, info); t != nil {
			next[name] = t
			fresh = append(fresh, name)
		}
	}
	return fresh
}

// closed notes that a home lets nobody in.
func (u *users) closed(name, home string) {
	info, err := os.Stat(home)
	if err != nil || disk.OwnerOf(info) < u.minUID {
		return
	}
	u.found = append(u.found, unopened(name, fmt.Sprintf("home is %04o", info.Mode().Perm()), "chmod o+x "+home))
}

// open opens the tree of a user. It must belong to a person, and to the one whose
// home it is in: a link may lead anywhere.
func (u *users) open(name, dir string, info fs.FileInfo) *disk.Tree {
	owner := disk.OwnerOf(info)
	if owner < u.minUID {
		return nil // an account of the system, or root's
	}
	home, err := os.Stat(filepath.Join(u.home, strings.TrimPrefix(name, "~")))
	if err != nil || disk.OwnerOf(home) != owner && disk.OwnerOf(home) != 0 {
		u.found = append(u.found, unopened(name, "the directory does not belong to the owner of the home", ""))
		return nil
	}
	t, err := disk.OpenTree(dir)
	if err != nil {
		u.found = append(u.found, unopened(name, err.Error(), "chmod o+rx "+dir))
		return nil
	}
	if !os.SameFile(t.Info, info) {
		t.Close() // it was exchanged meanwhile: the next look finds it
		return nil
	}
	t.Owner = owner
	return t
}

// A User is somebody with a tree of their own.
type User struct {
	Name    string    // without the tilde
	Changed time.Time // when something in the tree was changed last, as far as is known
}

// HasUsers reports whether the site serves users' directories.
func (v *View) HasUsers() bool { return v.site.users != nil }

// Users lists those whose tree holds something of their own, the newest change
// first: a tree is left out that is empty, or holds only what each new user gets.
func (v *View) Users() []User {
	v.note(v.site.changes.slot(usersDir))
	v.DependOnPolicy()
	snap := v.site.Now()
	if snap == nil {
		v.unkept = true
		return nil
	}
	var list []User
	for name, t := range v.root.Trees {
		d := child(snap.Tree, name)
		if t.Owner == disk.AnyOwner || d == nil || len(d.Files)+len(d.Dirs) == 0 || v.site.users.fromSkel(v, name, d) {
			continue
		}
		list = append(list, User{Name: strings.TrimPrefix(name, "~"), Changed: snap.changed[name]})
	}
	slices.SortFunc(list, func(a, b User) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(a.Name, b.Name))
	})
	return list
}

// fromSkel reports whether a tree holds nothing but what each new user gets.
func (u *users) fromSkel(v *View, top string, d *policy.Dir) bool {
	if len(d.Dirs) > 0 || len(d.Files) > len(u.skel) {
		return false
	}
	for _, base := range d.Files {
		given, ok := u.skel[base]
		if !ok {
			return false
		}
		f, err := v.open(selector.Join(top, base))
		if err != nil {
			return false
		}
		own := make([]byte, min(f.Info.Size(), maxSkel+1))
		n, _ := f.ReadAt(own, 0)
		_ = f.Close()
		if !bytes.Equal(own[:n], given) {
			return false
		}
	}
	return true
}
