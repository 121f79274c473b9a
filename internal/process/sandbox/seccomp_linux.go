//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter allows the system calls of a running server: accepting, reading, sending, watching
// files, and creating threads. Other calls fail with EPERM. Calls newer than the list, and
// clone3(2), whose arguments a filter cannot read, fail with ENOSYS, so that the caller tries an
// older call. Nothing kills the process.

// A mode lists what else a server needs.
type mode struct {
	connects bool // to Unix sockets
	stores   bool // files, as databases do
}

// An allowedCall is allowed if one of its forms matches.
type allowedCall struct {
	number uint32
	forms  [][]argument // nil: any
}

// An argument matches if its bits in mask equal value. BPF reads 32-bit halves: half 2n is the
// low half of argument n, which is all that the kernel uses of an int, and 2n+1 the high half
// (these machines are little-endian).
type argument struct{ half, mask, value uint32 }

const all = ^uint32(0)

// is returns a form for each value of an argument, preceded by other arguments that must match.
func is(half uint32, values []uint32, before ...argument) (forms [][]argument) {
	for _, v := range values {
		forms = append(forms, append(append([]argument(nil), before...), argument{half, all, v}))
	}
	return forms
}

const (
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP
	// nameless is the length of an address without a name. connect(2) accepts it only to
	// disconnect a socket (AF_UNSPEC).
	nameless = 2
	// newest is the newest system call that the list takes into account.
	newest = unix.SYS_MSEAL
)

// calls returns the calls that a mode allows. Frequent calls with checked arguments come first.
// (The kernel caches which calls are allowed with any arguments.)
func calls(m mode) []allowedCall {
	list := []allowedCall{
		{unix.SYS_SENDTO, [][]argument{{{2 * 3, unix.MSG_FASTOPEN, 0}}}},  // which would connect, past Landlock
		{unix.SYS_SENDMSG, [][]argument{{{2 * 2, unix.MSG_FASTOPEN, 0}}}}, // to the journal
		{unix.SYS_TGKILL, is(0, []uint32{uint32(os.Getpid())})},
		{unix.SYS_MMAP, [][]argument{{{2 * 2, unix.PROT_EXEC, 0}}}},
		{unix.SYS_MPROTECT, [][]argument{{{2 * 2, unix.PROT_EXEC, 0}}}},
		{unix.SYS_CLONE, [][]argument{{{0, unix.CLONE_THREAD | namespaces, unix.CLONE_THREAD}}}},
		{unix.SYS_PRCTL, is(0, []uint32{unix.PR_SET_VMA, unix.PR_SET_NAME})},
		{unix.SYS_PRLIMIT64, [][]argument{{{0, all, 0}, {2 * 2, all, 0}, {2*2 + 1, all, 0}}}}, // reads a limit of its own
		{unix.SYS_SETSOCKOPT, append(
			is(2*2, []uint32{unix.SO_LINGER, unix.SO_KEEPALIVE, unix.SO_ATTACH_FILTER},
				argument{2 * 1, all, unix.SOL_SOCKET}),
			is(2*2, []uint32{unix.TCP_NODELAY, unix.TCP_QUICKACK, unix.TCP_NOTSENT_LOWAT,
				unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT}, argument{2 * 1, all,
				unix.IPPROTO_TCP})...)},
	}
	fcntl := []uint32{unix.F_GETFL, unix.F_SETFL, unix.F_GETFD, unix.F_SETFD, unix.F_DUPFD_CLOEXEC}
	always := []uint32{
		unix.SYS_ACCEPT4, unix.SYS_RECVFROM, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKNAME,
		unix.SYS_GETPEERNAME, unix.SYS_GETSOCKOPT, unix.SYS_SENDFILE,
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PREADV2,
		unix.SYS_CLOSE, unix.SYS_LSEEK,
		unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_GETDENTS64, unix.SYS_READLINKAT,
		unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_GETCWD,
		unix.SYS_FSTAT, fstatat, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS,
		unix.SYS_FADVISE64,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
		unix.SYS_PIPE2,
		unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_RM_WATCH,
		unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_RESTART_SYSCALL,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
		unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_GETRUSAGE, unix.SYS_GETRANDOM, unix.SYS_UNAME,
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID,
		unix.SYS_GETEGID,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	}
	if m.connects {
		list = append(list, allowedCall{unix.SYS_SOCKET,
			[][]argument{{{0, all, unix.AF_UNIX}, {2 * 1, 0xff, unix.SOCK_STREAM}}}})
		always = append(always, unix.SYS_CONNECT)
	} else {
		list = append(list, allowedCall{unix.SYS_CONNECT, is(2*2, []uint32{nameless})})
	}
	if m.stores {
		fcntl = append(fcntl, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK,
			unix.F_OFD_SETLK, unix.F_OFD_SETLKW)
		always = append(append(always, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
			unix.SYS_FSYNC, unix.SYS_FDATASYNC,
			unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_MREMAP), storing...)
	}
	list = append(list, allowedCall{unix.SYS_FCNTL, is(2*1, fcntl)})
	for _, number := range always {
		list = append(list, allowedCall{number: number})
	}
	return list
}

// The offsets in struct seccomp_data (linux/seccomp.h).
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

// x32 is the bit of calls of the x32 ABI, which shares the arch of amd64.
const x32 = 0x40000000

// arch is the kernel's constant for this machine.
var arch = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}[runtime.GOARCH]

// filter returns the program that the kernel runs at each system call. Each call of
// another architecture fails with EPERM.
func filter(m mode) ([]bpf.RawInstruction, error) {
	const allow = unix.SECCOMP_RET_ALLOW
	deny := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	missing := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		deny,
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		deny,
	}
	for _, c := range calls(m) {
		body := []bpf.Instruction{bpf.RetConstant{Val: allow}}
		if c.forms != nil {
			body = nil
		}
		for _, form := range c.forms {
			for i, a := range form {
				rest := uint8(3*(len(form)-1-i) + 1) // the form's other arguments, and its end
				body = append(body, bpf.LoadAbsolute{
					Off:  offsetArgs + 4*a.half,
					Size: 4,
				}, bpf.ALUOpConstant{
					Op:  bpf.ALUOpAnd,
					Val: a.mask,
				},
					bpf.JumpIf{
						Cond:     bpf.JumpNotEqual,
						Val:      a.value,
						SkipTrue: rest,
					})
			}
			body = append(body, bpf.RetConstant{Val: allow})
		}
		if c.forms != nil {
			body = append(body, deny)
		}
		program = append(append(program, bpf.JumpIf{
			Cond:     bpf.JumpNotEqual,
			Val:      c.number,
			SkipTrue: uint8(len(body)),
		}), body...)
	}
	return bpf.Assemble(append(program,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newest, SkipTrue: 1},
		deny, missing))
}

// filterCalls applies the filter to all present and future threads of the process
// (SECCOMP_FILTER_FLAG_TSYNC).
func filterCalls(m mode) error {
	raw, err := filter(m)
	if err != nil {
		return fmt.Errorf("assembling the filter of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	runtime.LockOSThread() // PR_SET_NO_NEW_PRIVS is per thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new rights: %w", err)
	}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return fmt.Errorf("filtering system calls: %w", errno)
	case failed != 0:
		return fmt.Errorf("filtering system calls: thread %d does not take the filter", failed)
	}
	return nil
}

// filtersCalls reports whether this system can filter system calls.
func filtersCalls() bool {
	action := unix.SECCOMP_RET_ERRNO
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
