// Package robotstest makes robots files and servers for the tests of the packages
// below robots.
package robotstest

import (
	"math/rand/v2"
	"strings"
)

// pieces make files and selectors that have something to do with each other.
var (
	filePieces = []string{
		"User-agent: *\n", "User-agent: foo\n", "user-agent:foo/1.0\r\n", "User-agent: Foobar\n",
		"Disallow: ", "Allow: ", "Disallow:", "\n", "\r", "\r\n", "\n\n", " # note\n",
		"#", " #", "\t",
		"/", "a", "b", "*", "$", "/a/", "/a", "a*b", "%41", "%2f", "%2A", "%24", "é", "%", "?", "=",
		"%3D", "User-agent: *foo*\n", "User-agent: bar*\n", "/a$", "/*a", "a/\n",
		"Crawl-delay: 3\n", "Content-Usage: train-ai=n\n", "Content-Usage: /a search=y\n",
		"Robot-version: 2.0\n", "Robot-version: 2.1\n", "Robot-version: 1.1\n", "Sitemap: x\n",
		"\x00", "\ufeff", ":", "nonsense\n",
	}
	selectorPieces = []string{"/", "a", "b", "A", "*", "$", "%41", "%2f", "%2F", "é", "%C3%A9", "%",
		"/a/", "http://h", "?", "?", "=", "%3d", "#", ":"}
)

// Text is up to most of the pieces.
func Text(rnd *rand.Rand, pieces []string, most int) string {
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// File is text at random, or, half of the time, rules that often match.
func File(rnd *rand.Rand) []byte {
	if rnd.IntN(2) == 0 {
		return []byte(Text(rnd, filePieces, 40))
	}
	var b strings.Builder
	b.WriteString("User-agent: *\nUser-agent: foo\n")
	for range rnd.IntN(8) {
		b.WriteString([]string{"Disallow: ", "Allow: ", "User-agent: foo\nDisallow: ",
			"Disallow: *"}[rnd.IntN(4)])
		b.WriteString([]string{"/", "/", "", "*"}[rnd.IntN(4)] +
			Text(rnd, []string{"a", "b", "*", "$", "/", "%61", "?", "%2F", "%", "%3f"}, 4) + "\n")
	}
	return []byte(b.String())
}

// Selector is a selector that the rules of a File may match.
func Selector(rnd *rand.Rand) string { return Text(rnd, selectorPieces, 8) }
