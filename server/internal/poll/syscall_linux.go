package poll

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls bypass the scheduler (RawSyscall), since they never block: otherwise it would
// often wake another thread. Only SendFile may wait for a disk.

// Accept accepts a pending connection, and returns its descriptor and remote address.
func Accept(listener int) (int, netip.AddrPort, error) {
	var sa unix.RawSockaddrAny
	size := uint32(unsafe.Sizeof(sa))
	fd, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener),
		uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)),
		unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if errno != 0 {
		return -1, netip.AddrPort{}, errno
	}
	return int(fd), addrPort(&sa), nil
}

// SetReset makes Close reset the connection, which discards unsent data.
func SetReset(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// SetUnsent bounds the unsent bytes that the kernel buffers (TCP_NOTSENT_LOWAT).
func SetUnsent(fd, n int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n)
}

// Unread reports whether the socket has unread bytes.
func Unread(fd int) bool {
	n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
	return err == nil && n > 0
}

// HoldNewcomers makes the kernel drop SYN segments for the listener. A client repeats its SYN
// after a second and then reaches the next server, or is refused if there is none. Without
// the filter, connections that arrive between the last accept and the close would be reset.
func HoldNewcomers(listener int) {
	const flags, syn, all = 13, 0x02, 0xffff // of the TCP header (RFC 9293 section 3.1)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: all},
	}
	_ = unix.SetsockoptSockFprog(listener, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

// EpollWait stores pending events, without waiting, and returns their number.
func EpollWait(epoll int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Recv reads the bytes that have arrived. After an error it returns a negative number.
func Recv(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
		uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}

// Discard drops up to 1 MiB that has arrived, without copying it (MSG_TRUNC, tcp(7)), and returns
// the number of bytes, which is negative after an error.
func Discard(fd int) (int, unix.Errno) {
	const most = 1 << 20
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, most, unix.MSG_TRUNC, 0, 0)
	return int(n), errno
}

// Send sends as much of the last part of a reply as the socket accepts. MSG_MORE delays the
// last segment until ShutdownWrite, so that it carries the FIN.
func Send(fd int, b []byte) (int, unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
		uintptr(len(b)), unix.MSG_NOSIGNAL|unix.MSG_MORE, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// ShutdownWrite shuts down the sending side.
func ShutdownWrite(fd int) {
	_, _, _ = unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_WR, 0)
}

// disconnect resets a connection (connect(2) with AF_UNSPEC). The sandbox allows connect only
// with an address of this length, which cannot name a destination.
func disconnect(fd int) error {
	nobody := uint16(unix.AF_UNSPEC)
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&nobody)),
		unsafe.Sizeof(nobody))
	if errno != 0 {
		return errno
	}
	return nil
}

// Close closes a descriptor.
func Close(fd int) {
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
}

// LocalAddr returns the local address of a connection.
func LocalAddr(fd int) netip.AddrPort {
	var sa unix.RawSockaddrAny
	size := uint32(unsafe.Sizeof(sa))
	_, _, _ = unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa)),
		uintptr(unsafe.Pointer(&size)))
	return addrPort(&sa)
}

func addrPort(sa *unix.RawSockaddrAny) netip.AddrPort {
	switch sa.Addr.Family {
	case unix.AF_INET:
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(in.Addr), hostOrder(in.Port))
	case unix.AF_INET6:
		in := (*unix.RawSockaddrInet6)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom16(in.Addr).Unmap(), hostOrder(in.Port))
	}
	return netip.AddrPort{}
}

// hostOrder converts a port from network byte order.
func hostOrder(port uint16) uint16 {
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&port))[:])
}
