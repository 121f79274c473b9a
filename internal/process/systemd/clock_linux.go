package systemd

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that systemd orders messages by.
func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
