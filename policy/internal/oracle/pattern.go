package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// Escape returns the URI form of a selector.
func Escape(s string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!&'()+,;=:@/"
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(plain, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			_, _ = fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// place puts a pattern below a directory, in URI form. It returns "" if no request can
// contain one of its bytes.
func place(dir, pattern string) string {
	if !strings.HasPrefix(pattern, "/") {
		pattern = "/" + pattern
	}
	text := Escape(strings.TrimSuffix(dir, "/"))
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '*', c == '$' && i == len(pattern)-1:
			text += string(c)
			continue
		case c == '%' && i+2 < len(pattern) && strings.Trim(pattern[i+1:i+3], "0123456789abcdefABCDEF") == "":
			_, _ = fmt.Sscanf(pattern[i+1:i+3], "%2x", &c)
			i += 2
		}
		if strings.IndexByte("\r\n\t\x00", c) >= 0 {
			return ""
		}
		text += Escape(string([]byte{c}))
	}
	return text
}

// Match reports whether a pattern matches a selector, both in URI form. It tries every
// length for every star.
func Match(p, s string) bool {
	switch {
	case p == "":
		return true
	case p == "$":
		return s == ""
	case p[0] == '*':
		p = strings.TrimLeft(p, "*")
		for i := range len(s) + 1 {
			if Match(p, s[i:]) {
				return true
			}
		}
		return false
	}
	return s != "" && p[0] == s[0] && Match(p[1:], s[1:])
}

// tokens writes out the star that ends each pattern without a $.
func tokens(p string) string {
	if whole, ok := strings.CutSuffix(p, "$"); ok {
		return whole
	}
	return p + "*"
}

// Meet returns text that two patterns match, if there is any: the shortest way through
// both automata at once.
func Meet(p, q string) (string, bool) {
	p, q = tokens(p), tokens(q)
	dead := make([]bool, (len(p)+1)*(len(q)+1))
	var walk func(i, j int) (string, bool)
	walk = func(i, j int) (string, bool) {
		if i == len(p) && j == len(q) {
			return "", true
		}
		at := i*(len(q)+1) + j
		if dead[at] {
			return "", false
		}
		dead[at] = true // where it is met again nothing else is found
		type step struct {
			i, j int
			text string
		}
		var steps []step
		if i < len(p) && p[i] == '*' {
			if steps = append(steps, step{i + 1, j, ""}); j < len(q) {
				steps = append(steps, step{i, j + 1, strings.Trim(q[j:j+1], "*")})
			}
		}
		if j < len(q) && q[j] == '*' {
			if steps = append(steps, step{i, j + 1, ""}); i < len(p) {
				steps = append(steps, step{i + 1, j, strings.Trim(p[i:i+1], "*")})
			}
		}
		if i < len(p) && j < len(q) && p[i] == q[j] {
			steps = append(steps, step{i + 1, j + 1, strings.Trim(p[i:i+1], "*")})
		}
		for _, s := range steps {
			if text, ok := walk(s.i, s.j); ok {
				return s.text + text, true
			}
		}
		return "", false
	}
	return walk(0, 0)
}

// covers reports whether c matches everything a matches. It replaces the stars of a
// with a byte that stands in no pattern: only a star of c matches that byte.
func covers(c, a string) bool { return Match(c, strings.ReplaceAll(tokens(a), "*", "\n")) }

// remains returns the rests of d behind literal text: a name that begins with text and
// matches d continues with a match of a rest. ok is false if every such name matches d.
func remains(d, text string) (rest []string, ok bool) {
	star := ""
	for _, r := range behind(d, text) {
		if strings.Trim(r, "*") == "" {
			return nil, false
		}
		if r[0] == '*' && (star == "" || len(r) < len(star)) {
			star = r // the shortest one covers all the others
		}
	}
	for _, r := range behind(d, text) {
		if r == star || star == "" || len(r) < len(star)-1 {
			rest = append(rest, r)
		}
	}
	slices.Sort(rest)
	return slices.Compact(rest), true
}

func behind(d, text string) []string {
	switch {
	case text == "" || d == "":
		return []string{d}
	case d[0] == '*':
		return append(behind(d[1:], text), behind(d, text[1:])...)
	case d[0] == text[0]:
		return behind(d[1:], text[1:])
	}
	return nil
}
