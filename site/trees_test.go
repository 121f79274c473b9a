package site_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// home makes homes with a public_gopher each; as root they belong to accounts
// from 2000 on, else to the user who runs the test.
type home struct {
	dir string
	min int
}

func newHome(t testing.TB) *home {
	h := &home{dir: t.TempDir(), min: site.DefaultUsersMinUID}
	must(t, os.Chmod(h.dir, 0o755))
	if os.Geteuid() != 0 {
		h.min = os.Geteuid()
	}
	return h
}

func (h *home) add(t testing.TB, uid int, user string, files map[string]string) string {
	t.Helper()
	return h.addTree(t, uid, user, "public_gopher", files)
}

// addTree adds a tree of another name to a home.
func (h *home) addTree(t testing.TB, uid int, user, tree string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(h.dir, user, tree)
	must(t, os.MkdirAll(dir, 0o755))
	write(t, dir, files)
	if os.Geteuid() == 0 {
		must(t, filepath.Walk(filepath.Join(h.dir, user),
			func(name string, _ os.FileInfo, _ error) error {
				return os.Lchown(name, uid, uid)
			}))
	}
	return dir
}

func (h *home) config() site.Config {
	return site.Config{Users: filepath.Join(h.dir, "*", "public_gopher"), UsersMinUID: h.min}
}

func TestMounts(t *testing.T) {
	dir, pub, deep := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.txt": "a", "archive/x.txt": "x", "pub/hidden.txt": "hidden",
		"link": "-> " + pub + "/p.txt", "dirlink": "-> " + pub, "archive/up": "-> ../pub/p.txt"})
	write(t, pub, map[string]string{"p.txt": "p", "drafts/d.txt": "d",
		".robots": "Disallow: /drafts/\n",
		"home":    "-> " + dir + "/a.txt", "self": "-> " + pub + "/drafts",
		"out": "-> ../../../../etc/passwd"})
	write(t, deep, map[string]string{"one/y.txt": "y", "two/y.txt": "new",
		"two/z/.robots": "Disallow: /\n", "year": "-> one", "root": "-> " + dir})
	mounts := map[string]string{"pub": pub, "archive/2024": filepath.Join(deep, "year")}
	s := start(t, dir, site.Config{Mounts: mounts})
	off := start(t, filepath.Join(deep, "root"), site.Config{Mounts: mounts, Watch: site.WatchOff})
	turn := func(link string) {
		must(t, errors.Join(os.Symlink("two", filepath.Join(deep, "next")),
			os.Rename(filepath.Join(deep, "next"), filepath.Join(deep, link))))
	}
	turn("root")
	shows(t, s, map[string]string{
		".":                  "dir [a.txt archive dirlink link pub] <nil>",
		"pub":                "dir [drafts p.txt self] <nil>",
		"pub/p.txt":          "p",
		"archive":            "dir [2024 up x.txt] <nil>",
		"archive/2024/y.txt": "y",
		"link":               "p", // the administrator's links may lead into other trees
		"dirlink/p.txt":      "p",
		"archive/up":         "p",
		"pub/self/d.txt":     "d",
		"pub/home":           "error", // those of a tree may not lead out of it
		"pub/out":            "error",
		"pub/hidden.txt":     "error",
		"archive/2024/..":    "error",
	})
	says(t, s, "Disallow: /pub/drafts", "Disallow: /dirlink/",
		"Disallow: /pub/self/")
	write(t, pub, map[string]string{".robots": "Disallow: /late/\n", "late/l.txt": "l"})
	soon(t, "a change in a mount", func() bool {
		return denies(s, "/pub/late") && !denies(s, "/pub/drafts")
	})

	// Another directory of the same name is followed.
	must(t, os.Rename(pub, pub+".old"))
	if got := content(s, "pub/p.txt"); got != "p" {
		t.Errorf("while it is gone: %q", got)
	}
	write(t, pub, map[string]string{"p.txt": "new", ".robots": "Disallow: /new/\n", "new/n": ""})
	soon(t, "the new directory", func() bool {
		return content(s, "pub/p.txt") == "new" && denies(s, "/pub/new")
	})
	turn("year")
	soon(t, "the other end of a link", func() bool {
		return content(s, "archive/2024/y.txt") == "new" && denies(s, "/archive/2024/z")
	})
	soon(t, "the same, not watched", func() bool {
		return content(off, "archive/2024/y.txt") == "new"
	})
	if got := content(s, "archive"); got != "dir [2024 up x.txt] <nil>" {
		t.Errorf("beside it: %q", got)
	}
	if got := content(off, "a.txt"); got != "a" {
		t.Errorf("another root is followed, which nothing watches: %q", got)
	}
}

