package main

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gophd/gophd/server"
)

// alive says whether gophd does its work: its handler answers, and nobody waits
// in vain for being accepted. In the sandbox it cannot connect to itself, so the
// question goes through memory, and the kernel tells who waits. What is asked
// for touches no file: a tree on a disk that hangs is no reason for a restart.
func (s *service) alive(ctx context.Context) bool {
	if !s.answers(ctx) {
		return false
	}
	for _, l := range s.listeners {
		if !s.accepts(ctx, l) {
			s.log.Error("connections are not accepted", "address", l.Addr().String())
			return false
		}
	}
	return true
}

// answers asks the handler for a name that is never served.
func (s *service) answers(ctx context.Context) bool {
	client, conn := net.Pipe()
	defer func() { _ = client.Close() }()
	probe := server.Server{Handler: s.srv.Handler, LingerTimeout: time.Nanosecond}
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
		s.log.Error("the handler does not answer", "error", err)
	}
	return err == nil
}

// accepts says whether, until ctx is due, a listener's queue was empty once, or
// somebody was accepted. When gophd ends meanwhile, nobody is any more.
func (s *service) accepts(ctx context.Context, l net.Listener) bool {
	before := s.srv.Counts().Accepted
	for waiting(l) > 0 && s.srv.Counts().Accepted == before {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.Is(ctx.Err(), context.Canceled)
		}
	}
	return true
}
