//go:build !linux || 386 || arm

package sandbox

const canAct = false

// act calls call with the ids of the process: here a thread has no ids of its own.
func (u *Identity) act(call func() error) error { return call() }
