//go:build (linux && !mips && !mipsle && !mips64 && !mips64le && !ppc64) || darwin || (freebsd && (amd64 || arm64)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64)

package search

import (
	"modernc.org/libc"
	_ "modernc.org/sqlite" // the driver "sqlite"; it cannot be built everywhere
)

const supported = true

// SQLite's C library would keep a copy of the environment, passwords and all.
func init() { libc.SetEnviron(nil, nil) }
