package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestEverything: what denies all is written for selectors without a leading slash,
// too, the last line of its group; what denies the root's menu alone is not. What an
// Allow of the same pattern undoes is not written. A name stands there as it is, too,
// unless RFC 9309 would read an escape in it.
func TestEverything(t *testing.T) {
	for text, want := range map[string]string{
		"Disallow: /\n":               "User-agent: *\nDisallow: /\nDisallow: *\n",
		"Disallow: /\nAllow: /a\n":    "User-agent: *\nAllow: /a\nDisallow: /\nAllow: a\nDisallow: *\n",
		"Disallow: *\n":               "User-agent: *\nDisallow: /*\nDisallow: /\nDisallow: *\n",
		"Disallow: /\nDisallow: /b\n": "User-agent: *\nDisallow: /b\nDisallow: /\nDisallow: b\nDisallow: *\n",
		"Allow: /b\nDisallow: /b\n":   "User-agent: *\nDisallow: /.robots\nAllow: /b\nAllow: b\n",
		"Disallow: /b\nAllow: /b\n":   "User-agent: *\nDisallow: /.robots\nAllow: /b\nAllow: b\n",
		"Disallow: /a b1/\n":          "User-agent: *\nDisallow: /a b1/\nDisallow: /a%20b1/\nDisallow: a b1/\nDisallow: a%20b1/\n",
		"Disallow: /1%x/\n":           "User-agent: *\nDisallow: /1%25x/\nDisallow: /1%x/\nDisallow: 1%25x/\nDisallow: 1%x/\n",
		"Disallow: /b\nAllow: /a$\n":  "User-agent: *\nAllow: /a$\nDisallow: /b\nAllow: a$\nDisallow: b\n",
		"Disallow: /\nAllow: /a*\n":   "User-agent: *\nAllow: /a*\nDisallow: /\nAllow: a*\nDisallow: *\n",
		"Disallow: /a*b\nDisallow: /aab$\n": "User-agent: *\nDisallow: /a*b\nDisallow: /aab$\nDisallow: a*b\nDisallow: aab$\n" +
			"\nUser-agent: veronica\nDisallow: /a*b\nDisallow: /aab\nDisallow: a*b\nDisallow: aab\n",
		"Disallow: /$\nDisallow: /b/\n": "User-agent: *\nDisallow: /$\nDisallow: /b/\nDisallow: /\nAllow: /\nDisallow: b/\n",
		"Disallow: /a$\nDisallow: /ab$\n": "User-agent: *\nDisallow: /a$\nDisallow: /ab$\nDisallow: /ab\nAllow: /ab\nDisallow: /a\nAllow: /a\n" +
			"Disallow: a$\nDisallow: ab$\nDisallow: ab\nAllow: ab\nDisallow: a\nAllow: a\n",
		"Disallow: /a*longer\nDisallow: /ab$\n": "User-agent: *\nDisallow: /a*longer\nDisallow: /ab$\nDisallow: /ab\nAllow: /ab\n" +
			"Disallow: a*longer\nDisallow: ab$\nDisallow: ab\nAllow: ab\n",
		"Disallow: /a%24\n": "User-agent: *\nDisallow: /a%24\nDisallow: /a%2524\nDisallow: a%24\nDisallow: a%2524\n" +
			"\nUser-agent: veronica\nDisallow: /a%24\nDisallow: /a\nDisallow: a%24\nDisallow: a\n",
		"Disallow: /a%24*b\n": "User-agent: *\nDisallow: /a$*b\nDisallow: /a%24*b\nDisallow: /a%2524*b\nDisallow: a$*b\nDisallow: a%24*b\nDisallow: a%2524*b\n" +
			"\nUser-agent: veronica\nDisallow: /a$*b\nDisallow: /a%24*b\nDisallow: a$*b\nDisallow: a%24*b\n",
		"Disallow: /é\n": "User-agent: *\nDisallow: %C3%A9\nDisallow: /%C3%A9\nDisallow: /é\nDisallow: é\n",
		"Disallow: /a%2Ab\n": "User-agent: *\nDisallow: /a%252Ab\nDisallow: /a%2Ab\nDisallow: a%252Ab\nDisallow: a%2Ab\n" +
			"\nUser-agent: veronica\nDisallow: /a%2Ab\nDisallow: /a*b\nDisallow: a%2Ab\nDisallow: a*b\n",
		"Disallow: /a\x80b\n": "User-agent: *\nDisallow: /a%80b\nDisallow: a%80b\n" +
			"\nUser-agent: veronica\nDisallow: /a*b\nDisallow: a*b\n",
		"Disallow: / a%41\n": "User-agent: *\nDisallow: %20a%2541\nDisallow: %20aA\nDisallow: / aA\nDisallow: /%20a%2541\nDisallow: /%20aA\n" +
			"\nUser-agent: veronica\nDisallow: *a%41\nDisallow: *aA\nDisallow: /*a%41\nDisallow: /*aA\n",
		"Disallow: /%41$$\n": "User-agent: *\nDisallow: %2541%24$\nDisallow: /%2541%24$\nDisallow: /A$$\nDisallow: /A%24$\nDisallow: A$$\nDisallow: A%24$\n" +
			"\nUser-agent: veronica\nDisallow: %41\nDisallow: /%41\nDisallow: /A\nDisallow: A\n",
	} {
		if got := string(compileOf(map[string]string{".robots": text}, "a").File()); got != header+"\n"+want {
			t.Errorf("%q:\n%s", text, got)
		}
	}
}

// TestPlaced: the lines of "Disallow: /x" and "Disallow: /y$" in a directory whose name
// needs care, without those for selectors that lack a leading slash.
func TestPlaced(t *testing.T) {
	for dir, want := range map[string][]string{
		"a b":  {"/a b/x", "/a b/y$", "/a b/y", "/a b/y", "/a%20b/x", "/a%20b/y$"},
		" b":   {"/ b/x", "/ b/y$", "/%20b/x", "/%20b/y$", "User-agent: veronica", "/*b/x", "/*b/y"},
		"d/ b": {"/d/ b/x", "/d/ b/y$", "/d/ b/y", "/d/ b/y", "/d/%20b/x", "/d/%20b/y$"},
		"b ":   {"/b /x", "/b /y$", "/b /y", "/b /y", "/b%20/x", "/b%20/y$"},
		"b$":   {"/b$/x", "/b$/y$", "/b$/y", "/b$/y", "/b%24/x", "/b%24/y$"},
		"#":    {"/%23/x", "/%23/y$", "User-agent: veronica", "/*/x", "/*/y"},
	} {
		file := string(compileOf(map[string]string{dir + "/.robots": "Disallow: /x\nDisallow: /y$\n"}, "a").File())
		var got []string
		for line := range strings.Lines(strings.TrimPrefix(file, header+"\nUser-agent: *\n")) {
			line = strings.TrimSuffix(line, "\n")
			if _, pattern, _ := strings.Cut(line, "llow: "); strings.HasPrefix(pattern, "/") {
				got = append(got, pattern)
			} else if pattern == "" && line != "" {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q\n%s", dir, got, want, file)
		}
	}
}
