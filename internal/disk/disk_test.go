package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/treetest"
)

var write, must = treetest.Write, treetest.Must

// roots runs a test with each way of opening files, none of which leaves a
// descriptor open.
func roots(t *testing.T, dir string, f func(t *testing.T, r *disk.Root)) {
	for _, walking := range []bool{false, true} {
		name := map[bool]string{false: "openat2", true: "os.Root"}[walking]
		t.Run(name, func(t *testing.T) {
			open := disk.Caller(disk.Direct).OpenRoot
			if walking {
				open = disk.OpenWalking
			}
			before := descriptors(t)
			r, err := open(dir)
			must(t, err)
			f(t, r)
			r.Close()
			if after := descriptors(t); len(after) > len(before) {
				t.Errorf("open before:\n%q\nand after:\n%q", before, after)
			}
		})
	}
}

// descriptors lists what this process has open.
func descriptors(t *testing.T) (list []string) {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	must(t, err)
	for _, e := range all {
		to, _ := os.Readlink("/dev/fd/" + e.Name())
		list = append(list, e.Name()+" "+to)
	}
	return list
}

func read(r *disk.Root, name string) (string, error) {
	f, err := r.Open(disk.Direct, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if f.Info.IsDir() {
		return "dir", nil
	}
	b, err := io.ReadAll(f)
	return string(b), err
}

// Links are followed where they stay inside the root, absolute ones too.
func TestAbuseSymbolicLinks(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "root")
	write(t, base, map[string]string{
		"secret":             "secret",
		"root/a/b/file":      "inside",
		"root/link":          "-> a/b/file",
		"root/dirlink":       "-> a/b",
		"root/a/up":          "-> ../a/b/file",
		"root/abs":           "-> " + dir + "/a/b/file",
		"root/absdir":        "-> " + dir + "/a",
		"root/out":           "-> ../secret",
		"root/outabs":        "-> " + base + "/secret",
		"root/outdir":        "-> ..",
		"root/etc":           "-> /etc",
		"root/a/escape":      "-> ../../secret",
		"root/beside":        "-> " + dir + "x/file",
		"rootx/file":         "beside",
		"root/dangling":      "-> nothing",
		"root/self":          "-> self",
		"root/ping":          "-> pong",
		"root/pong":          "-> ping",
		"root/a/loop":        "-> ..",
		"root/a/b/loop":      "-> .",
		"root/chain1":        "-> chain2",
		"root/chain2":        "-> a/b/../b/file",
		"root/.hidden/inner": "kept by a link",
		"root/shown":         "-> .hidden/inner",
	})
	want := map[string]string{
		"a/b/file": "inside", "link": "inside", "dirlink/file": "inside", "a/up": "inside",
		"abs":           "inside",
		"absdir/b/file": "inside", "absdir": "dir", "chain1": "inside",
		"shown": "kept by a link", ".": "dir",
		"out": "", "outabs": "", "outdir/secret": "", "outdir": "", "etc/passwd": "", "etc": "",
		"a/escape": "", "beside": "",
		"dangling": "", "self": "", "ping": "", "a/loop/link": "", "a/loop": "",
		"a/b/loop/file": "", "nothing": "", "link/x": "",
	}
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		for name, text := range want {
			got, err := read(r, name)
			if got != text || (err == nil) != (text != "") {
				t.Errorf("%s: got %q, %v; want %q", name, got, err, text)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v is not fs.ErrNotExist", name, err)
			}
		}
	})
}

func TestAbuseSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	defer func() { _ = syscall.Close(fd) }()
	must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(dir, "socket")}))
	write(t, dir, map[string]string{"null": "-> /dev/null"})
	if os.Geteuid() == 0 {
		_ = syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5)
	}
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		for _, name := range []string{"fifo", "socket", "null", "zero"} {
			begin := time.Now()
			if got, err := read(r, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			if time.Since(begin) > time.Minute {
				t.Errorf("%s hung", name)
			}
		}
	})
}

// Whatever is swapped for a link while it is served, nothing shows what is outside,
// and what cannot be opened for it is not there.
func TestAbuseLinkSwappedWhileServing(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"root/in/file": "inside", "out/file": "outside"})
	at := filepath.Join(base, "root/it")
	kinds := []func(tmp string) error{
		func(tmp string) error { return os.Symlink("in", tmp) },
		func(tmp string) error { return os.Symlink("../out", tmp) },
		func(tmp string) error { return os.Symlink(base+"/out", tmp) },
		func(tmp string) error { return os.Link(filepath.Join(base, "root/in/file"), tmp) },
		func(tmp string) error { return os.Symlink("in/file", tmp) },
		func(tmp string) error { return os.Symlink("it", tmp) },
		func(tmp string) error { return syscall.Mkfifo(tmp, 0o644) },
		func(tmp string) error { return os.Mkdir(tmp, 0o755) },
	}
	stop := make(chan struct{})
	swapped := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				swapped <- n
				return
			default:
			}
			tmp := filepath.Join(base, "root/tmp")
			_ = os.Remove(tmp)
			_ = kinds[n%len(kinds)](tmp)
			if os.Rename(tmp, at) != nil { // a directory is in the way, or is it
				_ = os.Remove(at)
				_ = os.Rename(tmp, at)
			}
		}
	}()
	roots(t, filepath.Join(base, "root"), func(t *testing.T, r *disk.Root) {
		seen := 0
		for try, end := 0, time.Now().Add(2*time.Minute); try < 3000 ||
			seen == 0 && time.Now().Before(end); try++ {
			for _, name := range []string{"it/file", "it"} {
				got, err := read(r, name)
				switch {
				case err == nil && got != "inside" && (got != "dir" || name != "it"):
					t.Fatalf("%s: got %q", name, got)
				case err == nil:
					seen++
				case !errors.Is(err, fs.ErrNotExist):
					t.Fatalf("%s: %v is not fs.ErrNotExist", name, err)
				}
			}
		}
		if seen == 0 {
			t.Error("the link was never served")
		}
	})
	close(stop)
	if n := <-swapped; n == 0 {
		t.Error("nothing was swapped")
	}
}

// What cannot be a name below a directory, or is deep, is not there or is found.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/b/file": "x", "deep/1/2/3/4/5/6/7/8": "x"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		if got, err := read(r, "deep/1/2/3/4/5/6/7/8"); got != "x" {
			t.Errorf("deep: %q, %v", got, err)
		}
		long := strings.Repeat("x/", 3000) + "x"
		for _, name := range []string{"a/b/file/x", "nothing/x", "fifo/x",
			strings.Repeat("x", 300), long} {
			if _, err := read(r, name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%.20s: %v", name, err)
			}
		}
		_, err := read(r, "missing") // the error says once what could not be opened
		if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "missing") != 1 {
			t.Errorf("got %v", err)
		}
	})
}
