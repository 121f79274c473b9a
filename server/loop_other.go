//go:build !linux

package server

import "net"

// serveListener serves l until the soft end: every connection gets a goroutine.
func (r *run) serveListener(l net.Listener) error { return r.acceptAll(l) }

// polled is the loop's part of a conn.
type polled struct{}

func (polled) evict() bool  { return false }
func (polled) unread() bool { return false }
