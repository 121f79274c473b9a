package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/daemontest"
)

// The tests that take rights away run in a process of their own: this test
// program, called with the name of a trial.
var trials = map[string]func(dir string) error{
	"read": tryRead, "write": tryWrite, "swap": trySwap, "connect": tryConnect, "threads": tryThreads,
	"user": tryUser, "missing": tryMissing, "append": tryAppend,
}

func TestMain(m *testing.M) {
	if name := os.Getenv("SANDBOX_TRIAL"); name != "" {
		if err := trials[name](os.Getenv("SANDBOX_DIR")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(daemontest.Main(m))
}

func try(t *testing.T, name string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"parent/root", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "file"), []byte(d), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SANDBOX_TRIAL="+name, "SANDBOX_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, bytes.TrimSpace(out))
	}
}

func needFiles(t *testing.T) {
	if !Available().Files() {
		t.Skip("this kernel has no Landlock")
	}
}

func TestReadOutside(t *testing.T)      { needFiles(t); try(t, "read") }
func TestWrite(t *testing.T)            { needFiles(t); try(t, "write") }
func TestAppend(t *testing.T)           { needFiles(t); try(t, "append") }
func TestSwapOfRoot(t *testing.T)       { needFiles(t); try(t, "swap") }
func TestAllThreads(t *testing.T)       { needFiles(t); try(t, "threads") }
func TestMissingPath(t *testing.T)      { needFiles(t); try(t, "missing") }
func TestConnectAndListen(t *testing.T) { needTCP(t); try(t, "connect") }

func needTCP(t *testing.T) {
	if !Available().TCP() {
		t.Skip("this kernel's Landlock does not know TCP")
	}
}

func enter(dir string) error {
	read, err := Tree(filepath.Join(dir, "parent", "root"))
	if err != nil {
		return err
	}
	h, err := Enter(Paths{Read: read})
	if err == nil && !h.Files() {
		err = fmt.Errorf("Enter holds %+v", h)
	}
	return err
}

// want returns an error unless err is as expected: permission denied, or none.
func want(denied bool, what string, err error) error {
	if denied != errors.Is(err, fs.ErrPermission) || !denied && err != nil {
		return fmt.Errorf("%s: want denied: %v, got %w", what, denied, err)
	}
	return nil
}

func read(name string) error {
	_, err := os.ReadFile(name)
	return err
}

func list(name string) error {
	_, err := os.ReadDir(name)
	return err
}

func tryRead(dir string) error {
	if err := enter(dir); err != nil {
		return err
	}
	return errors.Join(
		want(false, "reading in the root", read(dir+"/parent/root/file")),
		want(false, "listing the root", list(dir+"/parent/root")),
		want(false, "listing the parent", list(dir+"/parent")),
		want(true, "reading outside", read(dir+"/outside/file")),
		want(true, "listing outside", list(dir+"/outside")),
		want(true, "reading /etc/passwd", read("/etc/passwd")),
		want(true, "reading one's own memory map", read("/proc/self/maps")),
		want(true, "running a program", exec.Command("/bin/true").Run()),
	)
}

func tryWrite(dir string) error {
	if err := enter(dir); err != nil {
		return err
	}
	root := dir + "/parent/root"
	return errors.Join(
		want(true, "writing", os.WriteFile(root+"/file", nil, 0o644)),
		want(true, "making a file", os.WriteFile(root+"/new", nil, 0o644)),
		want(true, "making a directory", os.Mkdir(root+"/dir", 0o755)),
		want(true, "making a link", os.Symlink("file", root+"/link")),
		want(true, "renaming", os.Rename(root+"/file", root+"/other")),
		want(true, "removing", os.Remove(root+"/file")),
		want(true, "writing outside", os.WriteFile(dir+"/outside/new", nil, 0o644)),
	)
}

func tryAppend(dir string) error {
	logs := dir + "/outside"
	if _, err := Enter(Paths{Append: []string{logs, os.DevNull}}); err != nil {
		return err
	}
	return errors.Join(
		want(false, "making a file in Append", os.WriteFile(logs+"/new", []byte("x"), 0o644)),
		want(false, "writing a device in Append", os.WriteFile(os.DevNull, []byte("x"), 0)),
		want(true, "reading in Append", read(logs+"/file")),
		want(true, "removing in Append", os.Remove(logs+"/file")),
	)
}

