package server

import (
	"context"
	"io"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/selector"
)

// requests are those that the handler is asked with for what it has at hand.
var requests = sync.Pool{New: func() any { return new(Request) }}

// atHand answers with what the handler has at hand, or hands the connection over.
func (f *fast) atHand(fd int, from netip.AddrPort, accepted time.Time, line, buf []byte) {
	parsed, err := selector.Parse(line)
	if err != nil || isHTTP(line) {
		f.handOver(fd, replies, buf, from, accepted)
		return
	}
	local := f.local
	if !local.IsValid() {
		local = localOf(fd)
	}
	req := requests.Get().(*Request)
	*req = Request{Request: parsed, Remote: from, Local: local}
	req.Host, req.Port = f.here(local)
	a, ok := f.quick.Quick(req)
	requests.Put(req)
	if !ok {
		f.handOver(fd, replies, buf, from, accepted)
		return
	}
	sel := parsed.Selector
	sent, all, errno := f.sendNow(fd, a)
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		closeFD(fd)
		f.logRequest(sel, from, sent, time.Since(accepted), &Error{Kind: Gone, Err: os.NewSyscallError("send", errno)})
	case sent < all:
		f.finish(fd, sel, a, sent, from, accepted)
		return // with the file
	default:
		f.linger.add(fd, from, accepted)
		f.logRequest(sel, from, sent, time.Since(accepted), a.Err)
	}
	a.close()
}

// sendNow sends what the socket takes of an answer at once, and cannot block. It
// returns how much that was, and how much there is.
func (f *fast) sendNow(fd int, a Answer) (sent, all int64, errno unix.Errno) {
	if a.File == nil {
		n, errno := send(fd, a.Body)
		return int64(max(n, 0)), int64(len(a.Body)), errno
	}
	if !a.Resident || f.crowded() {
		return 0, a.Size, 0
	}
	raw, err := a.File.SyscallConn()
	if err != nil {
		return 0, a.Size, 0
	}
	n := 0
	if raw.Control(func(in uintptr) { n, errno = sendFile(fd, int(in), int(a.Size)) }) != nil || errno != 0 {
		return 0, a.Size, 0 // finish meets what failed again, and can tell what it is
	}
	return int64(n), a.Size, 0
}

// finish sends the rest of an answer that the socket did not take at once, or
// that might block.
func (f *fast) finish(fd int, sel string, a Answer, sent int64, from netip.AddrPort, accepted time.Time) {
	c, err := f.newStream(fd, from)
	if err != nil {
		f.logger.Error("cannot finish a reply", "error", err)
		a.close()
		return
	}
	nc := &conn{Conn: c, remote: from, accepted: accepted, begun: sent > 0}
	serve := func(*conn) {
		stop := context.AfterFunc(f.hard, nc.cut)
		defer stop()
		w := &reply{conn: c, stall: f.stallTimeout(), n: sent}
		f.watch(nc, w, sel)
		if a.File == nil {
			_, _ = w.send(a.Body[sent:])
		} else {
			w.err = sendWhole(w, &io.LimitedReader{R: a.File, N: a.Size - sent})
		}
		a.close()
		if w.dog.rest() {
			return // who gave it up has done the rest
		}
		f.logRequest(sel, from, w.n, time.Since(accepted), w.err)
		f.end(nc, w.err)
	}
	if !f.begin(nc, replies, serve) {
		a.close()
	}
}
