package web

import (
	"strings"
	"testing"
)

// TestPage: every path gets the gopher URL of what it names, /robots.txt what the
// handler has.
func TestPage(t *testing.T) {
	s := unread(t, func(s *served) { s.pages.AddressOnly = true })
	s.write("README", "a text\n")
	s.read()
	s.shows(map[string][]string{
		"/":                             {"<a href=\"gopher://gopher.example/\">"},
		"/q":                            {"gopher://gopher.example/1/q"},
		"/a.txt":                        {"gopher://gopher.example/0/a.txt"},
		"/README":                       {"gopher://gopher.example/0/README"},
		`/%22%3E%3Cscript%3Ealert(1)`:   {"gopher.example/1/%22%3E%3Cscript%3Ealert(1)", "!<script"},
		"/" + strings.Repeat("x", 3000): {"gopher.example/1/xxx"},
		"/robots.txt":                   {"Disallow: "},
		"/a%0d%0aX:y":                   {"This is no path"},
	})
}
