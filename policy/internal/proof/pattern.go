package proof

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Patterns are compared as text, with a star where any bytes may stand; literal stars
// are escaped in URI form.

func starred(p readers.Pattern) string {
	text := strings.Join(p.Pieces, "*")
	if !p.Whole {
		text += "*"
	}
	return text
}

// covers reports whether a matches everything b matches. It matches a against the text
// of b, whose stars count as a byte that no name contains.
func covers(a, b *readers.Pattern) bool {
	return strings.HasPrefix(b.Pieces[0], a.Pieces[0][:min(len(a.Pieces[0]), len(b.Pieces[0]))]) && a.Match(starred(*b))
}

// isLiteral reports whether a pattern is a plain prefix.
func isLiteral(p *readers.Pattern) bool { return len(p.Pieces) == 1 && !p.Whole }

// mayMeet reports whether some selector matches both patterns.
func mayMeet(a, b *readers.Pattern) bool {
	if !compatible(a.Pieces[0], b.Pieces[0]) {
		return false
	}
	return isLiteral(a) && isLiteral(b) || newMeeting(starred(*a), starred(*b)).possible()
}

// compatible reports whether one text begins with the other.
func compatible(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// meeting compares two patterns. ends is true at a pair of places if the rests of both
// patterns can match the same text.
type meeting struct {
	same string // how both begin
	a, b string
	fill bool   // where both have stars, a star stands in the text
	ends []bool // at place i of a and j of b: i*(len(b)+1)+j
}

func newMeeting(a, b string) *meeting {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] != '*' {
		n++
	}
	m := &meeting{same: a[:n], a: a[n:], b: b[n:]}
	m.ends = make([]bool, (len(m.a)+1)*(len(m.b)+1))
	for i := len(m.a); i >= 0; i-- {
		for j := len(m.b); j >= 0; j-- {
			m.ends[m.at(i, j)] = i == len(m.a) && j == len(m.b) || m.any(i, j, func(i, j int, _ string) bool { return m.ends[m.at(i, j)] })
		}
	}
	return m
}

func (m *meeting) at(i, j int) int { return i*(len(m.b)+1) + j }
func (m *meeting) possible() bool  { return m.ends[0] }

// any tries the ways on from a place, each with the bytes that both match there, until
// one does.
func (m *meeting) any(i, j int, try func(i, j int, text string) bool) bool {
	inA, inB := i < len(m.a), j < len(m.b)
	star := ""
	if m.fill && inA && inB && m.a[i] == '*' && m.b[j] == '*' {
		star = "*"
	}
	switch {
	case inA && m.a[i] == '*' && try(i+1, j, star):
		return true
	case inB && m.b[j] == '*' && try(i, j+1, star):
		return true
	case !inA || !inB:
		return false
	case m.a[i] == '*':
		return m.b[j] != '*' && try(i, j+1, m.b[j:j+1])
	case m.b[j] == '*':
		return try(i+1, j, m.a[i:i+1])
	}
	return m.a[i] == m.b[j] && try(i+1, j+1, m.a[i:i+1])
}

// common returns up to four texts that both match: those in which the pieces of one come
// as early as they can, once with nothing and once with a star where both have one.
func common(a, b *readers.Pattern) (texts []string) {
	if !compatible(a.Pieces[0], b.Pieces[0]) {
		return nil
	}
	x, y := starred(*a), starred(*b)
	for n := range 2 {
		m := newMeeting(x, y)
		m.fill = n == 1
		more, steps := 2, 0
		var walk func(i, j int, text string) bool
		walk = func(i, j int, text string) bool {
			if steps++; !m.ends[m.at(i, j)] || steps > 2000 {
				return steps > 2000
			}
			if i == len(m.a) && j == len(m.b) {
				if !slices.Contains(texts, text) {
					texts, more = append(texts, text), more-1
				}
				return more == 0
			}
			return m.any(i, j, func(i, j int, next string) bool { return walk(i, j, text+next) })
		}
		walk(0, 0, m.same)
		x, y = y, x
	}
	return texts
}

// below returns patterns, longer than an Allow, for the names below it that a Disallow
// matches. nothing is true if the Disallow matches all of them, if this is unknown, or if
// a pattern would continue the Allow's last name. For programs it counts for nothing.
// Allows with stars are handled only if stars is true, and then by their last piece.
func below(deny, allow *readers.Pattern, stars bool) (rest []readers.Pattern, nothing bool) {
	if allow.Whole || len(allow.Pieces) > 1 && !stars || !strings.HasPrefix(allow.Pieces[0], deny.Pieces[0]) {
		return nil, true
	}
	end := allow.Pieces[len(allow.Pieces)-1] // in it pieces are looked for
	if len(allow.Pieces) == 1 {
		end = end[len(deny.Pieces[0]):]
	}
	left := deny.Pieces[1:]
	for len(left) > 1 || len(left) == 1 && !deny.Whole {
		at := strings.Index(end, left[0])
		if at < 0 {
			break
		}
		end, left = end[at+len(left[0]):], left[1:]
	}
	if len(left) == 0 {
		return nil, true
	}
	add := func(first string, pieces []string) {
		p := readers.Pattern{Whole: deny.Whole}
		p.Pieces = append(p.Pieces, allow.Pieces...)
		p.Pieces[len(p.Pieces)-1] += first
		p.Pieces = append(p.Pieces, pieces...)
		p.Size = sizeOf(p)
		rest = append(rest, p)
	}
	add("", left)
	most := len(left[0]) - 1
	if deny.Whole && len(left) == 1 {
		most++ // the end is a byte of the last piece
	}
	for n := 1; n <= most; n++ {
		if strings.HasSuffix(end, left[0][:n]) {
			next := left[0][n:]
			add(next, left[1:])
			nothing = nothing || next != "" && next[0] != '/' && !strings.HasSuffix(end, "/")
		}
	}
	return rest, nothing
}
