package policy

import "strings"

// Names hold octets that mean something in a robots.txt. There are two ways to
// write them: for readers that know Allow, which decode escapes, each doubtful
// octet is escaped; for the others only what stands before it can be said.

// escape writes s so that no octet of it is syntax to a reader that decodes
// escapes. Escapes that are part of the name stay as they are: such a reader
// decodes those of the selector, too.
func escape(s string) string {
	return escapeIf(s, func(c byte) bool { return c >= 0x80 || strings.IndexByte(" #*$", c) >= 0 })
}

// escapeHigh writes s for readers that compare without normalizing, but escape
// what is not ASCII.
func escapeHigh(s string) string {
	return escapeIf(s, func(c byte) bool { return c >= 0x80 })
}

func escapeIf(s string, must func(byte) bool) string {
	var b []byte
	for i := range len(s) {
		switch c := s[i]; {
		case must(c) && b == nil:
			b = append(make([]byte, 0, len(s)+16), s[:i]...)
			fallthrough
		case must(c):
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		case b != nil:
			b = append(b, c)
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}

// isPlain reports whether a name can be cut anywhere and written as it is.
func isPlain(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 || strings.ContainsRune(" #*$%", r) }) < 0
}

// leads reports whether a name in the root cannot be written without a slash
// before it: blanks are trimmed, a # starts a comment, a * matches everything.
// Those spellings are closed instead.
func leads(name string) bool { return name != "" && strings.IndexByte(" #*", name[0]) >= 0 }

// cutName splits a selector at the first # or *, if it has one.
func cutName(s string) (before, after string, found bool) {
	i := strings.IndexAny(s, "#*")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// globOf puts a * in the place of the first # or *, and leaves out what follows
// the next one, and blanks and dollars at the end, which would be trimmed or
// taken for an anchor. One star, not more: an Allow of the whole selector then
// is never shorter than the glob that matches it.
func globOf(s string) string {
	before, after, _ := cutName(s)
	after, _, _ = cutName(after)
	return before + "*" + strings.TrimRight(after, " $")
}
