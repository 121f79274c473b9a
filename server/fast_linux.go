package server

// The fast path: accept, read, answer, close, in the accepting goroutine.
//
// A goroutine for each connection, and the runtime's poller with it, cost half
// as much again as all the kernel does for a request. But most requests are
// there when their connection is accepted, and most replies are in memory. So
// this loop accepts some with plain system calls, reads each once, and if the
// Quick handler has the reply, sends it and is done. It never blocks:
//
//	nothing there yet         → parked (park_linux.go): no goroutine, no memory of ours
//	part of a line            → parked, too, with what there is
//	no reply at hand          → a goroutine, conn.go
//	reply larger than the
//	socket takes at once      → a goroutine for the rest
//	answered                  → lingers (linger_linux.go) until the client has closed
//
// The listener stays with the runtime's poller, so waiting for connections
// parks a goroutine, not a thread.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/selector"
)

// batch is how many connections are accepted before they are looked at.
const batch = 16

// fast is the state of the loop on one listener.
type fast struct {
	*run
	quick  Quick
	local  netip.AddrPort // of all connections; the zero value if each must tell
	lot    *lot
	linger *lingerers
	comers [batch]comer
	buf    [selector.MaxRequest]byte
}

// acceptFast serves l if it is a TCP listener and the handler is Quick, and
// says whether it did.
func (r *run) acceptFast(l net.Listener) (bool, error) {
	tcp, ok := l.(*net.TCPListener)
	quick, isQuick := r.handler().(Quick)
	if !ok || !isQuick {
		return false, nil
	}
	file, err := tcp.File() // a listener's own SyscallConn refuses to read
	if err != nil {
		return true, fmt.Errorf("getting at the listener: %w", err)
	}
	stop := context.AfterFunc(r.soft, func() { _ = file.Close() })
	defer stop()
	defer func() { _ = file.Close() }()
	raw, err := file.SyscallConn()
	if err != nil {
		return true, fmt.Errorf("getting at the listener: %w", err)
	}
	f := &fast{run: r, quick: quick}
	if local := addrPort(tcp.Addr()); !local.Addr().IsUnspecified() {
		f.local = local
	}
	if f.lot, err = newLot(f.wake, f.expired); err != nil {
		return true, fmt.Errorf("making the poller: %w", err)
	}
	f.linger = newLingerers(f.park, r.lingerTimeout())
	defer f.lot.close()
	defer func() { f.lot.settle(r.lastCall()) }()
	defer f.linger.close()
	return true, f.loop(raw)
}

func (f *fast) loop(raw syscall.RawConn) error {
	var wait backoff
	for {
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			failed = nil
			if errno := f.round(int(fd)); errno != 0 {
				failed = errno
			}
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err == nil {
			err = failed
		}
		if err == nil {
			wait.reset()
		} else if err = f.acceptFailed(err, &wait); err != nil {
			return err
		}
	}
}

// round accepts a batch of connections, then looks at each: its request follows
// the handshake at once, but seldom as fast as we accept, and to park it would
// cost half as much as to answer it.
func (f *fast) round(listener int) (errno unix.Errno) {
	comers := f.comers[:0]
	for errno == 0 && len(comers) < batch {
		c := comer{fd: -1}
		if c.fd, c.from, errno = accept(listener); errno == 0 {
			c.accepted = time.Now()
			comers = append(comers, c)
		}
	}
	f.accepted.Add(int64(len(comers)))
	for _, c := range comers {
		f.first(c)
	}
	older := grace
	if errno == unix.EMFILE { // then those that have closed make room
		older = 0
	}
	f.linger.sweep(older)
	return errno
}

// comer is a connection that was just accepted.
type comer struct {
	fd       int
	from     netip.AddrPort
	accepted time.Time
}

// first looks at a connection that was just accepted.
func (f *fast) first(c comer) {
	t := ticket{from: c.from, accepted: c.accepted, deadline: c.accepted.Add(f.requestTimeout())}
	n, errno := recv(c.fd, f.buf[:])
	if errno == unix.EAGAIN {
		f.park(c.fd, t)
		return
	}
	f.received(c.fd, t, f.buf[:], n, errno)
}

// wake is called by the lot when a parked connection has something to read.
func (f *fast) wake(fd int, t ticket, buf []byte) {
	t.again = true
	had := copy(buf, t.head)
	n, errno := recv(fd, buf[had:])
	if errno == unix.EAGAIN { // its number was given to another connection meanwhile
		f.park(fd, t)
		return
	}
	f.received(fd, t, buf, n, errno)
}

// received takes what was read: n octets, after those of the ticket, or an
// error. It answers, parks the connection again if that is no request yet, or
// hands it over. It runs in the accepting goroutine and in that of the lot.
func (f *fast) received(fd int, t ticket, buf []byte, n int, errno unix.Errno) {
	if errno != 0 || n == 0 && len(t.head) == 0 {
		closeFD(fd)
		f.silent(t.from, left(errno))
		return
	}
	buf = buf[:len(t.head)+n]
	line, ok := selector.Line(buf)
	if n > 0 && f.soft.Err() == nil && f.unfinished(t.from.Addr(), buf, ok) {
		t.head = append(t.head, buf[len(t.head):]...)
		f.park(fd, t)
		return
	}
	if !f.within(t.from.Addr()) {
		turnAway(fd, tooFast)
		return
	}
	if !ok || f.special(t.from.Addr(), buf) || f.soft.Err() != nil {
		f.handOver(fd, waits, buf, t.from, t.accepted)
		return
	}
	f.atHand(fd, t.from, t.accepted, line, buf)
}

// park counts a connection and leaves it in the lot. One that was answered
// already and finds no room is closed: it has what it wanted.
func (f *fast) park(fd int, t ticket) {
	s := &stay{phase: waits}
	if t.lingers {
		s.phase = lingers
	}
	s.cut = func() { f.lot.evict(fd, s) }
	t.stay = s
	why := f.enter(t.from.Addr(), s)
	switch {
	case why == admitted:
		f.lot.park(fd, t)
	case t.lingers:
		closeFD(fd)
	default:
		f.refused(t.from.Addr(), why)
		turnAway(fd, why)
	}
}

// turnAway tells the client why it is not served.
func turnAway(fd int, why refusal) {
	_, _ = send(fd, why.body())
	_ = shutdownWrite(fd)
	closeFD(fd)
}

// left is why there was nothing to read.
func left(errno unix.Errno) error {
	if errno == 0 {
		return io.EOF
	}
	return os.NewSyscallError("recv", errno)
}

// expired is called by the lot when a parked connection has been silent for
// too long.
func (f *fast) expired(t ticket) { f.silent(t.from, os.ErrDeadlineExceeded) }

// handOver gives the connection a goroutine, for the request or for the reply.
func (f *fast) handOver(fd int, p phase, head []byte, from netip.AddrPort, accepted time.Time) {
	c, err := f.newStream(fd, from)
	if err != nil {
		f.logger.Error("cannot serve a connection", "error", err)
		return
	}
	nc := &conn{Conn: c, head: append([]byte(nil), head...), accepted: accepted,
		deadline: accepted.Add(f.requestTimeout()), remote: from, local: f.local}
	f.begin(nc, p, f.serve)
}
