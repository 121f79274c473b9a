package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gophd/gophd/server"
)

// alive reports whether gophd does its work: its handler answers, and nobody waits
// in vain for being accepted. In the sandbox it cannot connect to itself, so the
// question goes through memory, and the kernel tells who waits. What is asked
// for touches no file: a tree on a disk that hangs is no reason for a restart.
func (d *daemon) alive(ctx context.Context) bool {
	if !d.answers(ctx) {
		return false
	}
	for _, l := range d.listeners {
		if !d.accepts(ctx, l) {
			d.log.Error("connections are not accepted", "address", l.Addr().String())
			return false
		}
	}
	return true
}

// answers asks the handler for a name that is never served.
func (d *daemon) answers(ctx context.Context) bool {
	client, conn := net.Pipe()
	defer func() { _ = client.Close() }()
	probe := server.Server{Handler: d.srv.Handler, LingerTimeout: time.Nanosecond}
	go probe.ServeConn(ctx, conn)
	if end, ok := ctx.Deadline(); ok {
		_ = client.SetDeadline(end)
	}
	if _, err := io.WriteString(client, "/.alive\n"); err != nil {
		return false
	}
	var first [1]byte
	_, err := io.ReadFull(client, first[:])
	if err != nil {
		d.log.Error("the handler does not answer", "error", err)
	}
	return err == nil
}

// accepts reports whether, until ctx is due, a listener's queue was empty once, or
// somebody was accepted. When gophd ends meanwhile, nobody is any more.
func (d *daemon) accepts(ctx context.Context, l net.Listener) bool {
	before := d.srv.Counts().Accepted
	for waiting(l) > 0 && d.srv.Counts().Accepted == before {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.Is(ctx.Err(), context.Canceled)
		}
	}
	return true
}
