package server

import (
	"context"
	"net"
	"time"
)

// ServeConn answers the one request of a connection that was accepted by
// somebody else, such as inetd, and returns when it is closed, though the
// handler may not have returned. When ctx ends it
// is cut off.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) {
	run := s.newRun(ctx, ctx)
	run.welcome(newConn(c, time.Now().Add(s.requestTimeout())))
	done := make(chan struct{})
	go func() { run.conns.Wait(); close(done) }()
	select {
	case <-done:
	case <-run.stuck:
	}
}
