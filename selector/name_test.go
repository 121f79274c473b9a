package selector_test

import (
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/selector"
)

func TestAskable(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a.b": true, "a b": true, `a\b`: true, "index.gph": true, "gophermap.txt": true,
		"x.cgi.txt": true, "cgi": true, ".cgi": false,
		"": false, ".": false, "..": false, ".x": false, `a\.b`: false, "gophermap": false,
		"gophertag": false, "x.cgi": false, "x.dcgi": false, "cgi-bin": false,
		"a\xff": false, "a\u0085": false, "a\x7f": false, strings.Repeat("x", 255): true,
		strings.Repeat("x", 256): false, "ä": true,
	} {
		if got := selector.Askable(name); got != want {
			t.Errorf("Askable(%q) = %t", name, got)
		}
	}
	for name, want := range map[string]bool{".": true, "a/b": true, "a/.b": false, "a//b": false,
		"/a": false, "a/": false, "cgi-bin/x": false, "..": false, "a/\xff": true, "\xff/a": false,
		"a/\x9f": false} {
		if got := selector.AskableName(name); got != want {
			t.Errorf("AskableName(%q) = %t", name, got)
		}
	}
}

// What can be asked for is what a selector leads to.
func FuzzAskable(f *testing.F) {
	f.Add("a/b")
	f.Add("a/./b")
	f.Add("a\\.b")
	f.Add("cgi-bin/x")
	f.Fuzz(func(t *testing.T, name string) {
		got, _, err := selector.Path("/" + name)
		ok := err == nil && got == name && name != "."
		if name != "." && len(name) < selector.MaxRequest && ok != selector.AskableName(name) {
			t.Fatalf("AskableName(%q) = %t, Path says %q, %v", name, !ok, got, err)
		}
		if selector.AskableName(name) && utf8.ValidString(name) && !fs.ValidPath(name) {
			t.Fatalf("%q is no valid path", name)
		}
	})
}
