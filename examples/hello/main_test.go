package main

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/gophd/gophd/server"
)

func TestHello(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- (&server.Server{Handler: server.HandlerFunc(hello)}).Serve(ctx, l) }()

	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "\r\n"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	_ = c.Close()
	if want := "iHello, 127.0.0.1\t\terror.host\t1\r\n.\r\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
