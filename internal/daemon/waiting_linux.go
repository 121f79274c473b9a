package daemon

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/server"
)

// waiting returns the number of connections in a listener's queue (in TCP_INFO unacked), or 0 if
// it is unknown.
func waiting(l net.Listener) (n int) {
	if shared, ok := l.(server.SharedListener); ok {
		l = shared.Listener
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return 0
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP,
			unix.TCP_INFO); err == nil {
			n = int(info.Unacked)
		}
	})
	return n
}
