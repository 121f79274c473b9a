// Package poll provides the system calls of package server's event loop, on Linux. They
// never block and bypass the Go scheduler. Conn makes a net.Conn from such a socket. Only
// this package of the server uses unsafe.
package poll

import "errors"

// errBusy reports that too many calls of sendfile(2) are running.
var errBusy = errors.New("too many files are being read already")
