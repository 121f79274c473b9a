package client

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/internal/dial"
)

// FuzzURL proves that the robots file of an URL has the origin of that URL, and
// that what the rules are held against is one selector, or one path.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"gopher://h/1/a%09b?c", "gophers://H:7070", "http://[::1]:80/a?b#c",
		"https://user:word@h/%2e", "http://[fe80::1%25eth0]/", "gopher://h/é",
		"http://[fe80::1%25\x88th0]", "http://é%C3%A9/", "gophers://:H0707:", "gopher://[::1]:70:/",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, o, err := parse(raw)
		if err != nil {
			return
		}
		for _, place := range robotsURLs(o) {
			if _, again, err := dial.ParseURL(place.String(),
				dial.FilePorts); err != nil || again != o {
				t.Errorf("%q: origin %v, that of %v is %v, %v", raw, o, place, again, err)
			}
		}
		selector := target(u)
		if o.Gopher() && strings.Contains(selector, "\t") {
			t.Errorf("%q: selector %q", raw, selector)
		}
		if !o.Gopher() && (!strings.HasPrefix(selector, "/") ||
			strings.Contains(strings.SplitN(selector, "?", 2)[0]+"/", "/../")) {
			t.Errorf("%q: path %q", raw, selector)
		}
	})
}

func TestTarget(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h":                    "/",
		"http://h?q":                  "/?q",
		"http://h/a/../private/x":     "/private/x",
		"http://h/a/%2e%2E/private/x": "/private/x",
		"http://h/./a/.":              "/a/",
		"http://h/a/b/..":             "/a/",
		"http://h/../../a":            "/a",
		"http://h/a//b/?x=/../y":      "/a//b/?x=/../y",
		"http://h/...":                "/...",
		"http://h/100%":               "/100%25",
		"http://h/a%zz?%":             "/a%25zz?%25",
		"http://h/a%2fb":              "/a%2fb",
		"http://h/a b#c":              "/a%20b",
		"http://[fe80::1%25eth0]/a%":  "/a%25",
		"gopher://h/1/a/../b":         "/a/../b",
		"gopher://h/0/100%":           "/100%",
		"gopher://h/7/find%09red":     "/find",
		"gopher://h/0/cgi?a":          "/cgi?a",
	} {
		if u, _, err := parse(raw); err != nil || target(u) != want {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}
