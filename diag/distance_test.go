package diag_test

import (
	"testing"

	"github.com/gophd/gophd/diag"
)

func TestDistance(t *testing.T) {
	long := "123456789012345678901234567890123456789012345678901234567890abcd"
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"drafts", "drafts", 0}, {"draft", "drafts", 1}, {"drafts", "draft", 1},
		{"drafts", "darfts", 2}, {"", "ab", 2}, {"ab", "", 2},
		{"abc", "abd", 1}, {"abcd", "bcd", 1}, {"a", "abcd", 3}, {"abcd", "a", 3},
		{"abc", "xyz", 3}, {"abcdef", "uvwxyz", 3},
		{long, long, 0}, {long, long[1:], 1}, {long[1:], long, 1}, {long + "x", long + "x", 3},
		{long, long + "x", 3},
	} {
		if got := diag.Distance(test.a, test.b, 3); got != test.want {
			t.Errorf("%q to %q: %d, not %d", test.a, test.b, got, test.want)
		}
	}
}