func TestUsers(t *testing.T) {
	h, dir := newHome(t), t.TempDir()
	ann := h.add(t, 2001, "ann",
		map[string]string{"index.txt": "ann's", ".robots": "Disallow: /drafts/\n",
			"drafts/d.txt": "d",
			"robots.txt":   "User-agent: *\nDisallow: /hand/\n", "hand/h.txt": "", "way": "-> in",
			"in/.robots": "Disallow: /\n", "in/i.txt": ""})
	h.add(t, 2002, "bob", map[string]string{"b.txt": "b", "out": "-> " + ann + "/index.txt",
		"etc": "-> /etc/passwd"})
	h.add(t, 2003, "empty", nil)
	write(t, dir, map[string]string{"x.txt": "x",
		"~bob": "-> " + filepath.Join(h.dir, "bob", "public_gopher"),
		"b":    "-> " + filepath.Join(h.dir, "bob", "public_gopher")})
	conf := h.config()
	conf.Mounts = map[string]string{"pub": ann} // which is no user
	s := start(t, dir, conf)
	shows(t, s, map[string]string{
		"~ann":           "dir [drafts hand in index.txt robots.txt way] <nil>",
		"~ann/index.txt": "ann's",
		"~bob/b.txt":     "b",
		"b/b.txt":        "b", // a link as other servers need it
		"~bob/out":       "error",
		"~bob/etc":       "error",
		"~nobody":        "error",
		"~":              "error",
		"~ann/.robots":   "error",
		".":              "dir [b pub x.txt ~bob] <nil>",
	})
	says(t, s, "Disallow: /~ann/drafts", "Disallow: /~ann/hand",
		"Disallow: /~ann/way")
	names := func() (all []string) {
		for _, u := range s.View(t.Context()).Users() {
			all = append(all, u.Name)
		}
		return all
	}
	must(t, os.Chtimes(filepath.Join(h.dir, "ann", "public_gopher", "index.txt"), time.Now(),
		time.Now().Add(time.Hour)))
	soon(t, "the newest first, empty ones not at all", func() bool {
		return slices.Equal(names(), []string{"ann", "bob"})
	})

	// Users come and go by themselves.
	h.add(t, 2004, "cleo", map[string]string{"c.txt": "c", ".robots": "Disallow: /\n"})
	soon(t, "a new user", func() bool {
		return content(s, "~cleo/c.txt") == "c" && denies(s, "/~cleo")
	})
	h.add(t, 2004, "cleo", map[string]string{"later.txt": "later",
		".robots": "Disallow: /later.txt\n"})
	soon(t, "a change of hers", func() bool { return denies(s, "/~cleo/later.txt") })
	must(t, os.RemoveAll(filepath.Join(h.dir, "bob")))
	soon(t, "a user who left", func() bool {
		return strings.HasPrefix(content(s, "~bob/b.txt"), "error") &&
			slices.Equal(names(), []string{"ann", "cleo"})
	})
	must(t, os.Rename(ann, ann+".old"))
	h.add(t, 2001, "ann", map[string]string{"index.txt": "new", "new.txt": "",
		".robots": "Disallow: /new.txt\n"})
	soon(t, "a directory that was exchanged", func() bool {
		return content(s, "~ann/index.txt") == "new" && denies(s, "/~ann/new.txt")
	})
}

