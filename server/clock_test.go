package server

import (
	"net/netip"
	"testing"
	"time"
	"unsafe"
)

// jumped returns a time as the clock would show it after the wall clock was set: another wall
// time with the same monotonic reading (package time).
func jumped(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	wall := (*uint64)(unsafe.Pointer(&at)) // 1 bit: there is a reading; 33 bits: seconds; 30 bits: nanoseconds
	before := at
	*wall += uint64(int64(by/time.Second)) << 30
	if at.Sub(before) != 0 || at.Unix()-before.Unix() != int64(by/time.Second) {
		t.Fatal("package time keeps its times in another way now")
	}
	return at
}

// Each address has a bucket of tokens, and events are logged once a minute, also when the wall
// clock is set a day forward or back.
func TestClockJumps(t *testing.T) {
	a := netip.MustParseAddr("192.0.2.1")
	for name, by := range map[string]time.Duration{"not": 0, "on": 24 * time.Hour,
		"back": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			r := newRates(1, 2)
			taken := func(at time.Time) (n int) {
				for range 10 {
					if r.take(a, at) {
						n++
					}
				}
				return n
			}
			if n := taken(now); n != 2 {
				t.Errorf("%d tokens at first", n)
			}
			if n := taken(jumped(t, now, by)); n != 0 {
				t.Errorf("%d tokens for the jump", n)
			}
			if n := taken(jumped(t, now.Add(1500*time.Millisecond), by)); n != 1 {
				t.Errorf("%d tokens after one and a half seconds", n)
			}
			if n := taken(jumped(t, now.Add(time.Hour), by)); n != 2 {
				t.Errorf("%d tokens after an hour", n)
			}
			if !r.take(netip.MustParseAddr("192.0.2.2"), now) {
				t.Error("another address has no token")
			}
			var told onceAMinute
			if told.add(a, now) != 1 || told.add(a, jumped(t, now.Add(time.Second), by)) != 0 {
				t.Error("told twice in a minute")
			}
			if n := told.add(a, jumped(t, now.Add(61*time.Second), by)); n != 2 {
				t.Errorf("after a minute %d are told", n)
			}
		})
	}
}
