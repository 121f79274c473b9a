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

// bufferSize is the size of a reply's buffer in bytes. A reply that fits is sent with one
// system call.
const bufferSize = 16 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// reply is the reply to one request, and its ResponseWriter.
type reply struct {
	run     *run
	conn    *conn
	to      net.Conn // conn.stream()
	req     *Request
	cancel  context.CancelFunc // of the request's context
	stopCut func() bool        // cancels the cut that is scheduled for the hard end

	array *[bufferSize]byte // backs buf; nil before the first byte
	buf   []byte            // not sent yet
	menu  bool              // the reply is a menu
	n     atomic.Int64      // bytes sent
	err   error             // the first error of the connection

	logged atomic.Bool // the requests of the HTTP connection were logged
}

// newReply begins the reply to a request. From here on StallTimeout and the hard end bound
// it, no longer RequestTimeout.
func (r *run) newReply(c *conn, req *Request) *reply {
	c.slot.setState(writing)
	c.socket.stall = r.stallTimeout()
	if bounded, ok := c.Conn.(interface{ SetUnsent(n int) error }); ok && r.isBusy() {
		_ = bounded.SetUnsent(maxUnsent)
	}
	w := &reply{run: r, conn: c, to: c.stream(), req: req}
	req.ctx, w.cancel = context.WithCancel(r.hard)
	c.cancel.Store(&w.cancel)
	w.stopCut = context.AfterFunc(r.hard, w.cut)
	return w
}

func (w *reply) cut() { w.conn.cut() }

func (w *reply) started() bool { return w.n.Load() > 0 || len(w.buf) > 0 }

// Write adds p to the reply.
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

// A FileSender sends files. The ResponseWriter that the server passes to a Handler is one;
// it uses sendfile(2) where possible.
type FileSender interface {
	// SendFile sends the next n bytes of f and returns how many were sent. It advances
	// the offset of f by exactly these. If the file ends early, the error is ErrShort.
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

// copyFile is SendFile for a connection that cannot send files. It hides the ReadFrom method
// of the connection, which reads ahead where the system has no sendfile(2): when a write
// deadline passes, it loses the bytes that it has read but not sent.
func (w *reply) copyFile(f *os.File, n int64) (sent int64, err error) {
	chunk := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(chunk)
	sent, err = io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(f, n), chunk[:])
	return sent, cmp.Or(err, w.flush())
}

// finish ends the reply. It adds the last line of a menu. If the request failed before
// anything was written, it writes the error, except for robots.txt, which gets an empty
// reply. It returns an error if the reply is incomplete.
func (w *reply) finish(err error) error {
	switch {
	case err == nil && w.menu:
		w.buf = append(w.buffer(), menu.End...)
	case err != nil && !w.started() && (!w.req.robots || KindOf(err) == NotFound):
		_, _ = w.Write(w.run.errorBody(err))
		err = nil
	}
	return cmp.Or(err, w.flush())
}

// release returns the buffer to the pool. The reply must not be used afterwards.
func (w *reply) release() {
	w.stopCut()
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

// sending calls f, which writes to the connection, unless the reply has timed out.
func (w *reply) sending(f func() error) error {
	if !w.conn.socket.setSending(true) {
		return errStuck
	}
	defer w.conn.socket.setSending(false)
	return f()
}

// lost returns an [Error] of the kind Gone if err means that the connection is lost, and err
// otherwise.
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
