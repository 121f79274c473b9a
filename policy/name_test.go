package policy

import (
	"strings"
	"testing"
)

// TestNames has each kind of name that needs care, and what is written for it.
func TestNames(t *testing.T) {
	for _, test := range []struct {
		name string
		tree *Dir
		want []string
	}{
		{"hash, cut", tree("a#b", "x", ".robots\tDisallow: /a"), []string{"Disallow: /a", "Disallow: a"}},
		{"hash, a star in its place", tree("a#b", "acb", "ab", ".robots\tDisallow: /a%23"), []string{
			"Allow: /acb$", "Allow: /ab$", "Allow: acb$", "Disallow: /a*b", "Allow: ab$", "Disallow: a*b"}},
		{"star, cut", tree("a*b", "x", ".robots\tDisallow: /a"), []string{"Disallow: /a", "Disallow: a"}},
		{"dollar", tree("a$", "a", "ab", ".robots\tDisallow: /a%24"), []string{
			"Disallow: /a%24", "Disallow: a%24", "Allow: /a$", "Disallow: /a$", "Allow: a$", "Disallow: a$"}},
		{"blank at the end", tree("d/a ", "d/ab", "d/.robots\tDisallow: /a%20"), []string{
			"Allow: /d/ab$", "Allow: d/ab$", "Disallow: /d/a", "Disallow: d/a"}},
		{"percent", tree("x%41", "y", ".robots\tDisallow: /xA"), []string{"Disallow: /x%41", "Disallow: x%41"}},
		{"not ASCII", tree("é", "y", ".robots\tDisallow: /é"), []string{
			"Disallow: /%C3%A9", "Disallow: /é", "Disallow: %C3%A9", "Disallow: é"}},
		{"begun in normal form only", tree("xA", "x%41d/secret", "x%41d/open", ".robots\tDisallow: /xA$", "x%41d/.robots\tDisallow: /secret"), []string{
			"Disallow: /x%41d/secret", "Allow: /x%41d/open$", "Disallow: x%41d/secret", "Allow: x%41d/open$",
			"Allow: /x%41d/$", "Allow: /x%41d$", "Allow: x%41d/$", "Allow: x%41d$", "Disallow: /xA", "Disallow: xA"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Compile(test.tree, nil)
			if len(c.Unproven()) > 0 {
				t.Errorf("unproven: %v", c.Unproven())
			}
			want := "User-agent: *\n" + strings.Join(test.want, "\n") + "\n"
			if got := string(c.File()); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}
