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

// A reply ends when it makes no progress for the stall time. Each write has a deadline for
// that. A timer covers what has none: a handler that does not return, and sendfile(2) from
// a disk that does not answer. If it fires, the client gets an error, or a reset in the
// middle of a reply; the connection is closed and the request logged. The goroutine stays
// until the handler returns, and counts as a connection until then.

var (
	// errStuck is a handler that neither returned nor wrote for the stall time.
	errStuck = &Error{Kind: Busy, Err: errors.New("the handler does not answer")}

	// errStalled ends a reply whose client takes nothing. It is no time-out error: those
	// are retried.
	errStalled = &Error{Kind: Gone, Err: errors.New("no progress")}
)

// socket is the socket of a connection, below TLS.
type socket struct {
	net.Conn
	stall time.Duration // of its reply; 0 before: the deadline is for all that precedes it

	mu      sync.Mutex
	timer   *time.Timer // of the reply; nil: none yet
	sending bool        // the handler is where it sends
	over    bool        // the reply has ended, or was given up
}

// Write writes p as long as there is progress.
func (s *socket) Write(p []byte) (sent int, err error) {
	err = s.steadily(func() (int64, error) {
		n, err := s.Conn.Write(p[sent:])
		sent += n
		return int64(n), err
	})
	return sent, err
}

// SendFile sends the next n bytes of f, if the connection can.
func (s *socket) SendFile(f *os.File, n int64) (sent int64, err error) {
	files, ok := s.Conn.(FileSender)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	err = s.steadily(func() (int64, error) {
		m, err := files.SendFile(f, n-sent)
		sent += m
		return m, err
	})
	return sent, err
}

// steadily repeats step, which sends and returns how many bytes, until it is done, fails, or
// sends nothing for the stall time.
func (s *socket) steadily(step func() (int64, error)) error {
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

// SetWriteDeadline sets the deadline of what precedes the reply.
func (s *socket) SetWriteDeadline(t time.Time) error {
	if s.stall > 0 {
		return nil
	}
	return s.Conn.SetWriteDeadline(t)
}

// maxUnsent is how many unsent bytes of a reply the kernel buffers when it begins while many
// connections stay. By itself it buffers 3 MB for a client that never reads, and ten
// thousand such clients exceed its memory. A bound for every reply would double the
// cost of 1 MiB.
const maxUnsent = 64 << 10

// reset sets the timer. A write has a deadline of its own, which it overruns only while
// the kernel waits for a file.
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

// send records whether the handler is where it sends. It returns false if the reply was
// given up.
func (s *socket) send(sending bool) bool {
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

// end stops the timer, and reports whether the reply was given up.
func (s *socket) end() (givenUp bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	givenUp, s.over = s.over, true
	if s.timer != nil {
		s.timer.Stop()
	}
	return givenUp
}

// watch sets the timer for the reply.
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

// stuckKey stands for requests that do not end among the addresses that the log names.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// giveUp ends a request whose handler is stuck. The handler cannot send any more. If it
// is just sending, the number of bytes sent is unknown.
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
	c.cancelRequest() // not before: a handler that ends then closes the connection
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
