package proof

import (
	"slices"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// What is asked for: names that clients can request, in any character set, and names that
// a pattern matches in the middle of an escape, wherever its star stands.
func TestWitnesses(t *testing.T) {
	w := &witnesses{about: func(string) bool { return true }, token: "zz", seen: map[string]bool{}}
	for _, sel := range []string{"/caf\xe9/b", "/caf\xe9/.hidden", "/a/.hidden", "/robots.txt"} {
		w.add(sel)
	}
	w.pattern(&readers.Pattern{Pieces: []string{"/a", "x", "AB"}})
	var got []string
	for _, asked := range w.list {
		got = append(got, asked.sel)
	}
	for sel, want := range map[string]bool{"/caf\xe9/b": true, "/caf\xe9/.hidden": false, "/a/.hidden": false, "/robots.txt": false, "/axë": true} {
		if slices.Contains(got, sel) != want {
			t.Errorf("%q is asked for: %v (%q)", sel, !want, got)
		}
	}
}

func TestOfProgram(t *testing.T) {
	for _, c := range []struct {
		pieces, of []string
		want       bool
	}{
		{[]string{"/cgi"}, []string{"/cgi"}, true},
		{[]string{"/cgi", ""}, []string{"/cgi"}, false},
		{[]string{"/~", "/cgi/"}, []string{"/~", "/cgi"}, true},
		{[]string{"/x", "/cgi/"}, []string{"/~", "/cgi"}, false},
		{[]string{"/~", "/x"}, []string{"/~", "/cgi"}, false},
		{[]string{"/~bob/cgi"}, []string{"/~", "/cgi"}, true},
		{[]string{"/~bob/d/cgi"}, []string{"/~", "/cgi"}, false},
		{[]string{"/a/b.run"}, []string{"/", ".run"}, true},
	} {
		if got := ofProgram(&readers.Pattern{Pieces: c.pieces}, c.of); got != c.want {
			t.Errorf("%q of %q: %v", c.pieces, c.of, got)
		}
	}
}
