package policy

import "testing"

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
	} {
		if got := string(compileOf(map[string]string{".robots": text}, "a").File()); got != header+"\n"+want {
			t.Errorf("%q:\n%s", text, got)
		}
	}
}
