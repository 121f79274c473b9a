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

// A Conn is a connection that was accepted. It is in the hands of the Poller,
// or in those of the caller that got it from [Loop.Next]. Only after Block it is a
// net.Conn.
type Conn struct {
	// Remote is the client's address, and Accepted when the connection was
	// accepted.
	Remote   netip.AddrPort
	Accepted time.Time

	// Owner is the caller's own. A connection that has one is reported by Next
	// when it ends.
	Owner any

	// Data is what has come of the request, until the next call of Next. What
	// the caller cuts off does not come again.
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

// Send sends what the socket takes of the last part of a reply, and does not
// block. The end of it leaves with Linger.
func (c *Conn) Send(b []byte) (int, error) {
	n, errno := send(c.fd, b)
	if errno != 0 && errno != unix.EAGAIN {
		return n, os.NewSyscallError("send", errno)
	}
	return n, nil
}

// SendFD sends what the socket takes of the first n bytes of a file, and leaves its
// offset where it is. It blocks if the kernel has to wait for the disk; loaded says
// that it has not.
func (c *Conn) SendFD(file int, n int64, loaded bool) (sent int64, err error) {
	m, errno := sendFile(c.fd, file, new(int64), int(min(n, maxSend)), loaded)
	if errno != 0 && errno != unix.EAGAIN {
		err = os.NewSyscallError("sendfile", errno)
	}
	return int64(m), err
}

// Refuse sends what the socket takes of a last word, and closes.
func (c *Conn) Refuse(word []byte) {
	if c.raw != nil {
		_ = c.raw.Control(func(fd uintptr) { _, _ = send(int(fd), word); _ = shutdownWrite(int(fd)) })
	} else {
		_, _ = send(c.fd, word)
		_ = shutdownWrite(c.fd)
	}
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

// Read reads what has come, or waits for it.
func (c *Conn) Read(p []byte) (int, error) { return c.file.Read(p) }

// Write sends p.
func (c *Conn) Write(p []byte) (int, error) { return c.file.Write(p) }

// SetDeadline sets the time for all that is read and sent.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the time for what is read.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// SetWriteDeadline sets the time for what is sent, and notes it: the kernel
// takes a file as fast as a client does, without anybody waiting.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return orClosed(c.file.SetWriteDeadline(t))
}

// orClosed returns the error of a call that fails when the connection is closed, or its
// time is over: of the first package os does not say so, but where it reads and writes.
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

// CloseWrite tells the client that there is no more.
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

// Acknowledge lets the client know at once what has come from it. After a
// handshake many clients hold their request back until then (Nagle), and the
// kernel, which has nothing to send that could tell them, would wait for 40 ms.
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

// SetUnsent bounds how much the kernel takes of a reply beyond what is on its
// way, in bytes.
func (c *Conn) SetUnsent(n int) error {
	return c.control("setsockopt", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n)
	})
}

// control calls f with the socket, which nobody else closes meanwhile.
func (c *Conn) control(call string, f func(fd int) error) (err error) {
	if c.raw == nil {
		return os.NewSyscallError(call, f(c.fd))
	}
	ctrlErr := c.raw.Control(func(fd uintptr) { err = f(int(fd)) })
	return errors.Join(os.NewSyscallError(call, err), ctrlErr)
}

// maxSend is what one sendfile(2) may be asked for, in bytes: on the slowest
// disk that is worth the name, for no longer than a reply may stall.
const maxSend = 16 << 20

// maxInKernel is how many files the kernel may be reading to send at once: where
// the disk does not answer each takes a thread, of which Go allows 10,000.
const maxInKernel = 4096

var inKernel atomic.Int32

// SendFile sends the next n bytes of a file with sendfile(2), fewer if it ends before.
// Its offset is then behind what was sent.
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

// sendPart is sendFile, unless the kernel is at it too often already.
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
