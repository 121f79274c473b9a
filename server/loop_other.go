//go:build !linux

package server

import "net"

// serveTCP has no form for this system: every connection gets a goroutine.
func (r *run) serveTCP(net.Listener) (bool, error) { return false, nil }

// polled is the loop's part of a conn.
type polled struct{}

func (polled) evict() bool  { return false }
func (polled) unread() bool { return false }
