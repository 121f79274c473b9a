package systemd

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Notifier reports the state of the service to systemd (sd_notify(3)). All methods of a
// nil Notifier do nothing.
//
// Unlike package daemon of go-systemd, it keeps the socket open, since a process in the
// sandbox cannot open another.
type Notifier struct {
	conn     net.Conn
	watchdog time.Duration // 0: systemd has no watchdog for the service
}

// NewNotifier connects to the socket named by NOTIFY_SOCKET, and returns nil if that is unset.
// It removes the variables from the environment.
func NewNotifier() (*Notifier, error) {
	name := os.Getenv("NOTIFY_SOCKET")
	usec, err := strconv.ParseUint(os.Getenv("WATCHDOG_USEC"), 10, 52)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		usec = 0
	}
	for _, v := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(v)
	}
	if name == "" {
		return nil, nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("connecting to NOTIFY_SOCKET: %w", err)
	}
	return &Notifier{conn, time.Duration(usec) * time.Microsecond}, nil
}

// Ready reports that the service is ready, after the start or a reload.
func (n *Notifier) Ready() { n.send("READY=1") }

// Reloading reports a reload, until Ready is called.
func (n *Notifier) Reloading() {
	n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10))
}

// Stopping reports that the service ends.
func (n *Notifier) Stopping() { n.send("STOPPING=1") }

// send ignores errors: the service must not fail because its manager is gone.
func (n *Notifier) send(state string) {
	if n != nil {
		_, _ = n.conn.Write([]byte(state))
	}
}

// Watch pings the watchdog twice per timeout, as long as alive returns true, until ctx ends.
// Without a watchdog it returns at once. The context of alive ends when the ping is due.
func (n *Notifier) Watch(ctx context.Context, alive func(context.Context) bool) {
	if n == nil || n.watchdog == 0 {
		return
	}
	every := n.watchdog / 2
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		due, cancel := context.WithTimeout(ctx, every)
		if alive(due) {
			n.send("WATCHDOG=1")
		}
		cancel()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
