package server

import (
	"bytes"
	"net"
	"time"
)

// isHTTP reports whether a request line is one such as "GET /path HTTP/1.1".
// Without a version (HTTP/0.9) it is a selector.
func isHTTP(line []byte) bool {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	space := bytes.LastIndexByte(rest, ' ')
	if space < 0 || len(method) == 0 || len(bytes.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")) > 0 {
		return false
	}
	version, ok := bytes.CutPrefix(rest[space+1:], []byte("HTTP/"))
	return ok && len(version) > 0 && len(bytes.Trim(version, "0123456789.")) == 0
}

// httpConn is the connection that is handed on: it begins with what was read
// already, and what is written to it is a reply like any other.
type httpConn struct {
	net.Conn
	head []byte
	w    *reply
}

func (c *httpConn) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func (c *httpConn) Write(p []byte) (int, error) { return c.w.send(p) }

// SetDeadline sets that of reading: writing has that of a reply.
func (c *httpConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline does nothing.
func (c *httpConn) SetWriteDeadline(time.Time) error { return nil }
