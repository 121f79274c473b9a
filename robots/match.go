package robots

// This file defines which selectors a rule matches, and which of several rules
// decides, as the dialect's text says. The index (index.go) only answers faster.

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// match is a rule that covers the selector. The higher precedence binds.
type match struct {
	precedence uint32 // 0: no rule
	record     uint32
	allow      bool
}

func (m match) found() bool   { return m.precedence > 0 }
func (m match) allowed() bool { return m.precedence == 0 || m.allow }

// compare orders matches by precedence, then Allow, then the earlier line.
func (m match) compare(o match) int {
	if m.precedence != o.precedence {
		return cmp.Compare(m.precedence, o.precedence)
	}
	if m.allow != o.allow {
		if m.allow {
			return 1
		}
		return -1
	}
	return cmp.Compare(o.record, m.record)
}

// syntax is the syntax of the patterns of a group.
type syntax readers.Syntax

// isRule reports whether a record is a rule in the syntax.
func (s syntax) isRule(kind readers.LineKind, pattern string) bool {
	return pattern != "" && (kind == readers.KindDisallow || kind == readers.KindAllow && s.Allow)
}

// matchForm is one form of a pattern: the pattern matches if one of its forms does.
type matchForm struct {
	text  string // the selector begins with it
	whole bool   // and ends there
	glob  bool   // stars in the text stand for any run of bytes
	kept  bool   // reserved bytes of the query are compared as they are written
}

// matches takes the selector in normal form, and its kept form.
func (f matchForm) matches(selector, kept string) bool {
	switch {
	case f.kept:
		return globMatch(f.text, kept, f.whole)
	case f.glob:
		return globMatch(f.text, selector, f.whole)
	case f.whole:
		return selector == f.text
	}
	return strings.HasPrefix(selector, f.text)
}

// mayMatch reports whether a pattern as written may match a selector in normal
// form. It compares the bytes before the first that needs an escape.
func mayMatch(p, sel string) bool {
	for i := range min(len(p), len(sel)) {
		if !selector.IsNormalByte(p[i]) {
			return true
		}
		if p[i] != sel[i] {
			return false
		}
	}
	return true
}

// matches reports whether a pattern, which is in normal form if the syntax knows
// escapes, matches the selector in normal form, or in its kept form.
func (s syntax) matches(p, selector, kept string) bool {
	found := false
	s.forms(p, func(f matchForm) { found = found || f.matches(selector, kept) })
	return found
}

// forms calls fn for all forms of a pattern, which is in normal form if the syntax
// knows escapes. A literal form is the pattern, or the pattern without its last
// byte.
func (s syntax) forms(p string, fn func(matchForm)) {
	last := len(p) - 1
	star := -1
	if s.Glob {
		star = strings.IndexByte(p, '*')
	}
	f := matchForm{text: p, whole: s.Whole, glob: star >= 0}
	switch {
	case s.Whole:
	case s.Anchor && p[last] == '$':
		f.text, f.whole = p[:last], true
	case star == last && star >= 0:
		f.text, f.glob = p[:last], false
	}
	if f.glob {
		f.text, f.kept = oneStar(f.text), s.Escapes && keepsForm(f.text)
	}
	fn(f)
	if s.Bare && last > 0 && p[last] == '/' && p[last-1] != '*' {
		fn(matchForm{text: oneStar(p[:last]), whole: true, glob: f.glob})
	}
}

// oneStar writes each run of stars as one, which matches the same: a line of 500 KiB
// of stars costs no more than "*". It does not change the precedence.
func oneStar(p string) string {
	if !strings.Contains(p, "**") {
		return p
	}
	b := make([]byte, 0, len(p))
	for i := range len(p) {
		if p[i] != '*' || i == 0 || p[i-1] != '*' {
			b = append(b, p[i])
		}
	}
	return string(b)
}

// top keeps the two best matches, or with all the best one and its equals.
type top struct {
	best, second match
	all          bool
	ties         []uint32 // records
}

func (t *top) offer(m match) {
	switch {
	case t.all && m.precedence > t.best.precedence:
		t.best, t.ties = m, append(t.ties[:0], m.record)
	case t.all && m.precedence == t.best.precedence:
		t.ties = append(t.ties, m.record)
	case t.all:
	case m.compare(t.best) > 0:
		t.best, t.second = m, t.best
	case m.record != t.best.record && m.compare(t.second) > 0:
		t.second = m
	}
}

// floor is the least precedence that still matters.
func (t *top) floor() uint32 {
	if t.all {
		return t.best.precedence
	}
	return t.second.precedence
}

// text is a selector as it came, or as it was brought into normal form.
type text interface{ string | []byte }

// globMatch reports whether the pattern, in which * stands for any run of
// bytes (G7), matches from the first byte of the selector; whole asks that it
// ends with it.
//
// It searches each piece between two stars as far left as possible: if that fails,
// no other choice helps, so it never backtracks. It checks the last piece first,
// since most mismatches fail there.
func globMatch[T text](pattern string, selector T, whole bool) bool {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		star = len(pattern)
	}
	if len(selector) < star || string(selector[:star]) != pattern[:star] {
		return false
	}
	selector = selector[star:]
	if star == len(pattern) {
		return !whole || len(selector) == 0
	}
	pattern = pattern[star+1:]
	last := strings.LastIndexByte(pattern, '*') + 1
	if !whole {
		return find(selector, pattern[last:]) >= 0 && inOrder(selector, pattern)
	}
	end := len(selector) - len(pattern[last:])
	return end >= 0 && string(selector[end:]) == pattern[last:] && inOrder(selector[:end], pattern[:last])
}

// inOrder looks for the pieces between stars, one after the other.
func inOrder[T text](selector T, pieces string) bool {
	for pieces != "" {
		piece, rest, _ := strings.Cut(pieces, "*")
		at := find(selector, piece)
		if at < 0 {
			return false
		}
		selector, pieces = selector[at+len(piece):], rest
	}
	return true
}

// find returns where a piece of a pattern stands first, or -1.
func find[T text](selector T, piece string) int {
	if s, ok := any(selector).(string); ok {
		return strings.Index(s, piece)
	}
	var buf [256]byte // a longer piece is an allocation
	return bytes.Index([]byte(selector), append(buf[:0], piece...))
}

// keepsForm reports whether a pattern in normal form has an escaped reserved byte
// after a star and before any "?". Even if the star covers a "?" of the selector, the
// text after it is compared as in a path, where "/" and "%2F" differ.
func keepsForm(p string) bool {
	p, _, _ = strings.Cut(p, "?")
	star := strings.IndexByte(p, '*')
	for i := max(star, 0); star >= 0 && i < len(p); i++ {
		if c, n := selector.DecodePercent(p[i:]); n > 0 && selector.IsReserved(c) {
			return true
		}
	}
	return false
}

// appendKept appends the normal form of a selector with its reserved bytes as they are
// written in the query, too.
func appendKept(b []byte, sel string) []byte {
	for more := true; more; {
		var piece string
		piece, sel, more = strings.Cut(sel, "?")
		b, _ = selector.AppendNormalPiece(b, piece, false)
		if more {
			b = append(b, '?')
		}
	}
	return b
}
