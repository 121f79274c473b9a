package server

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// TestFastDrainHearsOut: parked connections are heard out when the server ends,
// and silent ones hold it up for a second at most.
func TestFastDrainHearsOut(t *testing.T) {
	for _, request := range []string{"/q\n", "/s\n", ""} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- (&Server{Handler: &atHand{body: []byte("slow /q")}}).Serve(ctx, l) }()
		parked, other := dialTCP(t, l.Addr().String()), dialTCP(t, l.Addr().String())
		_, _ = io.WriteString(other, "/q\n") // is accepted after the first
		if _, err := io.ReadAll(other); err != nil {
			t.Error(err)
		}
		cancel()
		_, _ = io.WriteString(parked, request)
		want := "slow " + request[:max(0, len(request)-1)]
		if request == "" {
			want = ""
		}
		if got, err := io.ReadAll(parked); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v", request, got, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve does not end")
		}
	}
}
