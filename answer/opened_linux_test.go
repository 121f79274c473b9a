package answer

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/server"
)

// large is a file that leaves through sendfile(2) and is no text.
func large(n int) string { return strings.Repeat("\x00\x01\x02\xff", n<<10) }

// look asks for a file the slow way, which finds out whether its directory folds case.
func look(t *testing.T, h *Files, sel string) {
	t.Helper()
	a, err := h.Ask(request(t, sel), wire)
	must(t, err)
	a.Close()
}

// atHand asks for a file, which has to be at hand.
func atHand(t *testing.T, h *Files, sel string) server.Answer {
	t.Helper()
	var a server.Answer
	if !eventually(func() (ok bool) {
		if a, ok = h.Quick(request(t, sel)); !ok {
			look(t, h, sel)
		}
		return ok && a.FD != 0
	}) {
		t.Fatalf("%s is never at hand", sel)
	}
	return a
}

// body reads the file of an answer and gives it back.
func body(t *testing.T, a server.Answer) string {
	t.Helper()
	b := make([]byte, a.Size+1)
	n, err := unix.Pread(a.FD, b, 0)
	must(t, err)
	giveBack(a)
	return string(b[:n])
}

// keptOpen returns the files that a handler keeps open.
func keptOpen(h *Files) []*openFile {
	h.Cache.opened.mu.Lock()
	defer h.Cache.opened.mu.Unlock()
	return slices.Collect(maps.Values(h.Cache.opened.files))
}

// leadsTo returns what a descriptor is of, "" if it is closed.
func leadsTo(fd int) string {
	name, _ := os.Readlink(fmt.Sprint("/proc/self/fd/", fd))
	return name
}

// A file that was sent is kept open for the next request; when nobody asks for it, it
// is closed.
func TestFileIsKeptOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.bin": large(50)})
	h := newFiles(run(t, dir), 1<<20)
	again := atHand(t, h, "/x.bin")
	if !eventually(func() bool { giveBack(again); again = atHand(t, h, "/x.bin"); return again.Recent }) {
		t.Fatal("it is not kept")
	}
	kept := again.FD
	other := atHand(t, h, "/x.bin")
	if other.FD == kept || other.Recent {
		t.Error("two have the same descriptor at once")
	}
	if body(t, again) != large(50) || body(t, other) != large(50) {
		t.Error("not the file")
	}
	closed := func(fd int) bool { return !strings.HasSuffix(leadsTo(fd), "/x.bin") }
	if !eventually(func() bool { return len(keptOpen(h)) == 0 && closed(kept) && closed(other.FD) }) {
		t.Error("it is kept for ever")
	}
}

// What is sent is what is there, as soon as the watcher knows: a file that was put in
// place of one that is open, that grew, or that is gone.
func TestFileThatIsOpenChanges(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.bin")
	write(t, dir, map[string]string{"x.bin": large(50)})
	h := newFiles(run(t, dir), 1<<20)
	known := func(change func() error) {
		t.Helper()
		var kept []*openFile
		if !eventually(func() bool { giveBack(atHand(t, h, "/x.bin")); kept = keptOpen(h); return len(kept) == 1 }) {
			t.Fatal("it is not kept")
		}
		must(t, change())
		if !eventually(func() bool { return !kept[0].stamp.Fresh() }) {
			t.Fatal("the watcher tells nothing")
		}
	}
	becomes := func(what, want string, change func() error) {
		t.Helper()
		known(change)
		if got := body(t, atHand(t, h, "/x.bin")); got != want {
			t.Errorf("%s: %d bytes are sent, not %d", what, len(got), len(want))
		}
	}
	becomes("another in its place", large(60), func() error {
		must(t, os.WriteFile(name+".new", []byte(large(60)), 0o600))
		return os.Rename(name+".new", name)
	})
	becomes("more", large(60)+"more", func() error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		defer func() { _ = f.Close() }()
		_, err = f.WriteString("more")
		return err
	})
	becomes("less", large(40), func() error { return os.Truncate(name, int64(len(large(40)))) })
	known(func() error { return os.Remove(name) })
	if a, ok := h.Quick(request(t, "/x.bin")); ok && a.FD != 0 {
		giveBack(a)
		t.Error("what is gone is sent")
	}
}

// Only so many are kept open, and none without a cache.
func TestFilesAreKeptOpenWithinBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range maxOpenFiles + 10 {
		write(t, dir, map[string]string{fmt.Sprintf("%d.bin", i): large(30)})
	}
	ask := func(h *Files) {
		for i := range maxOpenFiles + 10 {
			if a, ok := h.Quick(request(t, fmt.Sprintf("/%d.bin", i))); ok && a.FD != 0 {
				giveBack(a)
			}
		}
	}
	tree := run(t, dir)
	h := newFiles(tree, 1<<20)
	most := 0
	look(t, h, "/0.bin")
	for range 20 {
		ask(h)
		most = max(most, len(keptOpen(h)))
	}
	if most == 0 || most > maxOpenFiles {
		t.Errorf("%d are kept open", most)
	}
	a := atHand(t, newFiles(tree, 0), "/1.bin")
	if a.Return != nil {
		t.Error("it is kept open without a cache")
	}
	giveBack(a)
}

// A file that is open and not in memory any more is not sent where it would be waited
// for.
func TestFileThatIsOpenIsEvicted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.bin": large(50)})
	f, err := os.OpenFile(filepath.Join(dir, "x.bin"), os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	must(t, f.Sync()) // what is not on the disk is not evicted
	tree := run(t, dir)
	h := newFiles(tree, 1<<20)
	if !eventually(func() bool { giveBack(atHand(t, h, "/x.bin")); return len(keptOpen(h)) == 1 }) {
		t.Fatal("it is not kept")
	}
	evict := func() { must(t, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)) }
	evict()
	asked := atHand(t, newFiles(tree, 0), "/x.bin")
	giveBack(asked)
	if asked.Resident {
		t.Skip("this file system evicts nothing")
	}
	if !eventually(func() bool { // a request may make the kernel read it again
		evict()
		a := atHand(t, h, "/x.bin")
		giveBack(a)
		return !a.Resident && !a.Recent
	}) {
		t.Error("it is taken to be in memory")
	}
}
