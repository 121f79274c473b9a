package policy

import "testing"

// TestEverything: what denies all is written for selectors without a leading slash,
// too, the last line of its group; what denies the root's menu alone is not.
func TestEverything(t *testing.T) {
	for text, want := range map[string]string{
		"Disallow: /\n":                 "User-agent: *\nDisallow: /\nDisallow: *\n",
		"Disallow: /\nAllow: /a\n":      "User-agent: *\nAllow: /a\nDisallow: /\nAllow: a\nDisallow: *\n",
		"Disallow: *\n":                 "User-agent: *\nDisallow: /*\nDisallow: /\nDisallow: *\n",
		"Disallow: /\nDisallow: /b\n":   "User-agent: *\nDisallow: /b\nDisallow: /\nDisallow: b\nDisallow: *\n",
		"Disallow: /$\nDisallow: /b/\n": "User-agent: *\nDisallow: /$\nDisallow: /b/\nDisallow: /\nAllow: /\nDisallow: b/\n",
	} {
		if got := string(compileOf(map[string]string{".robots": text}, "a").File()); got != header+"\n"+want {
			t.Errorf("%q:\n%s", text, got)
		}
	}
}

func TestEditDistance(t *testing.T) {
	long := "123456789012345678901234567890123456789012345678901234567890abcd"
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"drafts", "drafts", 0}, {"draft", "drafts", 1}, {"drafts", "draft", 1}, {"drafts", "darfts", 2}, {"", "ab", 2}, {"ab", "", 2},
		{"abc", "abd", 1}, {"abcd", "bcd", 1}, {"a", "abcd", 3}, {"abcd", "a", 3}, {"abc", "xyz", 3}, {"abcdef", "uvwxyz", 3},
		{long, long, 0}, {long, long[1:], 1}, {long[1:], long, 1}, {long + "x", long + "x", 3}, {long, long + "x", 3},
	} {
		if got := editDistance(test.a, test.b, 3); got != test.want {
			t.Errorf("%q to %q: %d, not %d", test.a, test.b, got, test.want)
		}
	}
	if near("disallow", "disallow") || !near("disalow", "disallow") || near("dislow", "disallow") {
		t.Error("what is near Disallow")
	}
}
