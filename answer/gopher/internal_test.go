package gopher

import (
	"strings"
	"testing"
	"testing/iotest"
)

func TestStrictText(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := map[string]string{
		"":            ".\r\n",
		"a":           "a\r\n.\r\n",
		"a\nb\r\n":    "a\r\nb\r\n.\r\n",
		".\n..\na.\n": "..\r\n...\r\na.\r\n.\r\n",
		"\n\n":        "\r\n\r\n.\r\n",
		long + "\n.":  long + "\r\n..\r\n.\r\n",
		"." + long:    ".." + long + "\r\n.\r\n",
		strings.Repeat("x", 32<<10-1) + "\r\nb\rc": strings.Repeat("x", 32<<10-1) +
			"\r\nb\rc\r\n.\r\n",
		strings.Repeat("x", 32<<10-1) + "\rb": strings.Repeat("x", 32<<10-1) + "\rb\r\n.\r\n",
		"last without":                        "last without\r\n.\r\n",
	}
	for in, want := range tests {
		var got strings.Builder
		if err := strictText(&got, iotest.OneByteReader(strings.NewReader(in))); err != nil ||
			got.String() != want {
			t.Errorf("%.20q: got %.40q (%v), want %.40q", in, got.String(), err, want)
		}
	}
}
