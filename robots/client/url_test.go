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
		"gopher://h/1/a%09b?c", "gophers://H:7070", "http://[::1]:80/a?b#c", "https://user:word@h/%2e", "http://[fe80::1%25eth0]/", "gopher://h/é",
		"http://[fe80::1%25\x88th0]", "http://é%C3%A9/", "gophers://:H0707:", "gopher://[::1]:70:/",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, o, err := dial.ParseURL(raw, dial.FilePorts)
		if err != nil {
			return
		}
		for _, place := range robotsURLs(o) {
			if _, again, err := dial.ParseURL(place.String(), dial.FilePorts); err != nil || again != o {
				t.Errorf("%q: origin %v, that of %v is %v, %v", raw, o, place, again, err)
			}
		}
		selector := selectorOf(u)
		if o.Gopher() && strings.Contains(selector, "\t") {
			t.Errorf("%q: selector %q", raw, selector)
		}
		if !o.Gopher() && !strings.HasPrefix(selector, "/") {
			t.Errorf("%q: path %q", raw, selector)
		}
	})
}
