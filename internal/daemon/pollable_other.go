//go:build !unix

package daemon

import "os"

// pollable has no form for this system.
func pollable(f *os.File) (*os.File, error) { return f, nil }
