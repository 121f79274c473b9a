package e2e_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gophd/gophd/test/e2e/harness"
)

// Commands of the scripts that speak Gopher. In a SELECTOR, escapes are as in
// Go strings:
//
//	[!] gopher [-tls NAME] SELECTOR PATTERN  asks $ADDR until the reply matches, or
//	                             does not any more; over TLS, where the client names NAME
//	hold SELECTOR                asks, reads a little of the reply, and waits
//	finish BYTES                reads the rest of it; all must be so long
//	silent BYTES                sends them without a line end, and waits until
//	                             it is closed, without a reply
//	refused                      waits until nobody listens at $ADDR any more
//	answers DIR                  starts a server at $FAKE that answers a selector
//	                             with the file of that name, in which % escapes
//	                             stand for slashes; "silent" never, "endless"
//	                             without an end

func begin(addr, request string) (net.Conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c, request+"\r\n")
	return c, errors.Join(err, c.SetDeadline(time.Now().Add(harness.Timeout)))
}

func gopher(ts *testscript.TestScript, neg bool, args []string) {
	var conf *tls.Config
	if args[0] == "-tls" {
		conf = harness.AnyCert(unquote(ts, args[1]))
		args = args[2:]
	}
	request := unquote(ts, args[0])
	pattern := regexp.MustCompile("(?s)" + args[1])
	var reply []byte
	var err error
	if !eventually(func() bool {
		reply, err = harness.Exchange("", ts.Getenv("ADDR"), request, conf)
		return err == nil && pattern.Match(reply) != neg
	}) {
		ts.Fatalf("the reply to %q must match %q: %t; got %q, %v", request, args[1],
			!neg, reply, err)
	}
}

// held is a connection in the middle of a reply.
type held struct {
	conn net.Conn
	n    int64 // bytes that were read
}

func heldOf(ts *testscript.TestScript) *held { return ts.Value("held").(*held) }

func hold(ts *testscript.TestScript, _ bool, args []string) {
	h := heldOf(ts)
	var err error
	h.conn, err = begin(ts.Getenv("ADDR"), args[0])
	ts.Check(err)
	ts.Defer(func() { _ = h.conn.Close() })
	h.n, err = io.CopyN(io.Discard, h.conn, 1000)
	ts.Check(err)
}

func finish(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	h := heldOf(ts)
	n, err := io.Copy(io.Discard, h.conn)
	if h.n += n; err != nil || h.n != want {
		ts.Fatalf("the reply has %d bytes, %v, want %d", h.n, err, want)
	}
}

func silent(ts *testscript.TestScript, _ bool, args []string) {
	c, err := net.Dial("tcp", ts.Getenv("ADDR"))
	ts.Check(err)
	defer func() { _ = c.Close() }()
	ts.Check(c.SetDeadline(time.Now().Add(harness.Timeout)))
	_, err = io.WriteString(c, args[0])
	ts.Check(err)
	reply, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) || len(reply) > 0 { // a reset, if what it sends comes after the end
		ts.Fatalf("a client that asks for nothing got %q, %v", reply, err)
	}
}

func refused(ts *testscript.TestScript, _ bool, _ []string) {
	if !eventually(func() bool {
		c, err := net.Dial("tcp", ts.Getenv("ADDR"))
		if err == nil {
			_ = c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}) {
		ts.Fatalf("somebody still listens")
	}
}

func answers(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv("FAKE", l.Addr().String())
	ts.Defer(func() { _ = l.Close() })
	dir := ts.MkAbs(args[0])
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go fakeReply(c, dir)
		}
	}()
}

func fakeReply(c net.Conn, dir string) {
	defer func() { _ = c.Close() }()
	var line [256]byte
	n, _ := c.Read(line[:])
	switch sel := strings.TrimSpace(string(line[:n])); sel {
	case "silent":
		_, _ = c.Read(line[:]) // until the client is gone
	case "endless":
		for err := error(nil); err == nil; {
			_, err = c.Write(bytes.Repeat([]byte("more "), 1000))
		}
	default:
		reply, err := os.ReadFile(filepath.Join(dir, url.PathEscape(sel)))
		if err != nil {
			reply = []byte("3Not here\t\terror.host\t1\r\n.\r\n")
		}
		_, _ = c.Write(reply)
	}
}
