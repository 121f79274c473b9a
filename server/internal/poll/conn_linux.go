package poll

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Conn is a net.Conn for a socket. Unlike net.FileConn, it does not duplicate the
// descriptor, and saves eight system calls.
type Conn struct {
	*os.File

	local, remote netip.AddrPort
	raw           syscall.RawConn
}

// NewConn returns a Conn for a non-blocking socket, and sets TCP_NODELAY.
func NewConn(fd int, local, remote netip.AddrPort) *Conn {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	f := os.NewFile(uintptr(fd), "connection")
	raw, _ := f.SyscallConn() // fails only for a nil *os.File
	return &Conn{File: f, local: local, remote: remote, raw: raw}
}

// RemoteAddr returns the client's address.
func (c *Conn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(c.remote)
}

// LocalAddr returns the address that the client has reached.
func (c *Conn) LocalAddr() net.Addr {
	return net.TCPAddrFromAddrPort(c.local)
}

// CloseWrite shuts down the sending side.
func (c *Conn) CloseWrite() error {
	return c.control("shutdown", func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) })
}

// Disconnect resets the connection at once. Close would wait for a system call that is
// sending.
func (c *Conn) Disconnect() error { return c.control("connect", disconnect) }

// SetLinger with 0 makes Close reset the connection, which discards unsent data.
func (c *Conn) SetLinger(seconds int) error { return c.control("setsockopt", SetReset) }

// Acknowledge sends a pending acknowledgment at once. After a TLS handshake many clients
// delay their request until the acknowledgment arrives (Nagle's algorithm), and the kernel
// would delay it by 40 ms.
func (c *Conn) Acknowledge() error {
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
}

// SetUnsent bounds how many unsent bytes of a reply the kernel buffers.
func (c *Conn) SetUnsent(n int) error {
	return c.control("setsockopt", func(fd int) error { return SetUnsent(fd, n) })
}

// control calls f with the socket, which stays open until f returns.
func (c *Conn) control(call string, f func(fd int) error) (err error) {
	ctrlErr := c.raw.Control(func(fd uintptr) { err = f(int(fd)) })
	return errors.Join(os.NewSyscallError(call, err), ctrlErr)
}

// maxSend is how many bytes one call of sendfile(2) sends at most. Even a slow disk reads
// that much within the stall timeout.
const maxSend = 16 << 20

// maxInKernel bounds the concurrent calls of sendfile(2). If a disk does not respond, each
// occupies a thread, and Go allows 10,000 threads.
const maxInKernel = 4096

var inKernel atomic.Int32

// SendFile sends the next bytes of a file with sendfile(2): up to n, and at most maxSend. It
// moves the file's offset past the bytes sent.
func (c *Conn) SendFile(src *os.File, n int64) (int64, error) {
	var sent int
	var failed error
	err := c.raw.Write(func(out uintptr) bool {
		sent, failed = SendFile(int(out), int(src.Fd()), int(min(n, maxSend)))
		return !errors.Is(failed, unix.EAGAIN)
	})
	switch {
	case err == nil:
		err = os.NewSyscallError("sendfile", failed)
	case !errors.Is(err, os.ErrDeadlineExceeded):
		err = os.ErrClosed // outside Read and Write, package os returns another error
	}
	return int64(max(sent, 0)), err
}

// SendFile sends as many of the next n bytes of a file as the socket accepts, and moves the
// file's offset past them. It returns errBusy if maxInKernel calls are running.
func SendFile(out, in, n int) (int, error) {
	defer inKernel.Add(-1)
	if inKernel.Add(1) > maxInKernel {
		return 0, errBusy
	}
	for {
		n, err := unix.Sendfile(out, in, nil, n)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
