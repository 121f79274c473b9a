package proof

import (
	"maps"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/sites"
)

// inputOf is a site with a file.
func inputOf(s sites.Site, file []byte) Input {
	in := Input{Programs: s.Programs, File: file}
	for _, n := range s.Notes {
		in.Notes = append(in.Notes, Note(n))
	}
	return in
}

// TestCases compares the policy with the sentences about it, which list what robots may
// fetch (+), must not fetch (-), and what is preferred there.
func TestCases(t *testing.T) {
	for _, c := range sites.Cases {
		policies := Read(inputOf(c.Site, nil))
		for _, want := range c.Want {
			words := strings.Split(want, " ")
			p := policies.For(words[0])
			sel, states := "", map[string]string{}
			for _, word := range append(words[1:], "+") {
				if key, value, ok := strings.Cut(word, "="); ok && !strings.ContainsAny(word[:1], "+-") {
					states[key] = value
					continue
				}
				if got := p.Prefers(sel); sel != "" && !maps.Equal(got, states) && len(states) > 0 {
					t.Errorf("%s: %s at %s: %v, not %v", c.Name, words[0], sel, got, states)
				}
				clear(states)
				if sel = word[1:]; sel != "" && p.Decide(sel).Allowed != (word[0] == '+') {
					t.Errorf("%s: %s: %s, but %+v", c.Name, words[0], word, p.Decide(sel))
				}
			}
		}
	}
}
