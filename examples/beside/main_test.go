package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// start serves a directory of one text and one annotation.
func start(t *testing.T) (ask func(request string) string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"about.txt": "About.\n", ".robots": "Disallow: /about.txt\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- tree.Run(ctx) }()
	go func() { ended <- (&server.Server{Handler: handler(tree)}).Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	return func(request string) string { return fetch(t, l.Addr().String(), request) }
}

func fetch(t *testing.T, addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, request+"\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

func TestTreeAndGuestBook(t *testing.T) {
	ask := start(t)
	if got := ask("/about.txt"); got != "About.\n" {
		t.Errorf("the tree's text: got %q", got)
	}
	if got := ask("robots.txt"); !strings.Contains(got, "\nDisallow: /about.txt\n") {
		t.Errorf("robots.txt does not hold the rule: got %q", got)
	}
	ask("/guests/\tAda")
	got := ask("/guests")
	if !strings.HasPrefix(got, "7Sign the guest book\t/guests/\t127.0.0.1\t") || !strings.HasSuffix(got, "\r\niAda\t\terror.host\t1\r\n.\r\n") {
		t.Errorf("the guest book: got %q", got)
	}
}

func TestGuestBookIsBounded(t *testing.T) {
	var g guestBook
	for i := range maxGuests + 5 {
		g.sign(fmt.Sprint(i))
	}
	if names := g.sign(""); len(names) != maxGuests || names[0] != "5" {
		t.Errorf("got %d names from %s on, want %d from 5 on", len(names), names[0], maxGuests)
	}
}
