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
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		now := time.Now()
		r := newRates(1, 2)
		for _, step := range []struct {
			at   time.Time
			want int
		}{
			{now, 2},
			{jumped(t, now, by), 0},
			{jumped(t, now.Add(1500*time.Millisecond), by), 1},
			{jumped(t, now.Add(time.Hour), by), 2},
		} {
			n := 0
			for n < 10 && r.take(a, step.at) {
				n++
			}
			if n != step.want {
				t.Errorf("clock set by %v: %d tokens at %v, want %d", by, n, step.at, step.want)
			}
		}
		if !r.take(netip.MustParseAddr("192.0.2.2"), now) {
			t.Error("another address has no token")
		}
		for range 3 {
			if !r.take(netip.Addr{}, now) {
				t.Error("a client without an address is limited")
			}
		}
		var told onceAMinute
		if told.add(a, now) != 1 || told.add(a, jumped(t, now.Add(time.Second), by)) != 0 {
			t.Error("told twice in a minute")
		}
		if n := told.add(a, jumped(t, now.Add(61*time.Second), by)); n != 2 {
			t.Errorf("after a minute %d are told", n)
		}
	}
}
