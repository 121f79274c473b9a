package ask_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/ask"
)

// pipe is a Dialer that reaches serve.
func pipe(serve func(c net.Conn)) ask.Dialer {
	return ask.Dialer{Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			serve(server)
			_ = server.Close()
		}()
		return client, nil
	}}
}

func echo(c net.Conn) {
	line, _ := bufio.NewReader(c).ReadString('\n')
	_, _ = io.WriteString(c, "you sent "+line)
}

func TestAll(t *testing.T) {
	got, err := pipe(echo).All(t.Context(), "h:70", false, "/x\r\n", 100)
	if err != nil || string(got) != "you sent /x\r\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReplyTooLarge: a reply is read to its bound, and its error stays.
func TestReplyTooLarge(t *testing.T) {
	r, err := pipe(func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, strings.Repeat("x", 1000))
	}).Send(t.Context(), "h:70", false, "\r\n", 100)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	got, err := io.ReadAll(r)
	if len(got) != 100 || !errors.Is(err, ask.ErrTooLarge) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, ask.ErrTooLarge) {
		t.Error(err)
	}
}

// TestContextEndsReply: a server that never answers is left when the context ends.
func TestContextEndsReply(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	defer close(ended)
	r, err := pipe(func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		<-ended
	}).Send(ctx, "h:70", false, "\r\n", 100)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	cancel()
	for range 2 {
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	}
}

// TestIsError has the errors of servers, and texts that resemble them.
func TestIsError(t *testing.T) {
	for reply, want := range map[string]string{
		"3Not found\t\terror.host\t1\r\n.\r\n":                                              "Not found",
		"3Not found\t\terror.host\t1\r\n":                                                   "Not found",
		"3Sorry\tErr\tlocalhost\t70\n.\n\n":                                                 "Sorry",
		"3No such file\tfake\tfake\t0\r\n.\r\n":                                             "No such file",
		"3Gone\tTITLE\tnull.host\t1\r\ni---\t\tnull.host\t1\r\niServed by x\t\t\t\r\n.\r\n": "Gone",
		"3 apples\t5\n":                     "",
		"3 apples\t5\n4 pears\t6\n":         "",
		"3 a\tb\tc\t7\n4 d\te\tf\t8\n":      "",
		"3 a\tb\tc\td\n":                    "",
		"3Gone\t\th\t1\nis what it said.\n": "",
		"3 apples":                          "",
		"3":                                 "",
		"":                                  "",
		"iHello\t\t\t\r\n.\r\n":             "",
		"3Not here\t\th\t1\r\n1Menu\t/\th\t70\r\n.\r\n": "",
	} {
		if got, is := ask.IsError([]byte(reply)); got != want || is != (want != "") {
			t.Errorf("%q: %q, %t", reply, got, is)
		}
	}
}

func TestIsBusy(t *testing.T) {
	for message, want := range map[string]bool{
		"Server busy": true, "Too many requests": true, "Try again in 5 s": true,
		"Rate limit": true, "Temporary failure": true, "Not found": false,
		"'/x' doesn't exist!": false,
	} {
		if ask.IsBusy(message) != want {
			t.Error(message)
		}
	}
}