// TestUsersOwn: only files of the owner of a tree, or of root, and only trees of
// people, in their own homes.
func TestUsersOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	h := newHome(t)
	ann := h.add(t, 2001, "ann",
		map[string]string{"own.txt": "own", "root.txt": "root", "foreign.txt": "foreign",
			"dir/x.txt": "x",
			"link":      "-> foreign.txt"})
	must(t, os.Chown(filepath.Join(ann, "root.txt"), 0, 0))
	must(t, os.Chown(filepath.Join(ann, "foreign.txt"), 2002, 2002))
	must(t, os.Chown(filepath.Join(ann, "dir"), 2002, 2002))
	h.add(t, 99, "daemon", map[string]string{"x.txt": "x"})
	other := filepath.Join(h.dir, "other")
	must(t, os.Mkdir(other, 0o755))
	must(t, os.Chown(other, 2009, 2009))
	must(t, os.Symlink(ann, filepath.Join(other, "public_gopher")))
	must(t, os.Chown(h.add(t, 2003, "bob", nil), 0, 0))
	var log treetest.Log
	conf := h.config()
	conf.Log = log.Logger()
	s := start(t, t.TempDir(), conf)
	soon(t, "bob's directory is root's", func() bool {
		return strings.Contains(log.String(),
			`file=~bob line=0 problem="the directory does not belong to the owner of the home"`)
	})
	shows(t, s, map[string]string{
		"~bob": "error",
		"~ann": "dir [own.txt root.txt] <nil>", "~ann/own.txt": "own", "~ann/root.txt": "root",
		"~ann/foreign.txt": "error", "~ann/link": "error", "~ann/dir": "error",
		"~daemon/x.txt": "error", "~other": "error", "~other/own.txt": "error",
	})
	if d := s.Now().Tree.Find("~ann"); d == nil ||
		!slices.Equal(d.Files, []site.File{{Name: "own.txt"}, {Name: "root.txt"}}) || len(d.Dirs) > 0 {
		t.Errorf("the policy knows %+v", d)
	}
}

// TestUsersNotServed: the log says why a user's directory cannot be opened, and what helps.
func TestUsersNotServed(t *testing.T) {
	unprivileged(t)
	h, outside, log := newHome(t), t.TempDir(), treetest.Log{}
	write(t, h.dir, map[string]string{"shut/public_gopher/x": "", "in/public_gopher/x": "",
		"out/public_gopher": "-> " + outside})
	for name, mode := range map[string]os.FileMode{filepath.Join(h.dir, "shut"): 0o600,
		filepath.Join(h.dir, "in/public_gopher"): 0o005, outside: 0o005} {
		must(t, os.Chmod(name, mode))
		defer func() { _ = os.Chmod(name, 0o700) }()
	}
	conf := h.config()
	conf.Log = log.Logger()
	start(t, t.TempDir(), conf)
	for user, want := range map[string]string{"shut": `problem="home is 0600" hint="chmod o+x `,
		"in": `hint="chmod o+rx `, "out": `hint="restart gophd"`} {
		soon(t, user, func() bool {
			_, rest, _ := strings.Cut(log.String(), "file=~"+user+" ")
			line, _, _ := strings.Cut(rest, "\n")
			return strings.Contains(line, want)
		})
	}
}

// TestManyUsers: 5,000 users. What it costs is a benchmark's matter; here they all
// have to be there, and a new one among them soon.
func TestManyUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 5,000 directories")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max < 12_000 {
		t.Skip("too few descriptors")
	}
	// Directories are closed when nobody knows them any more, and who is tested next
	// needs the descriptors.
	open := func() int { all, _ := os.ReadDir("/dev/fd"); return len(all) }
	before := open()
	t.Cleanup(func() {
		soon(t, "they are closed", func() bool { runtime.GC(); return open() < before+1000 })
	})
	h := newHome(t)
	for i := range 5000 {
		h.add(t, 2000+i, fmt.Sprintf("u%04d", i), map[string]string{"x.txt": "x"})
	}
	s := start(t, t.TempDir(), h.config())
	if content(s, "~u0000/x.txt") != "x" || content(s, "~u4999/x.txt") != "x" {
		t.Error("not all are there")
	}
	h.add(t, 9000, "new", map[string]string{".robots": "Disallow: /secret/\n", "secret/x": ""})
	soon(t, "a new user's annotation", func() bool { return denies(s, "/~new/secret") })
}
