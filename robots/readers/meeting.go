package readers

import "strings"

// ParsePattern parses a pattern with stars and a $ at its end. Its Size is the length of
// the text.
func ParsePattern(text string) Pattern {
	body, whole := strings.CutSuffix(text, "$")
	p := Pattern{
		Pieces: strings.Split(body, "*"),
		Whole:  whole,
		Size:   len(text),
	}
	if n := len(p.Pieces); n > 1 && p.Pieces[n-1] == "" {
		p.Whole = false // any bytes, and the end
	}
	return p
}

// String is the inverse of [ParsePattern].
func (p *Pattern) String() string {
	text := strings.Join(p.Pieces, "*")
	if p.Whole || strings.HasSuffix(text, "*") && p.Size == len(text)+1 {
		text += "$"
	}
	return text
}

// A pattern without $ ends with a star. So each pattern is a list of texts with a star
// between two of them; the first begins the selector and the last ends it.

// texts returns that list. A run of stars is one star.
func (p *Pattern) texts() []string {
	list := make([]string, 0, len(p.Pieces)+1)
	for i, piece := range p.Pieces {
		if i == 0 || piece != "" {
			list = append(list, piece)
		}
	}

	if !p.Whole || len(p.Pieces) > 1 && p.Pieces[len(p.Pieces)-1] == "" {
		list = append(list, "")
	}
	return list
}

// patternOf is the inverse of texts.
func patternOf(texts []string) Pattern {
	p := Pattern{Pieces: texts, Whole: true}
	if last := len(texts) - 1; last > 0 && texts[last] == "" {
		p = Pattern{Pieces: texts[:last]}
	}

	p.Size = len(strings.Join(p.Pieces, "*"))
	if p.Whole {
		p.Size++
	}
	return p
}

// ends returns the text that ends each selector that the pattern matches.
func (p *Pattern) ends() string {
	if !p.Whole {
		return ""
	}
	return p.Pieces[len(p.Pieces)-1]
}

// isName reports whether the pattern matches one selector only.
func (p *Pattern) isName() bool { return p.Whole && len(p.Pieces) == 1 }

// Covers reports whether p matches everything that q matches.
func (p *Pattern) Covers(q *Pattern) bool {
	if !strings.HasPrefix(q.Pieces[0], p.Pieces[0]) {
		return false
	}
	if len(p.Pieces) == 1 && !p.Whole {
		return true
	}

	// Put a byte that p lacks in place of each star of q. Only a star of p can match it,
	// and that star matches all other bytes as well.
	star := byte('\n')
	for strings.IndexByte(strings.Join(p.Pieces, ""), star) >= 0 {
		star++
	}
	return p.Match(strings.Join(q.texts(), string([]byte{star})))
}

// Meets reports whether p and q match a common selector.
func (p *Pattern) Meets(q *Pattern) bool {
	switch {
	case p.isName():
		return q.Match(p.Pieces[0])
	case q.isName():
		return p.Match(q.Pieces[0])
	}

	// The longer beginning, all texts between, and the longer end make a common selector.
	head, other := p.Pieces[0], q.Pieces[0]
	if !strings.HasPrefix(head, other) && !strings.HasPrefix(other, head) {
		return false
	}
	tail, other := p.ends(), q.ends()
	return strings.HasSuffix(tail, other) || strings.HasSuffix(other, tail)
}

// Bounds of [Pattern.Meeting].
const (
	maxMeetingStars = 3       // of both patterns, before their ends
	maxMeeting      = 16      // patterns in the result
	maxMeetingTried = 1000    // patterns before the covered ones are dropped
	maxMeetingBytes = 1 << 20 // compared
)

// Meeting returns patterns that together match exactly what both p and q match. None of
// them covers another, and their Size is the length of their text. They are in an order
// that p and q determine. ok is false if there are more than 16, if p and q have more
// than three stars before their ends, or if the patterns are too long to compare.
func (p *Pattern) Meeting(q *Pattern) (list []Pattern, ok bool) {
	if !p.Meets(q) {
		return nil, true
	}
	x, y := p.texts(), q.texts()
	stars := len(x) + len(y) - 2
	for _, texts := range [][]string{x, y} {
		if len(texts) > 1 && texts[len(texts)-1] == "" {
			stars--
		}
	}
	if stars > maxMeetingStars {
		return nil, false
	}

	// Align the beginnings: the shorter one ends inside of the longer one.
	if len(x[0]) > len(y[0]) || len(x[0]) == len(y[0]) && len(x) == 1 {
		x, y = y, x
	}
	m := meeting{bytes: maxMeetingBytes}
	if len(x) == 1 {
		m.found = [][]string{x}
	} else {
		m.walk([]string{x[0]}, after(y, len(x[0])), x[1:])
	}
	if m.bytes < 0 || len(m.found) > maxMeetingTried {
		return nil, false
	}

	// Drop what others cover; of equal ones the first stays.
	all := make([]Pattern, len(m.found))
	for i, texts := range m.found {
		all[i] = patternOf(texts)
	}
	for i := range all {
		covered := false
		for j := range all {
			covered = covered || i != j && all[j].Covers(&all[i]) &&
				(j < i || !all[i].Covers(&all[j]))
		}
		if !covered {
			list = append(list, all[i])
		}
	}
	if len(list) > maxMeeting {
		return nil, false
	}
	return list, true
}

// meeting collects the ways in which two patterns interleave.
type meeting struct {
	found [][]string
	bytes int // may still be compared
}

// walk adds what follows done. The first text of fixed comes next; the texts of loose may
// begin there or later.
func (m *meeting) walk(done, fixed, loose []string) {
	text, next := fixed[0], loose[0]
	if m.bytes -= len(text) + len(next); m.bytes < 0 || len(m.found) > maxMeetingTried {
		return
	}

	if len(loose) == 1 {
		if next == "" {
			m.found = append(m.found, join(done, fixed))
			return
		}
		if len(fixed) == 1 {
			if strings.HasSuffix(text, next) {
				m.found = append(m.found, join(done, fixed))
			}
			return
		}
	} else if at := strings.Index(text, next); at >= 0 {
		// The first place inside of the text leaves most to what follows.
		at += len(next)
		m.walk(join(done, []string{text[:at]}), after(fixed, at), loose[1:])
		return
	}
	if len(fixed) == 1 {
		return
	}

	// next begins inside of the text, and fixed goes on behind it ...
	done = join(done, []string{text})
	for n := min(len(text), len(next)); n > 0; n-- {
		if m.bytes -= n; m.bytes < 0 {
			return
		}
		if strings.HasPrefix(next, text[len(text)-n:]) {
			m.walk(done, after(loose, n), fixed[1:])
		}
	}

	// ... or both go on behind a star.
	done = append(done, "")
	m.walk(done, fixed[1:], loose)
	m.walk(done, loose, fixed[1:])
}

// after returns texts without the first n bytes of the first one.
func after(texts []string, n int) []string {
	return append([]string{texts[0][n:]}, texts[1:]...)
}

// join returns a copy of a list with texts appended; the first of them continues its last
// text.
func join(list, texts []string) []string {
	last := len(list) - 1
	joined := append([]string{}, list[:last]...)
	joined = append(joined, list[last]+texts[0])
	return append(joined, texts[1:]...)
}
