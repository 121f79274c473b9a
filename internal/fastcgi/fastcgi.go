// Package fastcgi is a client of programs behind a Unix socket: it implements the responder role
// of the FastCGI Specification 1.0, without input.
//
//	client := &fastcgi.Program{Socket: "/run/fcgiwrap.socket"}
//	ctx, cancel := context.WithCancel(ctx)
//	defer cancel()
//	reply, err := client.Do(ctx, params)
//	…read reply to its end…
//
// Each request has a connection of its own. A program may hang, flood, die or
// send invalid records: only its own request fails, and it uses no more memory than one record.
// The caller bounds concurrent requests. Uploads are not supported.
package fastcgi

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/gophd/gophd/diag"
)

// A Program sends requests to the program behind one socket. Its fields must not be
// changed once Do was called, which may be called concurrently.
type Program struct {
	// Socket is the path of a Unix socket.
	Socket string

	// Timeout is how long a request waits for the connection, and how long the program
	// may give nothing. If zero, 30 s.
	Timeout time.Duration

	// MaxTime ends a reply that takes so long in all. If zero, 10 min.
	MaxTime time.Duration

	// MaxReply ends a reply of more bytes. If zero, 64 MiB.
	MaxReply int64

	// Stderr, if not nil, gets each line that a program writes there, in a form
	// fit for a log; at most 100 lines of a request, each of at most 1,000 bytes.
	Stderr func(line string)
}

// Errors of the program. Other errors come from the socket.
var (
	ErrBusy  = errors.New("the program has too many requests already")
	ErrHangs = errors.New("the program gives no answer")
	errFlood = errors.New("the reply of the program is too long")
	ErrLong  = errors.New("the program takes too long")
)

func (c *Program) timeout() time.Duration {
	return cmp.Or(c.Timeout, 30*time.Second)
}

// Do sends a request with these parameters, as names and values. The reply ends when ctx
// does; the caller must end ctx when it reads no more of it.
func (c *Program) Do(ctx context.Context, params [][2]string) (_ *Stdout, err error) {
	defer func() {
		var late net.Error
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.As(err, &late) && late.Timeout(): // a program that does not take its request hangs
			err = fmt.Errorf("%w: %w", ErrHangs, err)
		}
		err = fmt.Errorf("asking %s: %w", c.Socket, err)
	}()
	d := net.Dialer{Timeout: c.timeout()}
	conn, err := d.DialContext(ctx, "unix", c.Socket)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, p := range params {
		all = appendParam(all, p[0], p[1])
	}
	b := appendRecord(nil, typeBegin, []byte{0, responder, 0, 0, 0, 0, 0, 0})
	b = appendStream(b, typeParams, all)
	b = appendStream(b, typeStdin, nil)
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	_ = conn.SetWriteDeadline(time.Now().Add(c.timeout()))
	if _, err := conn.Write(b); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &Stdout{
		client: c,
		ctx:    ctx,
		conn:   conn,
		in:     bufio.NewReaderSize(conn, 16<<10),
		until:  time.Now().Add(cmp.Or(c.MaxTime, 10*time.Minute)),
		left:   cmp.Or(c.MaxReply, 64<<20),
	}, nil
}

// A Stdout reads a program's standard output. It must not be used concurrently.
type Stdout struct {
	client *Program
	ctx    context.Context
	conn   net.Conn
	in     *bufio.Reader
	until  time.Time // when it has to be over
	left   int64     // bytes that it may still give

	content int // of this record that was not read yet
	padding int
	err     error
	exit    uint32

	lines int // of stderr
	line  []byte
}

// Read reads what the program writes. The error is io.EOF only if the program
// has ended its reply itself.
func (r *Stdout) Read(p []byte) (int, error) {
	for r.err == nil && r.content == 0 {
		if err := r.record(); err != nil {
			r.err = r.explain(err)
		}
	}
	if r.err != nil && len(r.line) > 0 {
		r.logLine()
	}
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	r.wait()
	n, err := r.in.Read(p[:min(len(p), r.content)])
	r.content -= n
	if r.left -= int64(n); r.left < 0 {
		n += int(r.left)
		r.err = errFlood
	} else if err != nil {
		r.err = r.explain(err)
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// explain turns the error of a closed connection or a deadline into its cause.
func (r *Stdout) explain(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case errors.Is(err, os.ErrDeadlineExceeded) && time.Now().After(r.until):
		return ErrLong
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrHangs
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("the program ended in the middle of its reply: %w (%w)",
			io.ErrUnexpectedEOF, err)
	}
	return err
}

// wait sets the time for the next read.
func (r *Stdout) wait() {
	until := time.Now().Add(r.client.timeout())
	if r.until.Before(until) {
		until = r.until
	}
	_ = r.conn.SetReadDeadline(until)
}

// record goes on to the next record of the reply. At its end it sets err to io.EOF.
func (r *Stdout) record() error {
	if time.Now().After(r.until) {
		return ErrLong
	}
	r.wait()
	if _, err := r.in.Discard(r.padding); err != nil {
		return err
	}
	var h head
	if err := binary.Read(r.in, binary.BigEndian, &h); err != nil {
		return err
	}
	if h.Version != version || h.ID != requestID {
		return fmt.Errorf("%w: version %d, request %d", errProtocol, h.Version, h.ID)
	}
	r.padding = int(h.Padding)
	var e end
	switch {
	case h.Type == typeStdout:
		r.content = int(h.Length)
		return nil
	case h.Type == typeStderr:
		return r.stderr(int(h.Length))
	case h.Type != typeEnd || int(h.Length) != binary.Size(e):
		return fmt.Errorf("%w: %d bytes of type %d", errProtocol, h.Length, h.Type)
	}
	if err := binary.Read(r.in, binary.BigEndian, &e); err != nil {
		return err
	}
	switch e.Status {
	case 0:
		r.exit = e.Exit
		r.err = io.EOF
		return nil
	case 2:
		return ErrBusy
	}
	return fmt.Errorf("%w: a request ended with status %d", errProtocol, e.Status)
}

// Bounds of a program's standard error in the log.
const (
	maxErrorLines = 100
	maxErrorLine  = 1000
)

// stderr passes the whole lines of a record to the log, and keeps the rest for the
// next record.
func (r *Stdout) stderr(n int) error {
	if r.left -= int64(n); r.left < 0 {
		return errFlood
	}
	buf := make([]byte, n)
	if _, err := io.ReadFull(r.in, buf); err != nil {
		return err
	}
	for len(buf) > 0 {
		line, rest, ended := bytes.Cut(buf, []byte("\n"))
		r.line = append(r.line, line[:min(len(line), maxErrorLine-len(r.line))]...)
		if ended {
			r.logLine()
		}
		buf = rest
	}
	return nil
}

// logLine logs the current line of stderr.
func (r *Stdout) logLine() {
	line := diag.Printable(string(bytes.TrimRight(r.line, "\r")))
	r.line = r.line[:0]
	if r.lines++; r.client.Stderr != nil && line != "" && r.lines <= maxErrorLines {
		r.client.Stderr(line)
	}
}

// Exit is the program's exit status, which is known at the end of its reply.
func (r *Stdout) Exit() int { return int(r.exit) }
