package selector_test

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
)

// TestDecoded: a selector has at most one decoded form.
func TestDecoded(t *testing.T) {
	for in, want := range map[string]string{
		"a": "", "%": "", "%2": "", "a%zz": "", "%00": "", "a%09b": "", "%7f": "", "%1B": "",
		"a%20b%": "", "a%20b": "a b", "%252e": "%2e", "a#040b": "a b", "#045": "%", "a#40": "",
		"a#": "", "#777": "", "a#b%20c": "a#b c", "#303#274": "ü", "#000": "", "a#011b": "",
		"#177": "", "#056#056/": "../", "%2e%2E/": "../", "%c3%bc": "ü",
	} {
		if got := strings.Join(selector.Forms(in), " "); got != want {
			t.Errorf("Forms(%q) = %q, want %q", in, got, want)
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
		forms := selector.Forms(in)
		if len(forms) != 1 {
			t.Fatalf("Forms(%q) = %q", in, forms)
		}
		if name, _, err := selector.Path(forms[0]); err == nil {
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
		isControl := func(r rune) bool { return r < ' ' }
		for _, form := range selector.Forms(s) {
			if len(form) >= len(s) ||
				strings.ContainsFunc(form, isControl) && !strings.ContainsFunc(s, isControl) {
				t.Fatalf("Forms(%q): %q", s, form)
			}
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
