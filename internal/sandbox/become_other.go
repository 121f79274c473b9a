//go:build !unix

package sandbox

import (
	"errors"
	"fmt"
)

// Become has no form for this system.
func (u User) Become() error {
	return fmt.Errorf("becoming user %s: %w", u.Name, errors.ErrUnsupported)
}
