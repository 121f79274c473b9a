package selector_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
)

func TestPath(t *testing.T) {
	for _, tt := range []struct {
		in, name string
		dir      bool
	}{
		{"", ".", true},
		{"/", ".", true},
		{"a", "a", false},
		{"/a/b", "a/b", false},
		{"a/b/", "a/b", true},
		{"/a b.txt", "a b.txt", false},
		{"/Ünïcode", "Ünïcode", false},
		{"/a.b..c", "a.b..c", false},
		{`/a\b`, `a\b`, false},
		{"/%2e%2e", "%2e%2e", false},
		{"/a/caf\xe9", "a/caf\xe9", false},
	} {
		name, dir, err := selector.Path(tt.in)
		if name != tt.name || dir != tt.dir || err != nil {
			t.Errorf("Path(%q) = %q, %t, %v; want %q, %t", tt.in, name, dir, err, tt.name, tt.dir)
		}
	}
}

func TestAbusePaths(t *testing.T) {
	long := strings.Repeat("a", selector.MaxRequest+1)
	for in, want := range map[string]selector.Cause{
		"../etc/passwd": selector.Dots, "/a/../../x": selector.Dots, "a/..": selector.Dots,
		"/.": selector.Dots, "./a": selector.Dots,
		"..": selector.Dots, `..\`: selector.Dots, `a\..\..\b`: selector.Dots, `\..`: selector.Dots,
		"....//": selector.Hidden, "...": selector.Hidden, "/.git/config": selector.Hidden,
		"/x/.hidden": selector.Hidden,
		"/.robots":   selector.Hidden, `a\.git`: selector.Hidden,
		"/gophermap": selector.Source, "/a/gophertag": selector.Source, "/x.cgi": selector.Program,
		"a/b.DCGI":       selector.Program,
		"/cgi-bin/guest": selector.Program, "/CGI-BIN/": selector.Program,
		"/x.cgi?a": selector.Program, "a\u009bb": selector.Control,
		"/" + strings.Repeat("x", 256): selector.TooLong,
		"//etc":                        selector.Empty, "//": selector.Empty,
		"a//b": selector.Empty, "a//": selector.Empty, "///": selector.Empty,
		"a\x00": selector.Control, "a\tb": selector.Control, "a\x1bb": selector.Control,
		"a\nb": selector.Control, "\x7f": selector.Control,
		"a\xff/": selector.Malformed, "a\xff/b": selector.Malformed, "a\x9f": selector.Control,
		".\xff": selector.Hidden, "\xff.cgi": selector.Program, long: selector.TooLong,
	} {
		name, _, err := selector.Path(in)
		var refused *selector.RefusedError
		if !errors.As(err, &refused) || refused.Reason != want || name != "" {
			t.Errorf("Path(%q) = %q, %v; want it refused for %s", in, name, err, want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b\t\n./") {
			t.Errorf("the error repeats %q: %v", in, err)
		}
	}
}

func TestSpellings(t *testing.T) {
	for _, tt := range []struct {
		name string
		dir  bool
		want []string
	}{
		{".", true, []string{"/", ""}},
		{"p", false, []string{"/p", "p"}},
		{"d/e", true, []string{"/d/e/", "/d/e", "d/e/", "d/e"}},
	} {
		got := selector.Spellings(tt.name, tt.dir)
		if !slices.Equal(got, tt.want) {
			t.Errorf("Spellings(%q, %t) = %q, want %q", tt.name, tt.dir, got, tt.want)
		}
		for _, s := range got {
			if name, _, err := selector.Path(s); name != tt.name || err != nil {
				t.Errorf("Path(%q) = %q, %v; want %q", s, name, err, tt.name)
			}
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "/", "/a/b/", "../x", `..\`, "....//", "a\xffb", "/.git"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sel string) {
		name, dir, err := selector.Path(sel)
		if err != nil {
			return
		}
		if !fs.ValidPath(strings.ToValidUTF8(name, "?")) { // a file may be asked for by other bytes
			t.Fatalf("Path(%q) = %q, which is no valid path", sel, name)
		}
		for elem := range strings.SplitSeq(name, "/") {
			if name != "." && strings.HasPrefix(elem, ".") {
				t.Fatalf("Path(%q) = %q, which is hidden", sel, name)
			}
		}
		if !slices.Contains(selector.Spellings(name, dir), sel) {
			t.Fatalf("%q is no spelling of %q", sel, name)
		}
	})
}

func ExamplePath() {
	name, dir, err := selector.Path("/phlog/")
	fmt.Println(name, dir, err)
	_, _, err = selector.Path("/../etc/passwd")
	fmt.Println(err)
	// Output:
	// phlog true <nil>
	// refused: an element of dots
}
