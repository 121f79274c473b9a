package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stream is a net.Conn made of a socket that was accepted by a plain system
// call. What net.FileConn makes of it costs a second descriptor and eight
// more calls; this takes over the one there is.
type stream struct {
	*os.File
	raw     syscall.RawConn
	remote  netip.AddrPort
	crowded func() bool
	until   time.Time // for what is sent
}

// newStream takes over a socket that does not block.
func (r *run) newStream(fd int, remote netip.AddrPort) (*stream, error) {
	file := os.NewFile(uintptr(fd), "connection")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &stream{File: file, raw: raw, remote: remote, crowded: r.crowded}, nil
}

// SetWriteDeadline sets the time for what is sent, and notes it: the kernel
// takes a file as fast as a client does, without anybody waiting.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.until = t
	return s.File.SetWriteDeadline(t)
}

func (s *stream) late() bool { return !s.until.IsZero() && !time.Now().Before(s.until) }

// Disconnect resets the connection, even in the midst of a system call that
// sends: that keeps the socket from being closed. In the sandbox it is allowed
// as the end of a connection.
func (s *stream) Disconnect() error {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		nobody := unix.RawSockaddr{Family: unix.AF_UNSPEC}
		_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&nobody)), unsafe.Sizeof(nobody))
		if errno != 0 {
			failed = os.NewSyscallError("connect", errno)
		}
	})
	return errors.Join(err, failed)
}

func (s *stream) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(s.remote) }

// LocalAddr asks the kernel: it is seldom wanted.
func (s *stream) LocalAddr() net.Addr {
	var local netip.AddrPort
	_ = s.raw.Control(func(fd uintptr) { local = localOf(int(fd)) })
	return net.TCPAddrFromAddrPort(local)
}

// CloseWrite says to the client that there is no more.
func (s *stream) CloseWrite() error {
	var errno unix.Errno
	if err := s.raw.Control(func(fd uintptr) { errno = shutdownWrite(int(fd)) }); err != nil {
		return err
	}
	if errno != 0 {
		return os.NewSyscallError("shutdown", errno)
	}
	return nil
}

// SetNoDelay says whether small segments are sent at once.
func (s *stream) SetNoDelay(on bool) error {
	value := 0
	if on {
		value = 1
	}
	return s.setOption(unix.TCP_NODELAY, value)
}

func (s *stream) setOption(name, value int) error {
	var failed error
	err := s.raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, name, value) })
	return errors.Join(err, failed)
}

// SetLinger says how long the kernel goes on sending after a close, in seconds;
// 0 is a reset, which frees what was not sent.
func (s *stream) SetLinger(seconds int) error {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: int32(seconds)})
	})
	return errors.Join(err, failed)
}

// ReadFrom sends what r holds; the rest of a file goes by sendfile(2).
func (s *stream) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		return io.Copy(onlyWriter{s.File}, r)
	}
	src, ok := limited.R.(*os.File)
	if !ok {
		return io.Copy(onlyWriter{s.File}, r)
	}
	n, err := s.sendFile(src, limited.N)
	limited.N -= n
	return n, err
}

// maxSend is what one sendfile(2) may be asked for, in octets: on the slowest
// disk that is worth the name, for no longer than a reply may stall.
const maxSend = 16 << 20

// maxUnsent is how much the kernel takes of a reply beyond what is on its way,
// in octets, when it is crowded here. Left alone it takes 3 MB of somebody who
// never reads, ten thousand of which are more than it has. A bound for all would
// cost as much again as sending 1 MiB does.
const maxUnsent = 64 << 10

// freely is how many connections may stay without that bound; tests change it.
var freely = 64

// crowded says whether so many connections stay that each is to get less of the
// kernel's memory.
func (r *run) crowded() bool { return r.guard().gate.count() > freely }

// maxInKernel is how many files the kernel may be reading to send at once: where
// the disk does not answer each takes a thread, of which Go allows 10,000.
const maxInKernel = 4096

var inKernel atomic.Int32

var errDisk = &Error{Kind: Busy, Err: errors.New("too many files are being read already")}

// sendPart is sendfile(2), unless the kernel is at it too often already.
func sendPart(out, in, n int) (int, error) {
	defer inKernel.Add(-1)
	if inKernel.Add(1) > maxInKernel {
		return 0, errDisk
	}
	return unix.Sendfile(out, in, nil, n)
}

// sendFile sends the next n octets of a file, fewer if it ends before.
func (s *stream) sendFile(src *os.File, n int64) (sent int64, err error) {
	from, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	if n > maxUnsent && s.crowded() {
		_ = s.setOption(unix.TCP_NOTSENT_LOWAT, maxUnsent)
	}
	var failed error
	ctrlErr := from.Control(func(in uintptr) {
		err = s.raw.Write(func(out uintptr) bool {
			for sent < n {
				var m int
				m, failed = sendPart(int(out), int(in), int(min(n-sent, maxSend)))
				switch {
				case m > 0:
					if sent += int64(m); sent < n && s.late() {
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
	if err == nil && failed != nil && !errors.Is(failed, unix.EAGAIN) {
		err = os.NewSyscallError("sendfile", failed)
	}
	return sent, errors.Join(err, ctrlErr)
}
