package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

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
	c.stall = r.stallTimeout()
	if bounded, ok := c.Conn.(interface{ SetUnsent(n int) error }); ok && r.isBusy() {
		_ = bounded.SetUnsent(maxUnsent)
	}
	w := &reply{run: r, conn: c, to: c.stream(), req: req}
	req.ctx, w.cancel = context.WithCancel(r.hard)
	c.cancel.Store(&w.cancel)
	w.stopCut = context.AfterFunc(r.hard, c.cut)
	return w
}

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
	if files, ok := w.conn.Conn.(FileSender); ok && w.conn.tls == nil {
		err = w.sending(func() error {
			sent, err = w.conn.sendFile(files, f, n)
			return err
		})
		w.n.Add(sent)
		w.err = lost(err)
		err = w.err
	} else {
		sent, err = w.copyFile(f, n)
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
		_, _ = w.Write(w.run.proto.Error(err))
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
	if !w.conn.setSending(true) {
		return errStuck
	}
	defer w.conn.setSending(false)
	return f()
}

// lost returns an [Error] of the kind Gone if err means that the connection is lost, and err
// otherwise.
func lost(err error) error {
	for _, gone := range []error{
		net.ErrClosed, os.ErrClosed, os.ErrDeadlineExceeded, io.ErrClosedPipe,
		syscall.EPIPE, syscall.ECONNRESET, syscall.ETIMEDOUT, syscall.EHOSTUNREACH,
		syscall.ENETUNREACH,
	} {
		if errors.Is(err, gone) {
			return &Error{Kind: Gone, Err: err}
		}
	}
	return err
}

// A reply ends when it makes no progress for StallTimeout. Each write sets a deadline. A
// timer covers what deadlines do not: a handler that neither writes nor returns, and
// sendfile(2) from a disk that does not answer. When the timer fires, the client gets an
// error, or a reset in the middle of a reply; the connection is closed and the request
// logged. The goroutine still counts as a connection until the handler returns.

var (
	// errStuck reports a handler that neither returned nor wrote for StallTimeout.
	errStuck = &Error{Kind: Busy, Err: errors.New("the handler does not answer")}

	// errStalled reports a client that read nothing for StallTimeout. It is no timeout
	// error, since those are retried.
	errStalled = &Error{Kind: Gone, Err: errors.New("no progress")}
)

// socket is the socket of a connection, below TLS.
type socket struct {
	net.Conn
	stall time.Duration // StallTimeout during the reply, 0 before

	mu      sync.Mutex
	timer   *time.Timer // of the reply, or nil
	sending bool        // the handler is inside a write
	over    bool        // the reply has ended or timed out
}

// Write writes p, as long as the client reads some of it within each StallTimeout.
func (s *socket) Write(p []byte) (sent int, err error) {
	err = s.untilStalled(func() (int64, error) {
		n, err := s.Conn.Write(p[sent:])
		sent += n
		return int64(n), err
	})
	return sent, err
}

// sendFile sends the next n bytes of f, with the same limit.
func (s *socket) sendFile(files FileSender, f *os.File, n int64) (sent int64, err error) {
	for sent < n {
		var m int64
		err = s.untilStalled(func() (int64, error) {
			m, err = files.SendFile(f, n-sent)
			return m, err
		})
		sent += m
		if m == 0 || err != nil {
			break // m is 0 at the end of the file
		}
	}
	return sent, err
}

// untilStalled repeats step until it succeeds, fails, or sends nothing for StallTimeout. step
// sends and returns the number of bytes sent; it fails at the write deadline.
func (s *socket) untilStalled(step func() (int64, error)) error {
	if s.stall == 0 {
		_, err := step()
		return err
	}
	for {
		_ = s.Conn.SetWriteDeadline(time.Now().Add(s.stall))
		n, err := step()
		s.mu.Lock()
		s.reset()
		s.mu.Unlock()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if n == 0 {
			return errStalled
		}
	}
}

// CloseWrite shuts down the sending side.
func (s *socket) CloseWrite() error { return closeWrite(s.Conn) }

// SetWriteDeadline sets the deadline for writes before the reply. It has no effect during
// the reply.
func (s *socket) SetWriteDeadline(t time.Time) error {
	if s.stall > 0 {
		return nil
	}
	return s.Conn.SetWriteDeadline(t)
}

// maxUnsent bounds the bytes that the kernel buffers for a reply on a busy server (isBusy).
// By default the kernel buffers 3 MB for a client that never reads, and ten thousand such
// clients exhaust its memory. Setting the bound for every reply would double the cost of
// sending 1 MiB.
const maxUnsent = 64 << 10

// reset restarts the timer. During a write it allows twice the time: writes have a deadline
// of their own, which they overrun only while the kernel waits for a file.
func (s *socket) reset() {
	if s.over || s.timer == nil {
		return
	}
	after := s.stall
	if s.sending {
		after *= 2
	}
	s.timer.Reset(after)
}

// setSending records whether the handler is inside a write. It returns false if the reply
// has timed out.
func (s *socket) setSending(sending bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = sending
	s.reset()
	return !s.over
}

// end stops the timer, and reports whether the reply has timed out.
func (s *socket) end() (givenUp bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	givenUp, s.over = s.over, true
	if s.timer != nil {
		s.timer.Stop()
	}
	return givenUp
}

// watch starts the timer of the reply.
func (w *reply) watch() {
	known := w.req.outcome(Served{Err: errStuck}) // the handler may change the request
	s := w.conn.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(s.stall, func() {
		s.mu.Lock()
		over, sending := s.over, s.sending
		s.over = true
		s.mu.Unlock()
		if !over {
			w.giveUp(known, sending)
		}
	})
}

// Keys in limits.logged, which is keyed by address, for hung handlers and failures of accept(2).
var (
	stuckKey  = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	acceptKey = netip.AddrFrom4([4]byte{255, 255, 255, 254})
)

// giveUp ends a request whose handler hangs. The handler can no longer send. If it is inside
// a write, the number of bytes sent is unknown.
func (w *reply) giveUp(s Served, sending bool) {
	r, c := w.run, w.conn
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a handler hangs",
			slog.String("selector", s.Selector), slog.Int("times", times))
	}
	if !sending {
		s.Bytes = w.n.Load()
	}
	gently := !sending && w.n.Load() == 0 && !w.req.http && !w.req.robots
	if gently {
		sent, _ := w.to.Write(r.proto.Error(errStuck))
		s.Bytes = int64(sent)
	}
	w.cancel() // after the error was sent: a handler that returns closes the connection
	s.Took = time.Since(c.accepted)
	r.ended(s)
	if gently {
		drain(w.to, r.lingerTimeout())
		_ = c.Close()
	} else {
		c.abort()
	}
	r.gaveUp.Do(func() { close(r.stuck) })
}
