package policy

import (
	"bytes"
	"strings"
)

// Patterns are matched while the tree is walked, not selector by selector. What
// a pattern has matched of a directory's selector it has matched of everything
// below, so only the rest is carried down:
//
//   - a pattern that differs from the directory's selector is dropped,
//   - one that is matched to its end holds for all below, and only the longest
//     of these is kept,
//   - of the others the walk remembers which piece between the stars comes next
//     and from where on to look for it: the leftmost place is always as good as
//     any later one.
//
// Most directories so carry no pattern at all, whatever the annotations above
// them say, and are decided without being looked at.

// pattern is the value of a rule below its directory: pieces in normal form with
// stars between them. It is compared with what follows the directory's own
// selector, which begins with a slash.
type pattern struct {
	pieces [][]byte // at least one
	anchor bool     // it ends in $
	size   int      // octets in normal form, * and $ as one each
}

// newPattern reads a value as RFC 9309 does (R7). A missing slash in front is put
// there, so that "drafts/" and "/drafts/" are the same.
func newPattern(value string) pattern {
	if value[0] != '/' && value[0] != '*' {
		value = "/" + value
	}
	var p pattern
	value, p.anchor = strings.CutSuffix(value, "$")
	for piece := range strings.SplitSeq(value, "*") {
		p.pieces = append(p.pieces, appendNormal(nil, piece))
		p.size += len(p.pieces[len(p.pieces)-1]) + 1
	}
	if !p.anchor {
		p.size--
	}
	return p
}

// all reports whether the pattern matches everything from piece i on.
func (p *pattern) all(i int) bool {
	last := len(p.pieces) - 1
	return i > last || p.anchor && i == last && i > 0 && len(p.pieces[last]) == 0
}

// live is a rule on the way down: what is left to match of it.
type live struct {
	rule  *rule
	base  int // where its directory's selector ends: the pattern begins there
	piece int // the next one
	from  int // where it may begin
}

func (l *live) size() int { return l.base + l.rule.pattern.size }

// step says what became of a rule.
type step uint8

const (
	dead step = iota // it can match nothing below
	open             // it may
	full             // it matches all below
)

// advance matches as much as sel, the beginning of selectors, allows.
func (l *live) advance(sel []byte) step {
	p := &l.rule.pattern
	if l.piece == 0 {
		if s := l.head(sel); s != full {
			return s
		}
	}
	for ; !p.all(l.piece); l.piece++ {
		piece := p.pieces[l.piece]
		if p.anchor && l.piece == len(p.pieces)-1 {
			return open
		}
		i := bytes.Index(sel[l.from:], piece)
		if i < 0 {
			l.from = max(l.from, len(sel)-len(piece)+1)
			return open
		}
		l.from += i + len(piece)
	}
	return full
}

// head matches the first piece, which stands at the beginning. It is full when
// the next one may be looked for.
func (l *live) head(sel []byte) step {
	p := &l.rule.pattern
	piece, rest := p.pieces[0], sel[l.base:]
	switch {
	case len(rest) < len(piece):
		if !bytes.HasPrefix(piece, rest) {
			return dead
		}
		return open
	case !bytes.HasPrefix(rest, piece):
		return dead
	case p.anchor && len(p.pieces) == 1:
		if len(rest) > len(piece) {
			return dead
		}
		return open
	}
	l.piece, l.from = 1, l.base+len(piece)
	return full
}

// matches reports whether the rule matches the whole selector sel.
func (l live) matches(sel []byte) bool {
	switch l.advance(sel) {
	case full:
		return true
	case dead:
		return false
	}
	p := &l.rule.pattern
	last := len(p.pieces) - 1
	if !p.anchor || l.piece != last {
		return false
	}
	if last == 0 {
		return len(sel)-l.base == len(p.pieces[0])
	}
	return bytes.HasSuffix(sel[min(l.from, len(sel)):], p.pieces[last])
}
