package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Notifier reports the state of the service to systemd (sd_notify(3)). All methods of a
// nil Notifier do nothing.
//
// The daemon package of go-systemd opens the socket for each message; a process
// that has put itself into a sandbox cannot do that any more. So this one keeps
// it open.
type Notifier struct {
	conn     net.Conn
	watchdog time.Duration // 0: systemd expects no signs of life
}

// NewNotifier connects to the socket that NOTIFY_SOCKET names. It returns nil
// if there is none. It removes its variables from the environment.
func NewNotifier() (*Notifier, error) {
	name := os.Getenv("NOTIFY_SOCKET")
	watchdog, err := watchdogTime()
	for _, v := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		err = errors.Join(err, os.Unsetenv(v))
	}
	if name == "" || err != nil {
		return nil, err
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("connecting to NOTIFY_SOCKET: %w", err)
	}
	return &Notifier{conn, watchdog}, nil
}

// watchdogTime is how long systemd waits for a sign of life, 0 if it does not
// (sd_watchdog_enabled(3)).
func watchdogTime() (time.Duration, error) {
	usec := os.Getenv("WATCHDOG_USEC")
	if pid := os.Getenv("WATCHDOG_PID"); usec == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	n, err := strconv.ParseUint(usec, 10, 52)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("WATCHDOG_USEC %q is not a time", usec)
	}
	return time.Duration(n) * time.Microsecond, nil
}

// Ready reports that the service serves, for the first time or again after Reloading.
func (n *Notifier) Ready() { n.send("READY=1") }

// Reloading reports that everything is being read again; Ready ends it.
func (n *Notifier) Reloading() {
	n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10))
}

// Stopping reports that the service ends.
func (n *Notifier) Stopping() { n.send("STOPPING=1") }

// send drops messages that systemd does not accept: a service must not fail because its
// manager is not there.
func (n *Notifier) send(state string) {
	if n != nil {
		_, _ = n.conn.Write([]byte(state))
	}
}

// Watch sends a sign of life each half of the time that systemd waits for one, as
// long as alive returns true, until ctx ends. If systemd does not wait for any, it
// returns at once. Alive gets a context that ends when the sign is due.
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
