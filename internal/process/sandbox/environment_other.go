//go:build !linux

package sandbox

// wipeEnvironment has no form for this system.
func wipeEnvironment() {}
