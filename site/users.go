package site

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// DefaultUsersMinUID is the lowest user id of a person on most systems.
const DefaultUsersMinUID = 1000

// users finds the directories that match Config.Users.
type users struct {
	home   string // the directory above the homes: "/home"
	below  string // the path in a home: "public_gopher"
	before string // prefix of the names of their trees
	minUID int
	skel   map[string][]byte // files of /etc/skel, by name
}

// CheckUsers returns an error if a pattern is invalid for Config.Users.
func CheckUsers(pattern string) error {
	_, err := parseUsers(pattern, 0)
	return err
}

// parseUsers parses a pattern such as "/home/*/public_gopher".
func parseUsers(pattern string, minUID int) (*users, error) {
	home, below, ok := strings.Cut(pattern, "/*")
	if !ok || !filepath.IsAbs(pattern) || strings.Contains(below, "*") ||
		below != "" && below[0] != '/' || strings.ContainsAny(home, "*?[") {
		return nil, fmt.Errorf("users %q: want a path with one element that is *, such as /home/*/public_gopher", pattern)
	}
	below = strings.Trim(below, "/")
	return &users{
		home:   cmp.Or(filepath.Clean(home), "/"),
		below:  below,
		minUID: cmp.Or(minUID, DefaultUsersMinUID),
		skel:   readSkel(filepath.Join("/etc/skel", below)),
	}, nil
}

// maxSkel is the size in bytes below which files of /etc/skel are compared with users' files.
const maxSkel = 64 << 10

// readSkel reads the files of a skeleton directory, by name.
func readSkel(dir string) map[string][]byte {
	files := map[string][]byte{}
	call := disk.Caller(disk.Direct) // once, at the start
	list, _ := call.List(dir)
	for _, e := range list {
		text, err := call.ReadFile(filepath.Join(dir, e.Name()), maxSkel)
		if err == nil && len(text) < maxSkel {
			files[e.Name()] = text
		}
	}
	return files
}

// find adds the trees of all users to f. It reuses trees of old whose directory and owner are
// unchanged, and records problems.
func (u *users) find(call disk.Caller, f *foundTrees, old map[string]*disk.Tree) {
	homes, err := call.List(u.home)
	if err != nil {
		f.problem(u.home, "the directory of the users cannot be read: "+err.Error(), "")
		if errors.Is(err, stall.Err) {
			maps.Copy(f.trees, old)
		}
		return
	}
	for _, e := range homes {
		name := u.before + "~" + e.Name()
		if !selector.Askable("~"+e.Name()) || strings.HasPrefix(e.Name(), ".") ||
			f.trees[name] != nil {
			continue
		}
		was := old[name]
		if f.hung < maxHung {
			t, err := u.tree(call, f, name, was)
			if !errors.Is(err, stall.Err) {
				was = t
			} else {
				f.hung++
			}
		}
		if was != nil {
			f.trees[name] = was
		}
	}
}

// problem records why the directory of a user is not served.
func (f *foundTrees) problem(name, message, hint string) {
	f.problems = append(f.problems, diag.Diagnostic{
		Code:     "TREE",
		Severity: diag.Warning,
		File:     name,
		Message:  message,
		Hint:     hint,
	})
}

// tree returns the tree of a user, or nil. It returns was if that is unchanged. The owner must
// be a person, and the home must belong to the owner or to root: otherwise a link could publish
// another user's directory.
func (u *users) tree(call disk.Caller, f *foundTrees, name string,
	was *disk.Tree) (*disk.Tree, error) {
	home := filepath.Join(u.home, strings.TrimPrefix(name, u.before+"~"))
	dir := filepath.Join(home, u.below)
	info, err := call.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil || !info.IsDir():
		return nil, err
	case was != nil && was.Is(info):
		return was, nil
	}
	above, aboveErr := call.Stat(home)
	if aboveErr != nil {
		return nil, aboveErr
	}
	if err != nil {
		if disk.OwnerOf(above) >= u.minUID {
			f.problem(name, fmt.Sprintf("home is %04o", above.Mode().Perm()),
				diag.Command("chmod", "o+x", "--", home))
		}
		return nil, nil
	}
	owner, of := disk.OwnerOf(info), disk.OwnerOf(above)
	switch {
	case owner == overflowUID() || max(owner, of) < u.minUID:
		return nil, nil // an owner that the user namespace does not map, or a system account
	case of != owner && of != 0:
		f.problem(name, "the directory does not belong to the owner of the home", "")
		return nil, nil
	}
	t, err := call.OpenTree(dir)
	switch {
	case errors.Is(err, stall.Err):
		return nil, err
	case err != nil:
		message, hint := u.unopened(call, dir, err)
		f.problem(name, message, hint)
		return nil, nil
	case !t.Is(info):
		t.Close() // replaced meanwhile: the next check finds it
		return nil, nil
	}
	t.Owner = owner
	f.fresh = append(f.fresh, name)
	return t, nil
}

