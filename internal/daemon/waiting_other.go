//go:build !linux

package daemon

import "net"

// waiting is not implemented on this system.
func waiting(net.Listener) int { return 0 }
