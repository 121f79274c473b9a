// Package limit tells the errors that are about this process, or this machine,
// from those about the file that was asked for: there are no descriptors left,
// or no memory. They pass, so a caller that meets one tries again later and draws no
// conclusion from it.
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
