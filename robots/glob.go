package robots

import "strings"

// globMatch reports whether the pattern, in which * stands for any run of
// octets (G7), matches from the first octet of the selector; whole asks that it
// ends with it.
//
// What stands between two stars is looked for as far left as it can be: if that
// fails, no other choice helps. So nothing is tried twice. Whether the last piece
// is there is asked first, since most that do not match fail there.
func globMatch(pattern, selector string, whole bool) bool {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return selector == pattern || !whole && strings.HasPrefix(selector, pattern)
	}
	if !strings.HasPrefix(selector, pattern[:star]) {
		return false
	}
	selector, pattern = selector[star:], pattern[star+1:]
	last := strings.LastIndexByte(pattern, '*') + 1
	if !whole {
		return strings.Contains(selector, pattern[last:]) && inOrder(selector, pattern)
	}
	rest, ends := strings.CutSuffix(selector, pattern[last:])
	return ends && inOrder(rest, pattern[:last])
}

// inOrder looks for the pieces between stars, one after the other.
func inOrder(selector, pieces string) bool {
	for pieces != "" {
		piece, rest, _ := strings.Cut(pieces, "*")
		at := strings.Index(selector, piece)
		if at < 0 {
			return false
		}
		selector, pieces = selector[at+len(piece):], rest
	}
	return true
}

// pairs is a bloom filter of the pairs of neighbouring octets in a text.
type pairs [2]uint64

// pairsOf leaves out the pairs with a star; a selector just has fewer then.
func pairsOf(text string) (p pairs) {
	for i := 1; i < len(text); i++ {
		a, b := text[i-1], text[i]
		if a != '*' && b != '*' {
			bit := a*37 + b
			p[bit>>6&1] |= 1 << (bit & 63)
		}
	}
	return p
}

func (p pairs) includes(q pairs) bool {
	return q[0]&^p[0] == 0 && q[1]&^p[1] == 0
}
