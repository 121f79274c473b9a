// Package systemd connects a daemon with systemd: it accepts the sockets that systemd
// passes ([Listeners]) and reports the state of the service ([Notifier]). Under another
// manager, or none, it does nothing.
//
// Do not use it to control services: it speaks for this process only.
package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// A Socket is a listener with its FileDescriptorName (systemd.socket(5)).
type Socket struct {
	net.Listener
	Name string
}

// Listeners returns the listening sockets that systemd has passed (sd_listen_fds(3)), in
// order. After an error some may be open. It removes LISTEN_FDS and LISTEN_PID from the environment, so a second call returns
// none.
func Listeners() ([]Socket, error) {
	var all []Socket
	for _, f := range activation.Files(true) {
		l, err := listener(f)
		_ = f.Close() // the listener has its own descriptor
		if err != nil {
			return nil, fmt.Errorf("taking over socket %q: %w", f.Name(), err)
		}
		all = append(all, Socket{l, f.Name()})
	}
	return all, nil
}

// ErrAccepted reports a socket of a unit with Accept=yes.
var ErrAccepted = errors.New("it is a connection, not a listener")

func listener(f *os.File) (net.Listener, error) {
	// A socket that does not listen is a connection, of a unit with Accept=yes.
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var accepts int
	var failed error
	err = raw.Control(func(fd uintptr) {
		accepts, failed = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	})
	if err = errors.Join(err, os.NewSyscallError("getsockopt", failed)); err != nil {
		return nil, err
	}
	if accepts == 0 {
		return nil, ErrAccepted
	}

	l, err := net.FileListener(f)
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // systemd owns the name
	}
	return l, err
}
