package programs

import (
	"context"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/fastcgi"
)

// The places of a program are few. So a client that reads slowly must not keep one: a
// reply is read ahead of the client. And one address gets a quarter of the places.

const (
	maxAhead    = 1 << 20          // bytes of one reply that are read ahead, and
	maxAllAhead = 32 << 20         // of all replies, after which each is read 16 KiB ahead
	clientWait  = 30 * time.Second // for a place of the address
)

// ahead is the output of a program, read ahead of its reader.
type ahead struct {
	src    io.ReadCloser
	cancel context.CancelFunc
	all    *atomic.Int64 // bytes that all have read ahead

	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	err    error
	closed bool
}

// readAhead returns a reader of src, which it closes at its end. Cancel must end a
// read of src. Left is called then.
func readAhead(src io.ReadCloser, cancel context.CancelFunc, all *atomic.Int64, left func()) *ahead {
	a := &ahead{src: src, cancel: cancel, all: all}
	a.change.L = &a.mu
	go func() {
		defer left()
		defer func() { _ = src.Close() }()
		for chunk := make([]byte, 16<<10); a.more(chunk); {
			continue
		}
	}()
	return a
}

// more reads a part of the output, and reports whether there is more.
func (a *ahead) more(chunk []byte) bool {
	n, err := a.src.Read(chunk)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
	a.change.Broadcast()
	if a.closed {
		return false
	}
	a.buf = append(a.buf, chunk[:n]...)
	a.all.Add(int64(n))
	for err == nil && !a.closed && (len(a.buf) >= maxAhead || len(a.buf) > 0 && a.all.Load() > maxAllAhead) {
		a.change.Wait()
	}
	return err == nil && !a.closed
}

// Read takes what was read ahead.
func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.buf) == 0 && a.err == nil {
		a.change.Wait()
	}
	if len(a.buf) == 0 {
		return 0, a.err
	}
	n := copy(p, a.buf)
	if a.buf = a.buf[n:]; len(a.buf) == 0 {
		a.buf = nil
	}
	a.all.Add(int64(-n))
	a.change.Broadcast()
	return n, nil
}

// Close ends the program's request.
func (a *ahead) Close() error {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.all.Add(int64(-len(a.buf)))
		a.buf = nil
	}
	a.change.Broadcast()
	a.mu.Unlock()
	a.cancel()
	return nil
}

// asker is an address that asks a program.
type asker struct {
	addr    netip.Addr
	program *fastcgi.Program
}

// askerPlaces are the places of one asker.
type askerPlaces struct {
	taken chan struct{}
	asks  int
}

// enter waits for a place that the asker may have.
func (h *Programs) enter(ctx context.Context, c asker) (leave func(), err error) {
	if !c.addr.IsValid() {
		return func() {}, nil
	}
	h.mu.Lock()
	p := h.askers[c]
	if p == nil {
		if h.askers == nil {
			h.askers = map[asker]*askerPlaces{}
		}
		p = &askerPlaces{taken: make(chan struct{}, max(1, c.program.Places()/4))}
		h.askers[c] = p
	}
	p.asks++
	h.mu.Unlock()
	gone := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if p.asks--; p.asks == 0 {
			delete(h.askers, c)
		}
	}
	late := time.NewTimer(clientWait)
	defer late.Stop()
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken; gone() }, nil
	case <-late.C:
		err = fastcgi.ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	gone()
	return nil, err
}
