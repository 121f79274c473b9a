package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gophd/gophd/menu"
)

// bufferSize is how many bytes of a reply are buffered. A reply that fits
// leaves in one segment train and one system call.
const bufferSize = 16 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// reply is the reply to one request, and its ResponseWriter.
type reply struct {
	run    *run
	conn   *conn
	to     net.Conn // the conn's stream
	req    *Request
	cancel context.CancelFunc // of the request's context
	spared func() bool        // lets the end of the drain not cut the connection off

	array *[bufferSize]byte // buf's, from buffers; nil before the first byte
	buf   []byte
	menu  bool
	n     atomic.Int64 // bytes sent
	err   error        // the first failure of the connection

	logged atomic.Bool // each of its requests was
}

// newReply makes the reply to a request on a connection. From here on only the end of
// the drain cuts the connection off.
func (r *run) newReply(c *conn, req *Request) *reply {
	c.slot.setState(writing)
	c.socket.stall = r.stallTimeout()
	if bounded, ok := c.Conn.(interface{ SetUnsent(n int) error }); ok && r.isBusy() {
		_ = bounded.SetUnsent(maxUnsent)
	}
	w := &reply{run: r, conn: c, to: c.stream(), req: req}
	req.ctx, w.cancel = context.WithCancel(r.hard)
	c.cancel.Store(&w.cancel)
	w.spared = context.AfterFunc(r.hard, w.cut)
	return w
}

func (w *reply) cut() { w.conn.cut() }

func (w *reply) started() bool { return w.n.Load() > 0 || len(w.buf) > 0 }

// Write sends p as it is.
func (w *reply) Write(p []byte) (int, error) {
	if len(w.buf)+len(p) > bufferSize {
		if err := w.flush(); err != nil {
			return 0, err
		}
		if len(p) >= bufferSize {
			return w.send(p)
		}
	}
	w.buf = append(w.buffer(), p...)
	return len(p), nil
}

// WriteItem adds an item to the menu.
func (w *reply) WriteItem(it menu.Item) error {
	w.menu = true
	if it.Host == "" && it.Type != menu.TypeInfo && it.Type != menu.TypeError {
		it.Host, it.Port = w.req.Host, w.req.Port
	}
	w.buf = it.AppendTo(w.buffer())
	if len(w.buf) > bufferSize/2 {
		return w.flush()
	}
	return w.err
}

// A FileSender sends files. The server's own ResponseWriter is one, and does it with
// sendfile(2) where it can.
type FileSender interface {
	// SendFile sends the next n bytes of f and returns how many were sent. It moves the
	// offset of f past them: it reads no byte that it does not send. If the file ends
	// early, the error is ErrShort.
	SendFile(f *os.File, n int64) (sent int64, err error)
}

// SendFile sends the next n bytes of f.
func (w *reply) SendFile(f *os.File, n int64) (sent int64, err error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	err = w.sending(func() error {
		files, ok := w.to.(FileSender)
		if !ok {
			return errors.ErrUnsupported
		}
		sent, err = files.SendFile(f, n)
		return err
	})
	w.n.Add(sent)
	if errors.Is(err, errors.ErrUnsupported) { // nothing was sent
		sent, err = w.copyFile(f, n)
	} else {
		w.err = lost(err)
		err = w.err
	}
	if err == nil && sent < n {
		err = ErrShort
	}
	return sent, err
}

// copyFile is SendFile for a connection that cannot send files. It hides the connection's
// own ReadFrom, which reads ahead where the system has no sendfile(2), and would lose the
// bytes that it has read and not sent when a step of the stall time ends.
func (w *reply) copyFile(f *os.File, n int64) (sent int64, err error) {
	chunk := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(chunk)
	sent, err = io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(f, n), chunk[:])
	return sent, cmp.Or(err, w.flush())
}

// finish ends the reply: a menu gets its last line, and a request that failed before
// anything was written an error body, but one for robots.txt nothing. It returns why the
// reply is not whole, nil if it is.
func (w *reply) finish(err error) error {
	switch {
	case err == nil && w.menu:
		w.buf = append(w.buffer(), menu.End...)
	case err != nil && !w.started() && (!w.req.robots || KindOf(err) == NotFound):
		_, _ = w.Write(w.run.errorBody(err))
		err = nil
	}
	return cmp.Or(err, w.flush()) // what was written cannot be taken back
}

// release puts the buffer back, when the connection has ended. The reply must not be used
// after it.
func (w *reply) release() {
	w.spared()
	w.cancel()
	if w.array != nil {
		buffers.Put(w.array)
		w.array, w.buf = nil, nil
	}
}

func (w *reply) buffer() []byte {
	if w.array == nil {
		w.array = buffers.Get().(*[bufferSize]byte)
		w.buf = w.array[:0]
	}
	return w.buf
}

func (w *reply) flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, _ = w.send(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

func (w *reply) send(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	w.err = lost(w.sending(func() error {
		n, err = w.to.Write(p)
		return err
	}))
	w.n.Add(int64(n))
	return n, w.err
}

// sending calls f, which sends, unless the reply was given up.
func (w *reply) sending(f func() error) error {
	if !w.conn.socket.send(true) {
		return errStuck
	}
	defer w.conn.socket.send(false)
	return f()
}

// lost returns an [Error] of the kind Gone if err means that the client has left, and
// err itself otherwise.
func lost(err error) error {
	for _, gone := range []error{
		net.ErrClosed, os.ErrClosed, os.ErrDeadlineExceeded, io.ErrClosedPipe,
		syscall.EPIPE, syscall.ECONNRESET, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	} {
		if errors.Is(err, gone) {
			return &Error{Kind: Gone, Err: err}
		}
	}
	return err
}
