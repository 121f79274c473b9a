// Package sandbox_test looks at the sandbox from inside, in processes of their own.
package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/sandbox"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// try lets a trial take rights away from a process of its own, and look from inside.
func try(t *testing.T, trial func(dir string) error) {
	t.Helper()
	dir := os.Getenv("SANDBOX_DIR")
	if dir == "" {
		dir = t.TempDir()
		treetest.Write(t, dir, map[string]string{"parent/root/file": "old", "outside/file": "outside"})
	}
	if !harness.Apart(t, "SANDBOX_DIR="+dir) {
		return
	}
	if err := trial(dir); err != nil {
		t.Error(err)
	}
}

func needFiles(t *testing.T) {
	if !sandbox.Available().Files() {
		t.Skip("this kernel has no Landlock")
	}
}

func TestReadOutside(t *testing.T)      { needFiles(t); try(t, tryRead) }
func TestWrite(t *testing.T)            { needFiles(t); try(t, tryWrite) }
func TestAppend(t *testing.T)           { needFiles(t); try(t, tryAppend) }
func TestSwapOfRoot(t *testing.T)       { needFiles(t); try(t, trySwap) }
func TestAllThreads(t *testing.T)       { needFiles(t); try(t, tryThreads) }
func TestMissingPath(t *testing.T)      { needFiles(t); try(t, tryMissing) }
func TestEnvironment(t *testing.T)      { needFiles(t); try(t, tryEnvironment) }
func TestCalls(t *testing.T)            { needCalls(t); try(t, tryCalls) }
func TestUnixSocket(t *testing.T)       { needCalls(t); try(t, tryUnix) }
func TestConnectAndListen(t *testing.T) { needTCP(t); try(t, tryConnect) }

func needCalls(t *testing.T) {
	needFiles(t)
	if !sandbox.Available().Calls {
		t.Skip("this kernel cannot filter system calls")
	}
}

// TestEachABI proves from inside what each older Landlock would hold.
func TestEachABI(t *testing.T) {
	needFiles(t)
	for abi := 1; abi <= sandbox.Available().ABI; abi++ {
		t.Run(strconv.Itoa(abi), func(t *testing.T) {
			try(t, func(dir string) error { return tryABI(dir, abi) })
		})
	}
}

func needTCP(t *testing.T) {
	if !sandbox.Available().TCP() {
		t.Skip("this kernel's Landlock does not know TCP")
	}
}

func enter(dir string) error {
	read, err := sandbox.Tree(filepath.Join(dir, "parent", "root"))
	if err != nil {
		return err
	}
	h, err := sandbox.Enter(sandbox.Paths{Read: read})
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
		want(true, "listing the parent", list(dir+"/parent")),
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
	if _, err := sandbox.Enter(sandbox.Paths{Append: []string{logs, os.DevNull}}); err != nil {
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
	if _, err := sandbox.Enter(sandbox.Paths{Read: sandbox.Around(root)}); err != nil {
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
	// What Landlock holds is tried with a socket that was there before: after
	// it the filter of system calls lets none be made.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	to := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: l.Addr().(*net.TCPAddr).Port}
	if err := enter(dir); err != nil {
		return err
	}
	_, dialErr := net.Dial("tcp", l.Addr().String())
	return errors.Join(
		want(true, "connecting", syscall.Connect(fd, to)),
		want(true, "listening again", syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})),
		want(true, "dialling", dialErr),
	)
}

// tryCalls does what an intruder would, on a thread that was there before too.
func tryCalls(dir string) error {
	ready, gone, results := make(chan bool), make(chan bool), make(chan error)
	go func() {
		runtime.LockOSThread()
		ready <- true
		<-gone
		results <- deniedHere("another thread")
	}()
	<-ready
	if err := enter(dir); err != nil {
		return err
	}
	close(gone)
	return errors.Join(deniedHere("this thread"), <-results)
}

