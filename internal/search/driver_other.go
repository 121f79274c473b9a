//go:build !((linux && !mips && !mipsle && !mips64 && !mips64le && !ppc64) || darwin || (freebsd && (amd64 || arm64)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64))

package search

const supported = false

func damaged(error) bool { return false }
