package answer

import (
	"fmt"
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
func atHand(t *testing.T, h *Files, sel string) server.ReadyFile {
	t.Helper()
	var a server.Answer
	if !eventually(func() (ok bool) {
		if a, ok = h.Quick(request(t, sel)); !ok {
			look(t, h, sel)
		}
		return ok && a.File != nil
	}) {
		t.Fatalf("%s is never at hand", sel)
	}
	return a.File
}

// body reads the file of an answer and gives it back.
func body(t *testing.T, f server.ReadyFile) string {
	t.Helper()
	b := make([]byte, f.Size()+1)
	n, err := unix.Pread(int(f.Fd()), b, 0)
	must(t, err)
	f.Close()
	return string(b[:n])
}

func isResident(f server.ReadyFile) bool { is, _ := f.Resident(); return is }

// isRecent reports whether a file was kept open.
func isRecent(f server.ReadyFile) bool { _, is := f.Resident(); return is }

// isOpen reports whether a file of a test has a descriptor.
func isOpen(t *testing.T, name string) bool {
	t.Helper()
	list, err := filepath.Glob("/proc/self/fd/*")
	must(t, err)
	return slices.ContainsFunc(list, func(fd string) bool { to, _ := os.Readlink(fd); return strings.HasPrefix(to, name) })
}

// keep asks for a file until it is kept open.
func keep(t *testing.T, h *Files, sel string) {
	t.Helper()
	if !eventually(func() bool { a := atHand(t, h, sel); a.Close(); return isRecent(a) }) {
		t.Fatal("it is not kept")
	}
}

// A form that draws files, or seeks in them, is not sent what is on the disk.
func TestFilesThatAreDrawn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"large.bin": large(200)})
	h := newFiles(run(t, dir), 0)
	atHand(t, h, "/large.bin").Close()
	draws := &Format{Raw: true, Draws: func(*Value) bool { return true }, Draw: func(*Asked, *Value) ([]byte, error) { return []byte("drawn"), nil }}
	for _, form := range []*Format{draws, {Seek: true}} {
		if a, ok := h.Host.Quick(request(t, "/large.bin"), form); ok {
			t.Errorf("%d bytes are sent", len(a.Body))
		}
	}
}

// A file that was sent is kept open for the next request; when nobody asks for it, it
// is closed.
func TestFileIsKeptOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.bin": large(50), "y.bin": large(50), ".robots": "Disallow: /y.bin$\n" + manyRules()})
	h := newFiles(run(t, dir), 1<<20)
	keep(t, h, "/y.bin")
	if _, ok := h.Quick(request(t, "y.bin")); ok {
		t.Error("a spelling that is closed is sent")
	}
	again := atHand(t, h, "/x.bin")
	if !eventually(func() bool { again.Close(); again = atHand(t, h, "/x.bin"); return isRecent(again) }) {
		t.Fatal("it is not kept")
	}
	kept := again.Fd()
	other := atHand(t, h, "/x.bin")
	if other.Fd() == kept || isRecent(other) {
		t.Error("two have the same descriptor at once")
	}
	if body(t, again) != large(50) || body(t, other) != large(50) {
		t.Error("not the file")
	}
	if !eventually(func() bool { return !isOpen(t, filepath.Join(dir, "x.bin")) }) {
		t.Error("it is kept for ever")
	}
}

// What is sent is what is there: a file that was put in
// place of one that is open, that grew, or that is gone.
func TestFileThatIsOpenChanges(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.bin")
	write(t, dir, map[string]string{"x.bin": large(50)})
	h := newFiles(run(t, dir), 1<<20)
	becomes := func(what, want string, change func() error) {
		t.Helper()
		keep(t, h, "/x.bin")
		must(t, change())
		if !eventually(func() bool { return body(t, atHand(t, h, "/x.bin")) == want }) {
			t.Errorf("%s is never sent", what)
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
	keep(t, h, "/x.bin")
	must(t, os.Remove(name))
	if !eventually(func() bool {
		a, ok := h.Quick(request(t, "/x.bin"))
		if ok && a.File != nil {
			a.File.Close()
		}
		return a.File == nil
	}) {
		t.Error("what is gone is sent")
	}
}

// Only so many are kept open, and none without a cache.
func TestFilesAreKeptOpenWithinBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range maxOpenFiles + 10 {
		write(t, dir, map[string]string{fmt.Sprintf("%d.bin", i): large(30)})
	}
	tree := run(t, dir)
	h := newFiles(tree, 1<<20)
	look(t, h, "/0.bin")
	recent := func() (n int) {
		var all []server.ReadyFile
		for i := range maxOpenFiles + 10 {
			if a, ok := h.Quick(request(t, fmt.Sprintf("/%d.bin", i))); ok && a.File != nil {
				all = append(all, a.File)
			}
		}
		for _, a := range all {
			a.Close()
			if isRecent(a) {
				n++
			}
		}
		return n
	}
	most := 0
	if !eventually(func() bool { most = max(most, recent()); return most == maxOpenFiles }) || max(most, recent()) > maxOpenFiles {
		t.Errorf("%d are kept open", most)
	}
	a := atHand(t, newFiles(tree, 0), "/1.bin")
	fd := fmt.Sprint("/proc/self/fd/", a.Fd())
	a.Close()
	if to, _ := os.Readlink(fd); strings.HasSuffix(to, "/1.bin") { // h may have it open, too, as another
		t.Error("it is kept open without a cache")
	}
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
	keep(t, h, "/x.bin")
	evict := func() { must(t, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)) }
	evict()
	asked := atHand(t, newFiles(tree, 0), "/x.bin")
	asked.Close()
	if isResident(asked) {
		t.Skip("this file system evicts nothing")
	}
	if !eventually(func() bool { // a request may make the kernel read it again
		evict()
		a := atHand(t, h, "/x.bin")
		a.Close()
		return !isResident(a) && !isRecent(a)
	}) {
		t.Error("it is taken to be in memory")
	}
}
