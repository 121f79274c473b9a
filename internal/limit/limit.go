// Package limit recognises errors that mean a lack of descriptors or memory, as opposed to
// errors about a file. They are temporary: a caller must try again later and draw no
// conclusion about the file.
package limit

import (
	"errors"
	"slices"
	"syscall"
)

var passing = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}

// Reached reports whether an error is one of those.
func Reached(err error) bool {
	return slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) })
}
