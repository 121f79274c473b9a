package site

import "github.com/gophd/gophd/internal/disk"

// Unprivileged is for the tests outside the package.
var Unprivileged = unprivileged

// namesScanner is a scanner that keeps the names of all files.
func namesScanner(r *disk.Root) *scanner {
	s := newScanner(r)
	s.files = true
	return s
}
