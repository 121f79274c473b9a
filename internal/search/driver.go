//go:build (linux && !mips && !mipsle && !mips64 && !mips64le && !ppc64) || darwin || (freebsd && (amd64 || arm64)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64)

package search

import (
	"errors"

	"modernc.org/libc"
	"modernc.org/sqlite" // the driver "sqlite"; it cannot be built everywhere
	lib "modernc.org/sqlite/lib"
)

const supported = true

// SQLite's C library would keep a copy of the environment, passwords and all.
func init() { libc.SetEnviron(nil, nil) }

// damaged reports whether SQLite found that its file is no index, or none that is whole.
func damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff // without the reason
	return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}
