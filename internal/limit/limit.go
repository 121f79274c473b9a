// Package limit is about what this process, or this machine, has too little of. It
// tells the errors that say so, no descriptors left or no memory, from those about
// the file that was asked for: they pass, so a caller that meets one tries again
// later and draws no conclusion from it. And it counts the memory of large replies
// ([Held]), so that there is a bound for it.
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
