// Package sandbox_test looks at the sandbox from inside, in processes of their own.
package sandbox_test

import (
	"errors"
	"fmt"
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
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/process/sandbox"
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
		treetest.Write(t, dir, map[string]string{"parent/root/file": "old",
			"outside/file": "outside"})
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

func TestReadOutside(t *testing.T) { needFiles(t); try(t, tryRead) }
func TestWrite(t *testing.T)       { needFiles(t); try(t, tryWrite) }
func TestAppend(t *testing.T)      { needFiles(t); try(t, tryAppend) }
func TestMissingPath(t *testing.T) { needFiles(t); try(t, tryMissing) }
func TestEnvironment(t *testing.T) { needFiles(t); try(t, tryEnvironment) }
func TestUnixSocket(t *testing.T)  { needCalls(t); try(t, tryUnix) }

func needCalls(t *testing.T) {
	needFiles(t)
	if !sandbox.Available().Calls {
		t.Skip("this kernel cannot filter system calls")
	}
}

// modes are the ways to enter.
var modes = map[string]func(dir string) sandbox.Paths{
	"plain": func(dir string) sandbox.Paths {
		return sandbox.Paths{Read: []string{dir + "/parent/root"}}
	},
	"connects": func(dir string) sandbox.Paths {
		return sandbox.Paths{Read: []string{dir + "/parent/root"},
			Connect: []string{dir + "/outside"}}
	},
	"stores": func(dir string) sandbox.Paths {
		return sandbox.Paths{Read: []string{dir + "/parent/root"}, Keep: []string{dir + "/outside"}}
	},
}

// TestCalls tries in each mode, and on each older Landlock, what gophd says that it
// forbids, and what it needs.
func TestCalls(t *testing.T) {
	needCalls(t)
	for name, paths := range modes {
		for abi := 1; abi <= sandbox.Available().ABI; abi++ {
			t.Run(fmt.Sprintf("%s/%d", name, abi), func(t *testing.T) {
				try(t, func(dir string) error { return tryCalls(dir, abi, paths(dir)) })
			})
		}
	}
}

func enter(dir string) error {
	h, err := sandbox.Enter(sandbox.Paths{Read: sandbox.Tree(filepath.Join(dir, "parent", "root"))})
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

// accepted returns a connection that was accepted from a listener, and the address of
// that.
func accepted() (fd int, at *syscall.SockaddrInet4, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	_, err = net.Dial("tcp", l.Addr().String())
	c, acceptErr := l.Accept()
	if err = errors.Join(err, acceptErr); err != nil {
		return 0, nil, err
	}
	f, err := c.(*net.TCPConn).File()
	return int(f.Fd()), &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1},
		Port: l.Addr().(*net.TCPAddr).Port}, err
}

// tryCalls does what an intruder would, on a thread that was there before, too.
func tryCalls(dir string, abi int, paths sandbox.Paths) error {
	sandbox.Newest.ABI = abi
	sandbox.Newest.Config = []landlock.Config{1: landlock.V1, 2: landlock.V2, 3: landlock.V3,
		4: landlock.V4, 5: landlock.V5,
		6: landlock.V6, 7: landlock.V7, 8: landlock.V8, 9: landlock.V9, 10: landlock.V10,
		11: landlock.V11}[abi]
	conn, at, err := accepted()
	if err != nil {
		return err
	}
	filtered = attachFilter(conn)
	ready, gone, results := make(chan bool), make(chan sandbox.Holds), make(chan error)
	go func() {
		runtime.LockOSThread()
		ready <- true
		results <- deniedHere("another thread", <-gone, paths, -1, nil)
	}()
	<-ready
	h, err := sandbox.Enter(paths)
	if err != nil || !h.Full() || h.ABI != abi {
		return fmt.Errorf("it holds %v: %w", h, err)
	}
	gone <- h
	root := dir + "/parent/root"
	return errors.Join(deniedHere("this thread", h, paths, conn, at), <-results,
		want(false, "reading in the root", read(root+"/file")),
		want(true, "reading the parent", list(dir+"/parent")),
		want(len(paths.Keep) == 0, "reading outside", read(dir+"/outside/file")),
		want(len(paths.Keep) == 0, "storing", store(dir+"/outside/db")),
		want(true, "writing", os.WriteFile(root+"/file", nil, 0o644)),
		want(true, "removing", os.Remove(root+"/file")),
		want(true, "cutting a file off", openError(os.Truncate(root+"/file", 1))))
}

// store does what a database does with its file.
func store(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("x"), 10)
	return errors.Join(err, unix.FcntlFlock(f.Fd(), unix.F_SETLK,
		&unix.Flock_t{Type: unix.F_WRLCK}), f.Truncate(5), f.Sync(), f.Close(), os.Remove(name))
}

// filtered is what attachFilter returned before the sandbox was entered: some kernels
// let root alone attach a filter.
var filtered error

func attachFilter(conn int) error {
	lets := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0xffff}}
	return unix.SetsockoptSockFprog(conn, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: 1, Filter: &lets[0]})
}