// overflowUID returns the user id that the kernel reports for owners that the user namespace
// of this process does not map.
var overflowUID = sync.OnceValue(func() int {
	text, _ := disk.Caller(disk.Direct).ReadFile("/proc/sys/kernel/overflowuid", 64)
	if uid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		return uid
	}
	return 65534
})

// unopened explains why a user's directory cannot be opened. The sandbox shows only the
// targets of links that existed at the start.
func (u *users) unopened(call disk.Caller, dir string, err error) (message, hint string) {
	real, unresolved := call.RealPath(dir)
	info, unseen := call.Stat(dir)
	if errors.Is(err, fs.ErrPermission) && unresolved == nil && unseen == nil &&
		info.Mode()&0o005 == 0o005 &&
		!strings.HasPrefix(real, strings.TrimSuffix(u.home, "/")+"/") {
		return "it is a link to " + real +
			", which the sandbox does not show: the link came after the start", "restart gophd"
	}
	return err.Error(), diag.Command("chmod", "o+rx", "--", dir)
}

// A User is an account with a tree of its own.
type User struct {
	Name    string    // without the tilde
	Changed time.Time // the last change that the scan has seen
}

// HasUsers reports whether the site serves users' directories.
func (v *View) HasUsers() bool { return v.site.users != nil }

// Trees returns the names of all trees besides the root's: mounts and users.
func (v *View) Trees() []string {
	names := slices.Sorted(maps.Keys(v.root.Trees))
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, capsuleMark)
	})
}

// Users lists the users, the latest change first. It omits those whose trees are empty or
// contain only unchanged files from /etc/skel. It waits for the first scan.
func (v *View) Users() []User {
	v.scope = ofUsers
	snap, err := v.Snapshot()
	if err != nil {
		v.failed = err
		return nil
	}
	var list []User
	for name, t := range v.root.Trees {
		d := child(snap.Tree, name)
		if t.Owner == disk.AnyOwner || d == nil || len(d.Files)+len(d.Dirs) == 0 ||
			v.usersOf(name).fromSkel(v, name, d) {
			continue
		}
		list = append(list, User{Name: strings.TrimPrefix(name, "~"), Changed: snap.changed[name]})
	}
	slices.SortFunc(list, func(a, b User) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(a.Name, b.Name))
	})
	return list
}

// fromSkel reports whether a tree contains only unchanged files from /etc/skel.
func (u *users) fromSkel(v *View, top string, d *Dir) bool {
	if len(d.Dirs) > 0 || len(d.Files) > len(u.skel) {
		return false
	}
	for _, file := range d.Files {
		given, ok := u.skel[file.Name]
		if !ok {
			return false
		}
		f, err := v.open(selector.Join(top, file.Name))
		if err != nil {
			return false
		}
		own := make([]byte, maxSkel)
		n, _ := f.ReadAt(own, 0)
		_ = f.Close()
		if !bytes.Equal(own[:n], given) {
			return false
		}
	}
	return true
}

// The trees of Config.Capsules. In the disk.Root, the capsule of ann is the tree ".~ann", which
// no client can request. Gemini and Spartan see another Root, in which it is "~ann":
//
//	.~ann → served.capsules: ~ann → View.OfCapsules
//	      → scanner.capsules  → Snapshot.homes → Snapshot.capsules (merged with the main tree)
//
// The one policy is compiled from the annotations of both trees.

const (
	behindDot   = "." // prefix of the trees of Config.Capsules
	ofGemini    = "gemini="
	capsuleMark = behindDot + "~"
)

// capsuleTrees returns the trees of Config.Capsules by the names of the users.
func capsuleTrees(all *disk.Root) map[string]*disk.Tree {
	trees := map[string]*disk.Tree{}
	for name, t := range all.Trees {
		if strings.HasPrefix(name, capsuleMark) {
			trees[strings.TrimPrefix(name, behindDot)] = t
		}
	}
	return trees
}

