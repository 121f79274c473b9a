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

// A Conn is an accepted connection. Either the Poller holds it, or the caller that got
// it from [Loop.Next]. It works as a net.Conn only after Block.
type Conn struct {
	// Remote is the client's address, and Accepted when the connection was
	// accepted.
	Remote   netip.AddrPort
	Accepted time.Time

	// Owner is the caller's own. A connection that has one is reported by Next
	// when it ends.
	Owner any

	// Data holds the bytes of the request so far, and is valid until the next call of
	// Next. Bytes that the caller cuts off are not returned again.
	Data []byte

	// Ended reports whether the client has shut down its sending side.
	Ended bool

	// Err is why the connection is Closed or TimedOut.
	Err error

	poller *Poller
	fd     int
	file   *os.File // after Block
	raw    syscall.RawConn
	until  time.Time // for what is sent

	// Guarded by the Poller's mutex.
	state      state
	held       bool // by the Poller: it may be read, evicted, or time out
	answered   bool // is closing or lingering
	evicted    bool // while it was not held
	late       bool // the same, at its deadline
	registered bool // with epoll; its events are off while it is not held
	deadline   time.Time
	queue      *queue
	prev, next *Conn
	head       []byte // of its request
}

type state uint8

const (
	reading   state = iota // waits for its request
	closing                // was answered a moment ago
	lingering              // was answered: what it sends is thrown away
	blocking               // has a goroutine
	closed
)

// Answered reports whether the connection had its reply.
func (c *Conn) Answered() bool { return c.answered }

// Send sends as much of the last part of a reply as the socket accepts, and does not
// block. Its end leaves with Linger.
func (c *Conn) Send(b []byte) (int, error) {
	n, errno := send(c.fd, b)
	if errno != 0 && errno != unix.EAGAIN {
		return n, os.NewSyscallError("send", errno)
	}
	return n, nil
}

// SendFD sends as many of the first n bytes of a file as the socket accepts, and does
// not move its offset. It blocks while the kernel waits for the disk; if loaded is
// true, the kernel must have the bytes in memory.
func (c *Conn) SendFD(file int, n int64, loaded bool) (sent int64, err error) {
	m, errno := sendFile(c.fd, file, new(int64), int(min(n, maxSend)), loaded)
	if errno != 0 && errno != unix.EAGAIN {
		err = os.NewSyscallError("sendfile", errno)
	}
	return int64(m), err
}

// Refuse sends word with one write, and closes the connection: with a reset, if the
// socket does not accept all of it.
func (c *Conn) Refuse(word []byte) {
	_ = c.control("send", func(fd int) error {
		if n, _ := send(fd, word); n < len(word) {
			return c.SetLinger(0)
		}
		return errnoErr(shutdownWrite(fd))
	})
	_ = c.Close()
}

// Block makes the connection a net.Conn, whose calls wait. What net.FileConn
// makes of a socket costs a second descriptor and eight more calls; this uses
// the one there is. It fails if the connection was evicted.
func (c *Conn) Block() error {
	c.file = os.NewFile(uintptr(c.fd), "connection")
	var err error
	if c.raw, err = c.file.SyscallConn(); err != nil {
		return err
	}
	if !c.poller.release(c, blocking) {
		_ = c.file.Close()
		return os.ErrClosed
	}
	return nil
}

func (c *Conn) close() error {
	if c.file != nil {
		return c.file.Close()
	}
	closeFD(c.fd)
	return nil
}

// Read reads available bytes, or waits for some.
func (c *Conn) Read(p []byte) (int, error) { return c.file.Read(p) }

// Write sends p.
func (c *Conn) Write(p []byte) (int, error) { return c.file.Write(p) }

// SetDeadline sets the deadlines for reading and for sending.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline for reading.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// SetWriteDeadline sets the deadline for sending. SendFile checks it, too: while the
// client reads as fast as the kernel sends, no call waits and fails.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return orClosed(c.file.SetWriteDeadline(t))
}

// orClosed returns os.ErrClosed for any error but os.ErrDeadlineExceeded: outside Read
// and Write, package os does not say that the connection is closed.
func orClosed(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return os.ErrClosed
}

// RemoteAddr returns the client's address.
func (c *Conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.Remote) }

// LocalAddr asks the kernel: it is seldom wanted.
func (c *Conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.LocalAddrPort()) }

// CloseWrite shuts down the sending side: the client reads the end of the reply.
func (c *Conn) CloseWrite() error {
	if c.raw == nil {
		return errnoErr(shutdownWrite(c.fd))
	}
	return c.control("shutdown", func(fd int) error { return errnoErr(shutdownWrite(fd)) })
}

// Disconnect resets the connection, even in the midst of a system call that
// sends, which keeps the socket from being closed.
func (c *Conn) Disconnect() error {
	return c.control("connect", func(fd int) error { return errnoErr(disconnect(fd)) })
}

// SetNoDelay sets whether small segments are sent at once.
func (c *Conn) SetNoDelay(on bool) error {
	value := 0
	if on {
		value = 1
	}
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value)
	})
}

// Acknowledge acknowledges received bytes at once. After a handshake many clients hold
// their request back until then (Nagle), and the kernel, which has no data to send
// along, would delay the acknowledgment for 40 ms.
func (c *Conn) Acknowledge() error {
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
}

// SetLinger sets how long the kernel goes on sending after a close, in seconds;
// 0 is a reset, which frees what was not sent.
func (c *Conn) SetLinger(seconds int) error {
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: int32(seconds)})
	})
}

// SetUnsent bounds how many unsent bytes of a reply the kernel buffers.
func (c *Conn) SetUnsent(n int) error {
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n)
	})
}

// control calls f with the socket, which stays open until f returns.
func (c *Conn) control(call string, f func(fd int) error) (err error) {
	if c.raw == nil {
		return os.NewSyscallError(call, f(c.fd))
	}
	ctrlErr := c.raw.Control(func(fd uintptr) { err = f(int(fd)) })
	return errors.Join(os.NewSyscallError(call, err), ctrlErr)
}

// maxSend is the most that one sendfile(2) sends, in bytes: even a very slow disk reads
// so much in less time than a reply may stall.
const maxSend = 16 << 20

// maxInKernel is how many calls of sendfile(2) may run at once: if the disk does not
// answer, each holds a thread, and Go allows 10,000.
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
					if sent += int64(m); sent < n && c.overdue() {
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

func (c *Conn) overdue() bool { return !c.until.IsZero() && !time.Now().Before(c.until) }

// LocalAddrPort returns the address that the client has reached.
func (c *Conn) LocalAddrPort() (a netip.AddrPort) {
	if c.raw == nil {
		return localAddr(c.fd)
	}
	_ = c.raw.Control(func(fd uintptr) { a = localAddr(int(fd)) })
	return a
}

// Close closes the connection.
func (c *Conn) Close() error {
	if !c.poller.release(c, closed) {
		return os.ErrClosed
	}
	return c.close()
}

// SyscallConn returns the socket.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// sendPart is sendFile, but returns ErrBusy if maxInKernel calls are running already.
func sendPart(out, in, n int) (int, error) {
	defer inKernel.Add(-1)
	if inKernel.Add(1) > maxInKernel {
		return 0, ErrBusy
	}
	m, errno := sendFile(out, in, nil, n, false)
	return m, errnoErr(errno)
}

func errnoErr(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
