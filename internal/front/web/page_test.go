package web

import (
	"strings"
	"testing"
)

// TestPage: every path gets the gopher URL of what it names, /robots.txt what the
// handler has.
func TestPage(t *testing.T) {
	hole["README"] = "a text\n"
	defer delete(hole, "README")
	s := start(t, func(s *served) { s.pages.AddressOnly = true })
	for path, want := range map[string]string{
		"/":                             "<a href=\"gopher://gopher.example/\">",
		"/q":                            "gopher://gopher.example/1/q",
		"/a.txt":                        "gopher://gopher.example/0/a.txt",
		"/README":                       "gopher://gopher.example/0/README",
		`/%22%3E%3Cscript%3Ealert(1)`:   "gopher.example/1/%22%3E%3Cscript%3Ealert(1)",
		"/" + strings.Repeat("x", 3000): "gopher.example/1/xxx",
		"/robots.txt":                   "Disallow: ",
		"/a%0d%0aX:y":                   "This is no path",
	} {
		res, body := s.get(path)
		if !strings.Contains(body, want) || strings.Contains(body, "<script") {
			t.Errorf("%.60s: %d, no %q in\n%s", path, res.StatusCode, want, body)
		}
	}
}