// trySwap reads the root after another process, started before, has swapped it.
func trySwap(dir string) error {
	next, root := dir+"/parent/next", dir+"/parent/root"
	if err := os.Mkdir(next, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(next+"/file", []byte("next"), 0o644); err != nil {
		return err
	}
	mover := exec.Command("/bin/sh", "-c", `read go; mv "$1" "$1.old" && mv "$2" "$1"; echo done`, "sh", root, next)
	in, err := mover.StdinPipe()
	if err != nil {
		return err
	}
	out, err := mover.StdoutPipe()
	if err != nil {
		return err
	}
	if err := mover.Start(); err != nil {
		return err
	}
	if err := enter(dir); err != nil {
		return err
	}
	if _, err := io.WriteString(in, "go\n"); err != nil {
		return err
	}
	if _, err := io.ReadAll(out); err != nil {
		return err
	}
	got, err := os.ReadFile(root + "/file")
	if err == nil && string(got) != "next" {
		err = fmt.Errorf("read %q after the swap", got)
	}
	return err
}

func tryConnect(dir string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := enter(dir); err != nil {
		return err
	}
	_, err = net.Dial("tcp", l.Addr().String())
	// A plain TCP socket: what net.Listen opens is MPTCP's, which is not seen.
	fd, sockErr := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if sockErr != nil {
		return sockErr
	}
	bindErr := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	return errors.Join(want(true, "connecting", err), want(true, "listening anew", bindErr))
}

// tryThreads looks from threads that were there before.
func tryThreads(dir string) error {
	const n = 8
	ready, gone, results := make(chan bool), make(chan bool), make(chan error)
	for range n {
		go func() {
			runtime.LockOSThread()
			ready <- true
			<-gone
			results <- want(true, "reading outside from another thread", read(dir+"/outside/file"))
		}()
	}
	for range n {
		<-ready
	}
	err := enter(dir)
	close(gone)
	for range n {
		err = errors.Join(err, <-results)
	}
	return err
}

func tryMissing(dir string) error {
	if _, err := Enter(Paths{Read: []string{dir + "/nowhere"}}); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("Enter with a missing path: %w", err)
	}
	return want(false, "reading after a failed Enter", read(dir+"/outside/file"))
}

func TestBecome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	try(t, "user")
}

func tryUser(dir string) error {
	if err := syscall.Setgroups([]int{0, 1, 2}); err != nil {
		return err
	}
	secret := dir + "/secret"
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		return err
	}
	u := User{Name: "test", UID: 54321, GID: 54322}
	if err := u.Become(); err != nil {
		return err
	}
	groups, err := os.Getgroups()
	if err != nil || len(groups) != 1 || groups[0] != u.GID || os.Getuid() != u.UID || os.Getegid() != u.GID {
		return fmt.Errorf("became %d:%d with groups %v: %w", os.Getuid(), os.Getegid(), groups, err)
	}
	if err := u.Become(); err != nil {
		return fmt.Errorf("becoming who one is: %w", err)
	}
	err = User{Name: "other", UID: 54323, GID: 54322}.Become()
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "becoming user other") {
		return fmt.Errorf("becoming another: %w", err)
	}
	return want(true, "reading what is root's", read(secret))
}

func TestLookUpUser(t *testing.T) {
	for _, c := range []struct {
		spec string
		want User
		err  string
	}{
		{"root", User{"root", 0, 0}, ""},
		{"0", User{"0", 0, 0}, ""},
		{"root:54322", User{"root", 0, 54322}, ""},
		{"54321:54322", User{"54321", 54321, 54322}, ""},
		{"54321", User{}, "unknown userid 54321"},
		{"no-such-user", User{}, `looking up user "no-such-user"`},
		{"root:no-such-group", User{}, `looking up group "no-such-group"`},
		{"", User{}, `looking up user ""`},
		{"4294967295:0", User{}, "looking up user"},
		{"-1:0", User{}, "looking up user"},
	} {
		got, err := LookUpUser(c.spec)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("LookUpUser(%q) = %+v, %v; want %+v, %q", c.spec, got, err, c.want, c.err)
		}
	}
}

func TestTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/releases/1", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("releases/1", dir+"/current"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{dir + "/releases/1", dir + "/releases/1 " + dir + "/releases"},
		{dir + "/releases/1/", dir + "/releases/1 " + dir + "/releases"},
		{dir + "/current", dir + "/current " + dir + " " + dir + "/releases"},
		{"/tmp", "/tmp"},
		{"/", "/"},
	} {
		got, err := Tree(c.dir)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Tree(%q) = %q, %v; want %q", c.dir, got, err, c.want)
		}
	}
}
