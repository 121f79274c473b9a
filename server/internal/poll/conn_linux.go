package poll

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Conn is a net.Conn for a socket. Unlike net.FileConn, it does not duplicate the
// descriptor, and saves eight system calls.
type Conn struct {
	*os.File

	remote netip.AddrPort
	raw    syscall.RawConn
	until  time.Time // the write deadline
}

// NewConn returns a Conn for a non-blocking socket.
func NewConn(fd int, remote netip.AddrPort) *Conn {
	f := os.NewFile(uintptr(fd), "connection")
	raw, _ := f.SyscallConn() // fails only for a nil *os.File
	return &Conn{File: f, remote: remote, raw: raw}
}

// SetWriteDeadline sets the deadline for writes. SendFile checks it itself, since a call that
// never waits never reaches the deadline of the file.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return orClosed(c.File.SetWriteDeadline(t))
}

// SetDeadline sets the deadlines for reads and writes.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// orClosed replaces any error but os.ErrDeadlineExceeded by os.ErrClosed. Outside Read and
// Write, package os does not report the close of a file with that error.
func orClosed(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return os.ErrClosed
}

// RemoteAddr returns the client's address.
func (c *Conn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(c.remote)
}

// LocalAddr returns the address that the client has reached.
func (c *Conn) LocalAddr() net.Addr {
	var a netip.AddrPort
	_ = c.raw.Control(func(fd uintptr) { a = LocalAddr(int(fd)) })
	return net.TCPAddrFromAddrPort(a)
}

// CloseWrite shuts down the sending side.
func (c *Conn) CloseWrite() error {
	return c.control("shutdown", ShutdownWrite)
}

// Disconnect resets the connection at once. Close would wait for a system call that is
// sending.
func (c *Conn) Disconnect() error { return c.control("connect", disconnect) }

// SetReset makes Close reset the connection, which discards unsent data.
func (c *Conn) SetReset() error { return c.control("setsockopt", SetReset) }

// SetNoDelay sets TCP_NODELAY.
func (c *Conn) SetNoDelay(on bool) error {
	value := 0
	if on {
		value = 1
	}
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value)
	})
}

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

// SendFile sends the next n bytes of a file with sendfile(2), fewer if it ends before.
// It moves the file's offset past the bytes sent.
func (c *Conn) SendFile(src *os.File, n int64) (sent int64, err error) {
	from, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	ctrlErr := from.Control(func(in uintptr) {
		err = c.raw.Write(func(out uintptr) bool {
			for sent < n {
				var m int
				m, failed = sendPart(int(out), int(in), int(min(n-sent, maxSend)))
				switch {
				case m > 0:
					if sent += int64(m); sent < n && !c.until.IsZero() &&
						!time.Now().Before(c.until) {
						failed = os.ErrDeadlineExceeded
						return true
					}
				case errors.Is(failed, unix.EAGAIN):
					return false
				case !errors.Is(failed, unix.EINTR):
					return true // the end of the file, or an error
				}
			}
			return true
		})
	})
	if err = orClosed(err); err == nil && failed != nil && !errors.Is(failed, unix.EAGAIN) {
		err = os.NewSyscallError("sendfile", failed)
	}
	return sent, errors.Join(err, ctrlErr)
}

// sendPart calls SendFile, or returns errBusy if maxInKernel calls are running.
func sendPart(out, in, n int) (int, error) {
	defer inKernel.Add(-1)
	if inKernel.Add(1) > maxInKernel {
		return 0, errBusy
	}
	m, errno := SendFile(out, in, nil, n, false)
	return m, errnoErr(errno)
}

func errnoErr(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
