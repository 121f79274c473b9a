// Package size reads the sizes that flags take.
package size

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a number of bytes, up to 1 TiB: 1000, 64KiB, 64MiB, 1GiB; the B
// and the i may be left out.
func Parse(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGiB")
	shift, ok := map[string]int{
		"":  0,
		"B": 0,
		"K": 10,
		"M": 20,
		"G": 30,
	}[strings.TrimSuffix(strings.TrimSuffix(s[len(digits):], "B"), "i")]
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || !ok || n < 0 || n > 1<<40>>shift {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return n << shift, nil
}
