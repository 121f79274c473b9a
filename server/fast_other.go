//go:build !linux

package server

import "net"

// acceptFast has no form for this system: every connection gets a goroutine.
func (r *run) acceptFast(net.Listener) (bool, error) { return false, nil }

// acknowledge has no form for this system.
func acknowledge(net.Conn) {}
