//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// deniedCalls are the system calls that serving never needs and that a fault in
// it would be used for: to run a program, to read or change another process, to
// do with io_uring what this filter denies, and to get more rights from the kernel.
var deniedCalls = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_KEXEC_LOAD,
}

// The offsets in struct seccomp_data (linux/seccomp.h). Of the first argument the
// low half is looked at: the machines of this file are little-endian, and the
// kernel, too, takes a socket's family as 32 bits.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16
)

// x32 marks the calls of amd64's 32-bit pointer mode, which are others under the
// same machine.
const x32 = 0x40000000

// arch is how the kernel names this machine.
var arch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// filter is the program that the kernel asks at each system call. What it denies
// fails with EPERM; so does every call of another architecture.
func filter(unixSockets bool) ([]bpf.RawInstruction, error) {
	const deny, allow = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ALLOW
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: deny},
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		bpf.RetConstant{Val: deny},
	}
	for _, call := range deniedCalls {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, bpf.RetConstant{Val: deny})
	}
	program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SOCKET, SkipTrue: 1}, bpf.RetConstant{Val: allow})
	if unixSockets {
		program = append(program, bpf.LoadAbsolute{Off: offsetArg0, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_UNIX, SkipTrue: 1}, bpf.RetConstant{Val: allow})
	}
	return bpf.Assemble(append(program, bpf.RetConstant{Val: deny}))
}

// denyCalls puts the filter before all threads of the process, those to come
// included (seccomp(2), SECCOMP_FILTER_FLAG_TSYNC).
func denyCalls(unixSockets bool) error {
	raw, err := filter(unixSockets)
	if err != nil {
		return fmt.Errorf("assembling the filter of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	runtime.LockOSThread() // the thread that gives up new rights must be the one that asks
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new rights: %w", err)
	}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
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
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
