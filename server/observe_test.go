package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
)

// TestKinds: each kind has a name of its own; the kind of an error is that of its first Error.
func TestKinds(t *testing.T) {
	words := map[string]bool{}
	for k := range Kinds {
		words[k.String()] = true
	}
	if len(words) != int(Kinds) || words[""] {
		t.Errorf("the words are %v", words)
	}
	for _, test := range []struct {
		err  error
		want Kind
	}{
		{nil, OK}, {errPanic, Internal}, {errTooLong, BadRequest}, {errors.New("x"), Internal},
		{&Error{}, Internal},
		{fmt.Errorf("x: %w", ErrNotFound), NotFound}, {errBusy, Busy}, {errStuck, Busy},
		{errTooFast, TooMany},
		{errors.Join(lost(io.ErrClosedPipe), ErrNotFound), Gone},
		{lost(&net.OpError{Op: "write", Err: syscall.EPIPE}), Gone},
		{lost(syscall.EIO), Internal}, {&Error{Kind: Busy, Err: ErrNotFound}, Busy},
	} {
		if got := (Served{Err: test.err}).Kind(); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