// deniedHere tries what is forbidden; conn is a connection that was accepted.
func deniedHere(where string, h sandbox.Holds, paths sandbox.Paths, conn int,
	at *syscall.SockaddrInet4) error {
	connects, stores := len(paths.Connect) > 0, len(paths.Keep) > 0
	call := func(number uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0, 0, 0, 0)
		_, _, errno := syscall.Syscall6(number, args[0], args[1], args[2], args[3],
			args[4], args[5])
		if errno == 0 {
			return nil
		}
		return errno
	}
	is := func(errno syscall.Errno, what string, err error) error {
		if !errors.Is(err, errno) {
			return fmt.Errorf("%s: want %w, got %w", what, errno, err)
		}
		return nil
	}
	const exec = unix.PROT_READ | unix.PROT_EXEC
	failed := errors.Join(
		want(true, "reading /etc/passwd", read("/etc/passwd")),
		want(true, "a TCP socket", call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)),
		want(true, "a UDP socket", call(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM)),
		want(true, "an MPTCP socket",
			call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)),
		want(true, "a Unix datagram socket", call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_DGRAM)),
		want(!connects, "a Unix socket",
			call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC)),
		want(true, "a netlink socket", call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW)),
		want(true, "execve", syscall.Exec("/proc/self/exe", nil, nil)),
		want(true, "a process", call(unix.SYS_CLONE, uintptr(unix.SIGCHLD))),
		want(true, "a thread in a namespace",
			call(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_NEWUSER)),
		want(true, "memory that runs",
			call(unix.SYS_MMAP, 0, 4096, exec, unix.MAP_PRIVATE|unix.MAP_ANON)),
		want(true, "a signal for the parent", call(unix.SYS_KILL, uintptr(os.Getppid()))),
		want(true, "a signal for a thread of the parent",
			call(unix.SYS_TGKILL, uintptr(os.Getppid()), uintptr(os.Getppid()))),
		want(true, "its own priority",
			call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, uintptr(os.Getppid()), 19)),
		want(true, "making it dumpable", call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)),
		want(true, "its own limits",
			call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE, uintptr(unsafe.Pointer(&unix.Rlimit{})))),
		want(true, "limits of its parent",
			call(unix.SYS_PRLIMIT64, uintptr(os.Getppid()), unix.RLIMIT_CORE)),
		want(true, "a limit behind the low half of an address",
			call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE, 1<<32)),
		want(true, "TCP_FASTOPEN_CONNECT",
			call(unix.SYS_SETSOCKOPT, 0, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT)),
		want(true, "an owner of signals",
			call(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(os.Getppid()))),
		want(!stores, "writing at an offset", openError(call(unix.SYS_PWRITE64, 1<<20))),
		is(unix.ENOSYS, "clone3", call(unix.SYS_CLONE3)),
		is(unix.ENOSYS, "a call to come", call(5000)),
	)
	for _, number := range []uintptr{unix.SYS_EXECVEAT, unix.SYS_LISTEN, unix.SYS_BIND,
		unix.SYS_SENDMMSG, unix.SYS_RECVMSG, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
		unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL,
		unix.SYS_ADD_KEY, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_MOVE_MOUNT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_FANOTIFY_INIT, unix.SYS_INIT_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_SECCOMP,
		unix.SYS_LANDLOCK_CREATE_RULESET,
		unix.SYS_PERSONALITY, unix.SYS_SHMGET, unix.SYS_MEMFD_CREATE, unix.SYS_REMAP_FILE_PAGES,
		unix.SYS_PKEY_MPROTECT, unix.SYS_SETUID, unix.SYS_CAPSET, unix.SYS_FCHMODAT,
		unix.SYS_FCHOWNAT,
		unix.SYS_UTIMENSAT, unix.SYS_SETXATTR, unix.SYS_MKDIRAT, unix.SYS_SYMLINKAT,
		unix.SYS_LINKAT, unix.SYS_MKNODAT, unix.SYS_SPLICE} {
		failed = errors.Join(failed,
			is(unix.EPERM, "call "+strconv.Itoa(int(number)), call(number)))
	}
	if runtime.GOARCH == "amd64" { // getpid in the mode with 32-bit pointers
		failed = errors.Join(failed, want(true, "an x32 call", call(0x40000000|unix.SYS_GETPID)))
	}
	if conn >= 0 {
		failed = errors.Join(failed,
			unix.SetsockoptInt(conn, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
			unix.SetsockoptInt(conn, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, 1<<16),
			unix.SetsockoptLinger(conn, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{}))
		if filter := attachFilter(conn); !errors.Is(filter, filtered) {
			failed = errors.Join(failed, fmt.Errorf("a filter: %w, before %w", filter, filtered))
		}
		_, _, errno := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(conn),
			uintptr(unsafe.Pointer(new(uint16))), 2)
		failed = errors.Join(failed, openError(errno),
			want(true, "sending on what was disconnected",
				unix.Sendto(conn, []byte("x"), unix.MSG_FASTOPEN,
					&unix.SockaddrInet4{Port: at.Port, Addr: at.Addr})),
			want(true, "sending a message on what was disconnected",
				unix.Sendmsg(conn, []byte("x"), nil,
					&unix.SockaddrInet4{Port: at.Port, Addr: at.Addr}, unix.MSG_FASTOPEN)),
			want(h.TCP(), "connecting with what was accepted", syscall.Connect(conn, at)))
		if h.TCP() == (connects && h.ABI < 4) {
			failed = errors.Join(failed, fmt.Errorf("%+v says %v of TCP", h, h.TCP()))
		}
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
	if _, err := sandbox.Enter(sandbox.Paths{Read: []string{dir + "/parent"},
		Connect: []string{dir + "/outside/socket"}}); err != nil {
		return err
	}
	_, dialErr := net.Dial("unix", dir+"/outside/socket")
	_, tcpErr := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	return errors.Join(want(false, "connecting to the socket", dialErr),
		want(true, "a TCP socket", tcpErr),
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

// openError makes no error of one that is not about rights.
func openError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func tryMissing(dir string) error {
	if _, err := sandbox.Enter(sandbox.Paths{Read: []string{dir + "/nowhere"}}); !errors.Is(err,
		fs.ErrNotExist) {
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
	if err != nil || !slices.Equal(groups, []int{u.GID, 54323}) || os.Getuid() != u.UID ||
		os.Getegid() != u.GID {
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