// OfCapsules makes v show users' capsules, for Gemini and Spartan. It must be called before v
// is used.
func (v *View) OfCapsules() {
	if v.now.capsules != nil {
		v.root = v.now.capsules
	}
}

func (v *View) isCapsules() bool {
	return v.root == v.now.capsules
}

// Now returns the Snapshot of the tree that the View shows, or nil before the first scan.
func (v *View) Now() *Snapshot { return v.of(v.site.Now()) }

// Snapshot is Now, but waits for the first scan until the View's context ends.
func (v *View) Snapshot() (*Snapshot, error) {
	snap, err := v.site.Snapshot(v.ctx)
	return v.of(snap), err
}

func (v *View) of(snap *Snapshot) *Snapshot {
	if snap != nil && v.isCapsules() {
		return snap.capsules
	}
	return snap
}

// onDisk converts a real name in the View's Root to one in the main Root.
func (v *View) onDisk(real string) string {
	if t, _, _ := v.root.At(real); v.isCapsules() &&
		v.now.root.Trees[behindDot+topName(real)] == t {
		return behindDot + real
	}
	return real
}

// usersOf returns the pattern that a user's tree matches.
func (v *View) usersOf(name string) *users {
	if v.onDisk(name) != name {
		return v.site.capsules
	}
	return v.site.users
}

// readHomes scans the trees of Config.Capsules: the given directories again, and the trees of
// new users. They are all that its Root contains.
func (s *scanner) readHomes(all *disk.Root, dirs []string) {
	homes := s.capsules
	if homes == nil {
		return
	}
	homes.root, homes.attempt = disk.FS(embed.FS{}).With(capsuleTrees(all)), s.attempt
	changed := []string{"."}
	for _, dir := range dirs {
		if strings.HasPrefix(dir, capsuleMark) {
			changed = append(changed, strings.TrimPrefix(dir, behindDot))
		}
	}
	s.homes = homes.rescan(s.homes, changed, nil)
	s.kept = s.kept || homes.kept
	s.failed = cmp.Or(s.failed, homes.failed)
}

// Capsules returns the Snapshot that Gemini and Spartan see, or nil without Config.Capsules.
func (s *Snapshot) Capsules() *Snapshot { return s.capsules }

// asGemini returns the Snapshot with users' capsules in place of their Gopher trees.
func (s *Snapshot) asGemini() *Snapshot {
	if s.homes == nil {
		return nil
	}
	isHome := func(name string) bool { return child(s.homes.Tree, topName(name)) != nil }
	c := *s
	c.Tree = s.Tree.without(s.homes.Tree)
	c.Tree.Dirs = append(c.Tree.Dirs, s.homes.Tree.Dirs...)
	slices.SortFunc(c.Tree.Dirs, func(a, b *Dir) int { return strings.Compare(a.Name, b.Name) })
	c.aliases = inPlace(s.aliases, s.homes.aliases, isHome)
	c.refused = inPlace(s.refused, s.homes.refused, isHome)
	c.included = inPlace(s.included, s.homes.included, isHome)
	c.shows = inPlace(s.shows, s.homes.shows, isHome)
	c.changed = inPlace(s.changed, s.homes.changed, isHome)
	return &c
}

// inPlace returns a copy of all in which the names of users with capsules are taken from homes.
func inPlace[V any](all, homes map[string]V, isHome func(string) bool) map[string]V {
	both := maps.Clone(homes)
	if both == nil {
		both = map[string]V{}
	}
	for name, v := range all {
		if !isHome(name) {
			both[name] = v
		}
	}
	return both
}

// without returns a copy of the root without the directories that are homes.
func (d *Dir) without(homes *Dir) *Dir {
	next := *d
	next.Dirs = slices.DeleteFunc(slices.Clone(d.Dirs), func(sub *Dir) bool {
		return child(homes, sub.Name) != nil
	})
	return &next
}

// annotationsWith returns the annotations of the tree and of the capsules.
func (d *Dir) annotationsWith(homes *Dir) []policy.Annotation {
	list := d.without(homes).annotations()
	for _, home := range homes.Dirs {
		gopher := child(d, home.Name).annotations()
		list = append(list, policy.BothTrees(gopher, home.annotations())...)
	}
	return list
}
