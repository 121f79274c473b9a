package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// start serves a directory of one text and one annotation.
func start(t *testing.T) (ask func(request string) string) {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"about.txt": "About.\n",
		".robots": "Disallow: /about.txt\n"})
	tree, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	treetest.Run(t, tree.Run)
	addr := treetest.Serve(t, (&server.Server{Handler: handler(tree)}).Serve)
	return func(request string) string {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		treetest.Must(t, err)
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, request+"\r\n")
		treetest.Must(t, err)
		reply, err := io.ReadAll(c)
		treetest.Must(t, err)
		return string(reply)
	}
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
	if !strings.HasPrefix(got, "7Sign the guest book\t/guests/\t127.0.0.1\t") ||
		!strings.HasSuffix(got, "\r\niAda\t\terror.host\t1\r\n.\r\n") {
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
