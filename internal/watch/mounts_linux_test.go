package watch

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/treetest"
)

// mounted mounts something on a directory until the test ends.
func mounted(t *testing.T, source, dir, kind string, flags uintptr, data string) (unmount func()) {
	t.Helper()
	if err := unix.Mount(source, dir, kind, flags, data); err != nil {
		t.Skipf("mounting %s on %s: %v", source, dir, err)
	}
	unmount = sync.OnceFunc(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	t.Cleanup(unmount)
	return unmount
}

// TestMountsAreChanges mounts over a directory, and unmounts again: no event
// tells, and yet it is noticed.
func TestMountsAreChanges(t *testing.T) {
	root := makeTree(t, "a/b", "c", "src/inner")
	write(t, filepath.Join(root, "src", ".robots"), "mounted")
	w := &Watcher{Root: root, Poll: -1, quick: 50 * time.Millisecond}
	m := newMirror(root)
	run(t, w, m)
	unmount := mounted(t, filepath.Join(root, "src"), filepath.Join(root, "a"), "",
		unix.MS_BIND, "")
	treetest.Until(t, "what is mounted is found", func() bool {
		return m.fresh() && m.tree()["a"][".robots"] != ""
	})
	write(t, filepath.Join(root, "a", "inner", ".robots"), "1") // it is compared: other files are not looked into
	treetest.Until(t, "changes below the mount are found, under both names", m.fresh)
	unmount()
	treetest.Until(t, "what was below is found again", func() bool {
		return m.fresh() && m.tree()["a/b"] != nil
	})
	unmount = mounted(t, "none", filepath.Join(root, "c"), "tmpfs", 0, "")
	write(t, filepath.Join(root, "c", ".robots"), "new")
	treetest.Until(t, "a new file system is found", func() bool {
		return m.fresh() && w.watched("c")
	})
	unmount()
	treetest.Until(t, "and that it is gone", m.fresh)
}

// TestMountedRoot mounts over the root itself.
func TestMountedRoot(t *testing.T) {
	root := makeTree(t, "a/b")
	m := newMirror(root)
	run(t, &Watcher{Root: root, Poll: -1, quick: 50 * time.Millisecond}, m)
	unmount := mounted(t, "none", root, "tmpfs", 0, "")
	treetest.Until(t, "the empty root is found", func() bool {
		return m.fresh() && len(m.tree()) == 1
	})
	must(t, os.Mkdir(filepath.Join(root, "new"), 0o755))
	treetest.Until(t, "a change is found", m.fresh)
	unmount()
	treetest.Until(t, "the old one is found", func() bool {
		return m.fresh() && m.tree()["a/b"] != nil
	})
	if b := m.batches(); !slices.ContainsFunc(b, func(b Batch) bool { return b.All }) {
		t.Error("no batch says that all may have changed")
	}
}

// TestConcerns: what is mounted at, above or below a directory concerns it, and nothing else.
func TestConcerns(t *testing.T) {
	info := []byte(`22 28 0:20 / /sys rw,nosuid - sysfs sysfs rw
28 1 8:1 / / rw - ext4 /dev/sda1 rw
36 28 0:31 / /srv/my\040gopher rw shared:1 - nfs4 server:/x rw,vers=4.2
40 28 0:35 / /srv/my\040gopher/f/g rw - fuse.rclone remote: rw
41 28 8:1 / /srv/my rw - ext4 /dev/sda1 rw
bad line
`)
	var inside []string
	got := concerns(info, "/srv/my gopher", func(point, rest string) {
		inside = append(inside, point, rest)
	})
	want := "28 8:1 /\n36 0:31 /srv/my gopher\n40 0:35 /srv/my gopher/f/g\n"
	if got != want || !slices.Equal(inside, []string{"/srv/my gopher/f/g", "f/g"}) {
		t.Errorf("got %q, inside %q", got, inside)
	}
}
