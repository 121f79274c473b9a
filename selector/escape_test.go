package selector_test

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
)

func TestUnescape(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
	}{
		{"a", "", false}, {"", "", false}, {"%", "", false}, {"%2", "", false}, {"a%zz", "", false},
		{"%00", "", false}, {"a%09b", "", false}, {"%7f", "", false}, {"%1B", "", false},
		{"a%20b%", "", false},
		{"a%20b", "a b", true}, {"%252e", "%2e", true}, {"a#040b", "a b", true},
		{"#045", "%", true}, {"a#40", "", false}, {"a#", "", false}, {"#777", "", false},
		{"a#b%20c", "a#b c", true}, {"#303#274", "ü", true}, {"#000", "", false},
		{"a#011b", "", false}, {"#177", "", false}, {"#056#056/", "../", true},
		{"%2e%2E/", "../", true}, {"%c3%bc", "ü", true},
	} {
		got, ok := selector.Unescape(tt.in)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Unescape(%q) = %q, %t; want %q, %t", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

// Old links have elements that say nothing; no form leads out, or to what is hidden.
func TestForms(t *testing.T) {
	for sel, want := range map[string]string{
		"": "", "/": "", "/a/b/": "", "a.b/.c": "", "//": "/", "///": "/", "/.": "/", ".": "",
		"./": "", "/./": "/", "./a": "a", "//a": "/a", "a//b": "a/b", "/a/./b": "/a/b",
		"/a/.": "/a/", "/a//": "/a/", "/a/././/b/": "/a/b/", "//a%20b": "/a%20b /a b",
		"/a%20b": "/a b", "/../a": "", "/.//../a": "/../a", "/./.git": "/.git", "/a/.../b": "",
		"/%2e/a": "/./a", "%2F/a": "//a",
	} {
		forms := selector.Forms(sel)
		if got := strings.Join(forms, " "); got != want {
			t.Errorf("Forms(%q) = %q, want %q", sel, got, want)
		}
	}
}

func TestAbuseEncodedDots(t *testing.T) {
	for _, in := range []string{"%2e%2e/", "%2e%2e/etc/passwd", "/%2egit/config", "%2frobots%2f%2f",
		"..%5c", "#056#056#057", "/%2e#147it/config"} {
		plain, ok := selector.Unescape(in)
		if !ok {
			t.Fatalf("Unescape(%q) failed", in)
		}
		if name, _, err := selector.Path(plain); err == nil {
			t.Errorf("%q became %q", in, name)
		}
	}
}

func TestAppendNormal(t *testing.T) {
	for in, want := range map[string]string{
		"/a-b._~/1": "/a-b._~/1", "/a b": "/a%20b", "/%61%2F%2f": "/a%2F%2F", "/%": "/%25",
		"/%g1%2": "/%25g1%252", "/?a=%2F&%3d#%2a": "/?a=/&=%23%2A", "/%3F%2F": "/%3F%2F",
		"/ä": "/%C3%A4", "/%c3%a4": "/%C3%A4",
		"/*$#": "/%2A%24%23", "/%2a%24": "/%2A%24", "": "", "/x?a=1&b": "/x?a=1&b",
	} {
		if got := string(selector.AppendNormal(nil, in)); got != want {
			t.Errorf("AppendNormal(%q) = %q, want %q", in, got, want)
		}
		if got := string(selector.AppendNormal(nil, want)); got != want {
			t.Errorf("the normal form of %q is %q, not itself", want, got)
		}
		if selector.IsNormal(in) && in != want {
			t.Errorf("IsNormal(%q)", in)
		}
	}
}

func FuzzEscapes(f *testing.F) {
	f.Add("a%20b#040c")
	f.Add("%2")
	f.Add("#0\xff\u009b")
	f.Fuzz(func(t *testing.T, s string) {
		if plain, ok := selector.Unescape(s); ok &&
			(len(plain) >= len(s) || strings.ContainsFunc(plain, func(r rune) bool {
				return r < ' '
			}) && !strings.ContainsFunc(s, func(r rune) bool {
				return r < ' '
			})) {
			t.Fatalf("Unescape(%q) = %q", s, plain)
		}
		normal := selector.AppendNormal(nil, s)
		if again := selector.AppendNormal(nil, string(normal)); !strings.Contains(s, "%") &&
			string(again) != string(normal) {
			t.Fatalf("the normal form of %q is %q, and of that %q", s, normal, again)
		}
		if clean := string(selector.AppendClean(nil, s)); selector.HasControl(clean) {
			t.Fatalf("AppendClean(%q) = %q", s, clean)
		}
	})
}
