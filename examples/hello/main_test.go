package main

import (
	"io"
	"net"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
)

func TestHello(t *testing.T) {
	c, err := net.Dial("tcp",
		treetest.Serve(t, (&server.Server{Handler: server.HandlerFunc(hello)}).Serve))
	treetest.Must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "\r\n")
	treetest.Must(t, err)
	got, err := io.ReadAll(c)
	if want := "iHello, 127.0.0.1\t\terror.host\t1\r\n.\r\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
