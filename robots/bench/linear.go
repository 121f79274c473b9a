package bench

import "strings"

// agent is who asks.
const agent = "mybot"

// Linear matches as most libraries do: it tries one rule after the other. It
// reads only what the benchmarks write: one group, rules without "$".
type Linear struct{ patterns []string }

// NewLinear collects the Disallow lines of a file.
func NewLinear(file string) *Linear {
	var l Linear
	for line := range strings.Lines(file) {
		if p, ok := strings.CutPrefix(line, "Disallow: "); ok {
			l.patterns = append(l.patterns, strings.TrimSpace(p))
		}
	}
	return &l
}

// Allowed reports whether no pattern matches; the longest is looked for, as a
// matcher must that knows Allow.
func (l *Linear) Allowed(path string) bool {
	longest := 0
	for _, p := range l.patterns {
		if len(p) > longest && matches(p, path) {
			longest = len(p)
		}
	}
	return longest == 0
}

// matches tries, at a mismatch, one byte more for the last star.
func matches(p, s string) bool {
	i, j, star, back := 0, 0, -1, 0
	for i < len(p) {
		switch {
		case p[i] == '*':
			star, back = i, j
			i++
		case j < len(s) && p[i] == s[j]:
			i++
			j++
		case star < 0 || back >= len(s):
			return false
		default:
			back++
			i, j = star+1, back
		}
	}
	return true
}
