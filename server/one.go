package server

import (
	"context"
	"net"
	"time"
)

// ServeConn answers the one request of a connection that was accepted by
// somebody else, such as inetd, and returns when it is closed. When ctx ends it
// is cut off.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) {
	run := &run{Server: s, soft: ctx, hard: ctx, logger: s.log()}
	run.welcome(newConn(c, time.Now().Add(s.requestTimeout())))
	run.conns.Wait()
}
