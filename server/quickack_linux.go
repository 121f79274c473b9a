package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// acknowledge lets the client know at once what has come from it. After a
// handshake many clients hold their request back until then (Nagle), and the
// kernel has nothing to send that could tell them: it would wait for 40 ms.
func acknowledge(c net.Conn) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := s.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) })
	}
}
