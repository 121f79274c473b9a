package server

import (
	"errors"
	"io"
	"net/netip"
	"testing"
)

func TestOutcomeWords(t *testing.T) {
	words := map[string]bool{}
	for o := range Outcomes {
		words[o.String()] = true
	}
	if len(words) != int(Outcomes) || words[""] {
		t.Errorf("the words are %v", words)
	}
	for err, want := range map[error]Outcome{errPanic: Failed, errTooLong: BadRequest, io.ErrClosedPipe: Gone, errors.New("x"): Failed} {
		if got := (Served{Err: err}).Outcome(); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// TestShowIP: addresses are logged as the server is told to.
func TestShowIP(t *testing.T) {
	a := netip.MustParseAddr("192.0.2.1")
	if got := (&Server{}).show(a); got != "192.0.2.1" {
		t.Errorf("in full: %q", got)
	}
	if got := (&Server{ShowIP: func(netip.Addr) string { return "x" }}).show(a); got != "x" {
		t.Errorf("shown as x: %q", got)
	}
	if got := (&Server{}).show(netip.Addr{}); got != "-" {
		t.Errorf("unknown: %q", got)
	}
}
