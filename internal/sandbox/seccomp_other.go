//go:build !linux || !(amd64 || arm64)

package sandbox

// denyCalls has no form for this system.
func denyCalls(bool) error { return nil }

// filtersCalls reports whether this system can filter system calls.
func filtersCalls() bool { return false }