func deniedHere(where string) error {
	call := func(number uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0)
		_, _, errno := syscall.Syscall(number, args[0], args[1], args[2])
		if errno == 0 {
			return nil
		}
		return errno
	}
	socket := func(family, kind, protocol int) error {
		_, err := syscall.Socket(family, kind, protocol)
		return err
	}
	failed := errors.Join(
		want(true, "a TCP socket", socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)),
		want(true, "a UDP socket", socket(syscall.AF_INET6, syscall.SOCK_DGRAM, 0)),
		want(true, "an MPTCP socket", socket(syscall.AF_INET, syscall.SOCK_STREAM, unix.IPPROTO_MPTCP)),
		want(true, "a Unix socket", socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)),
		want(true, "execve", syscall.Exec("/proc/self/exe", nil, nil)),
		want(true, "execveat", call(unix.SYS_EXECVEAT)),
		want(true, "ptrace", call(unix.SYS_PTRACE, unix.PTRACE_TRACEME)),
		want(true, "process_vm_readv", call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid()))),
		want(true, "io_uring_setup", call(unix.SYS_IO_URING_SETUP, 1)),
		want(true, "bpf", call(unix.SYS_BPF)),
		want(true, "unshare", call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER)),
	)
	if runtime.GOARCH == "amd64" { // getpid in the mode with 32-bit pointers
		failed = errors.Join(failed, want(true, "an x32 call", call(0x40000000|unix.SYS_GETPID)))
	}
	if failed != nil {
		return fmt.Errorf("on %s: %w", where, failed)
	}
	return nil
}

// tryUnix connects to a Unix socket that Paths names, and to nothing else.
func tryUnix(dir string) error {
	l, err := net.Listen("unix", dir+"/outside/socket")
	if err != nil {
		return err
	}
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	if _, err := sandbox.Enter(sandbox.Paths{Read: []string{dir + "/parent"}, Connect: []string{dir + "/outside/socket"}}); err != nil {
		return err
	}
	_, dialErr := net.Dial("unix", dir+"/outside/socket")
	_, tcpErr := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	return errors.Join(want(false, "connecting to the socket", dialErr), want(true, "a TCP socket", tcpErr),
		want(true, "reading beside the socket", read(dir+"/outside/file")))
}

func tryEnvironment(dir string) error {
	if err := enter(dir); err != nil {
		return err
	}
	if left := os.Environ(); len(left) > 0 {
		return fmt.Errorf("the environment is still there: %q", left)
	}
	return want(true, "reading it from /proc", read("/proc/self/environ"))
}

// tryABI enters with each older Landlock that this kernel can stand for.
func tryABI(dir string, abi int) error {
	sandbox.Newest.ABI = abi
	sandbox.Newest.Config = []landlock.Config{1: landlock.V1, 2: landlock.V2, 3: landlock.V3, 4: landlock.V4, 5: landlock.V5,
		6: landlock.V6, 7: landlock.V7, 8: landlock.V8, 9: landlock.V9, 10: landlock.V10, 11: landlock.V11}[abi]
	if err := enter(dir); err != nil {
		return err
	}
	if h := sandbox.Available(); h.ABI != abi || h.Full() != (h.Calls || abi >= 4) {
		return fmt.Errorf("it holds %+v", h)
	}
	root := dir + "/parent/root"
	return errors.Join(
		want(false, "reading in the root", read(root+"/file")),
		want(true, "reading the parent", list(dir+"/parent")),
		want(true, "reading outside", read(dir+"/outside/file")),
		want(true, "writing", os.WriteFile(root+"/file", nil, 0o644)),
		want(true, "removing", os.Remove(root+"/file")),
		want(abi >= 3, "cutting a file off", openError(os.Truncate(root+"/file", 1))),
	)
}

// openError makes no error of one that is not about rights.
func openError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
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
	if _, err := sandbox.Enter(sandbox.Paths{Read: []string{dir + "/nowhere"}}); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("Enter with a missing path: %w", err)
	}
	return want(false, "reading after a failed Enter", read(dir+"/outside/file"))
}

func TestBecome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	try(t, tryUser)
}

func tryUser(dir string) error {
	if err := syscall.Setgroups([]int{0, 1, 2}); err != nil {
		return err
	}
	secret := dir + "/secret"
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		return err
	}
	u := sandbox.Identity{Name: "test", UID: 54321, GID: 54322, Groups: []int{54323}}
	if err := u.Become(); err != nil {
		return err
	}
	groups, err := os.Getgroups()
	if err != nil || !slices.Equal(groups, []int{u.GID, 54323}) || os.Getuid() != u.UID || os.Getegid() != u.GID {
		return fmt.Errorf("became %d:%d with groups %v: %w", os.Getuid(), os.Getegid(), groups, err)
	}
	if err := u.Become(); err != nil {
		return fmt.Errorf("becoming who one is: %w", err)
	}
	err = sandbox.Identity{Name: "other", UID: 54323, GID: 54322}.Become()
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "becoming user other") {
		return fmt.Errorf("becoming another: %w", err)
	}
	return want(true, "reading what is root's", read(secret))
}
