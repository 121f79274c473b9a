package server

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

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

// SendFile sends the next n bytes of f, with the same limit. It returns
// errors.ErrUnsupported if the connection cannot send files.
func (s *socket) SendFile(f *os.File, n int64) (sent int64, err error) {
	files, ok := s.Conn.(FileSender)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	err = s.untilStalled(func() (int64, error) {
		m, err := files.SendFile(f, n-sent)
		sent += m
		return m, err
	})
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
		if err := s.Conn.SetWriteDeadline(time.Now().Add(s.stall)); err != nil {
			return err
		}
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

// pause stops the timer while the connection waits for another request.
func (s *socket) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
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

// stuckKey is the key for hung handlers in limits.logged, which is keyed by address.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// giveUp ends a request whose handler hangs. The handler can no longer send. If it is inside
// a write, the number of bytes sent is unknown.
func (w *reply) giveUp(s Served, sending bool) {
	r, c := w.run, w.conn
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a handler hangs", slog.String("selector", s.Selector), slog.Int("times", times))
	}
	if !sending {
		s.Bytes = w.n.Load()
	}
	gently := !sending && w.n.Load() == 0 && !w.req.http && !w.req.robots
	if gently {
		sent, _ := w.to.Write(r.errorBody(errStuck))
		s.Bytes = int64(sent)
	}
	c.cancelRequest() // after the error was sent: a handler that returns closes the connection
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
