// Package poll has the system calls on sockets of package server's event loop, which never
// block and bypass the scheduler, and a net.Conn of such a socket. It is the only package of
// the server with unsafe code, and exists on Linux.
package poll

import "errors"

// ErrBusy reports that a file is not sent because the kernel is reading too many.
var ErrBusy = errors.New("too many files are being read already")
