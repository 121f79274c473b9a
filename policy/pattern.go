package policy

import (
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// form holds the spellings of a pattern, since readers compare in different ways.
type form struct {
	// uri has percent escapes for every byte outside RFC 3986's unreserved and path
	// characters. A * is a wildcard and a $ at the end is an anchor; a literal * or $
	// is %2A or %24. Rules are compared with each other in this form.
	uri string

	// raw has the bytes as a Gopher client sends them. odd: it must not be written,
	// since a byte of it is syntax, or a reader would read another name: RFC 9309 and
	// Google take a % for an escape, Python takes $$ and $* for $.
	raw string
	odd bool

	// weak is raw with a * for each byte that readers would take as syntax, and without
	// a $ at its end: it covers more than the pattern.
	weak string
}

// escape returns the URI form of a selector.
func escape(s string) string {
	if readers.Plain(s) {
		return s
	}
	return string(selector.AppendURI(make([]byte, 0, len(s)+16), s))
}

// join puts g below f.
func (f form) join(g form) form {
	uri := f.uri + g.uri
	if f.raw == f.uri && g.raw == g.uri && g.weak == g.uri {
		return form{uri: uri, raw: uri, weak: uri}
	}
	return form{uri: uri, raw: f.raw + g.raw, odd: f.odd || g.odd, weak: f.weak + g.weak}
}

// directory returns the form of a directory's selector, without the slash at its end.
func directory(sel string) form {
	return formOf([]string{strings.TrimSuffix(sel, "/")}, false, true, false)
}

// formOf writes literal pieces with wildcards between them. end is whether a $
// follows, first whether it stands at the beginning of a selector, and last
// whether the line ends here.
func formOf(pieces []string, end, first, last bool) form {
	var uri, raw, weak []byte
	var f form
	for i, p := range pieces {
		if i > 0 {
			uri, raw, weak = append(uri, '*'), append(raw, '*'), append(weak, '*')
		}
		tail := len(p) // from here on the line would lose bytes, or anchor
		if last && i == len(pieces)-1 {
			tail = len(strings.TrimRight(p, " $"))
		}
		valid := utf8.ValidString(p)
		for j := range len(p) {
			c := p[j]
			uri, raw = selector.AppendURI(uri, p[j:j+1]), append(raw, c)
			hazard := c == '#' || c == '*' || c < ' ' || c == 0x7f || c >= 0x80 && !valid
			if hazard || j >= tail || c == ' ' && first && i == 0 && j == 1 {
				weak = append(weak, '*')
			} else {
				weak = append(weak, c)
			}
			f.odd = f.odd || hazard || j >= tail && !end || c == '%'
		}
	}
	if end {
		uri, raw = append(uri, '$'), append(raw, '$')
	}
	f.uri, f.raw, f.weak = string(uri), string(raw), string(weak)
	if ends := f.raw[len(strings.TrimRight(f.raw, "*$")):]; last && strings.Count(ends, "$") > strings.Count(f.uri, "$") {
		f.odd = true
	}
	return f
}

// patternOf reads the value of a rule, and puts it below a directory. An escape means
// the byte it decodes to. ok is false if no request can match the pattern.
func patternOf(value string, at form) (f form, ok bool) {
	if value = pathOf(value); !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	value, end := strings.CutSuffix(value, "$")
	pieces := strings.Split(value, "*")
	for i, p := range pieces {
		if pieces[i] = selector.Decoded(p); strings.ContainsAny(pieces[i], "\r\n\t\x00") {
			return form{}, false
		}
	}
	return at.join(formOf(pieces, end, at.uri == "", true)), true
}

// pathOf removes scheme and host from a pattern written as a URL. It also removes the
// item type of a gopher URL if a selector with a slash follows.
func pathOf(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found || strings.Trim(scheme, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.") != "" || scheme == "" {
		return value
	}
	_, path, _ := strings.Cut(rest, "/")
	if is := strings.ToLower(scheme); (is == "gopher" || is == "gophers") && len(path) > 1 && path[1] == '/' {
		return path[1:]
	}
	return "/" + path
}

// headOf returns the part of a pattern in URI form that is literal, up to the
// first wildcard or the final $.
func headOf(uri string) string {
	if i := strings.IndexByte(uri, '*'); i >= 0 {
		return uri[:i]
	}
	return strings.TrimSuffix(uri, "$")
}

// isLiteral reports whether a pattern is a prefix and nothing else.
func isLiteral(uri string) bool { return !isAnchored(uri) && strings.IndexByte(uri, '*') < 0 }

// hasInnerStar reports whether a pattern has a * with something behind it.
func hasInnerStar(uri string) bool {
	return strings.Contains(strings.TrimRight(strings.TrimSuffix(uri, "$"), "*"), "*")
}

func isAnchored(uri string) bool { return strings.HasSuffix(uri, "$") }

// matches reports whether a pattern matches a selector, both in URI form.
func matches(pattern, sel string) bool {
	pattern, end := strings.CutSuffix(pattern, "$")
	head, rest, glob := strings.Cut(pattern, "*")
	if !strings.HasPrefix(sel, head) {
		return false
	}
	sel = sel[len(head):]
	for glob {
		head, rest, glob = strings.Cut(rest, "*")
		if !glob && end {
			return strings.HasSuffix(sel, head)
		}
		at := strings.Index(sel, head)
		if at < 0 {
			return false
		}
		sel = sel[at+len(head):]
	}
	return !end || sel == ""
}

// covers reports whether a pattern matches everything another one matches. It tries the
// other one with each wildcard replaced by a byte that occurs in no pattern.
func covers(pattern, other string) bool {
	if isLiteral(pattern) {
		return strings.HasPrefix(other, pattern)
	}
	body, end := strings.CutSuffix(other, "$")
	name := strings.ReplaceAll(body, "*", "\x00")
	if !end {
		name += "\x00"
	}
	return matches(pattern, name)
}

// mayMeet reports whether two patterns may match the same selector. If both have a
// wildcard, it compares only their beginnings and their anchored ends.
func mayMeet(a, b string) bool {
	ha, hb := headOf(a), headOf(b)
	if !strings.HasPrefix(ha, hb) && !strings.HasPrefix(hb, ha) {
		return false
	}
	endA, endB := isAnchored(a), isAnchored(b)
	switch {
	case endA && len(ha) == len(a)-1:
		return matches(b, ha)
	case endB && len(hb) == len(b)-1:
		return matches(a, hb)
	case endA && endB:
		ta, tb := a[strings.LastIndexByte(a, '*')+1:], b[strings.LastIndexByte(b, '*')+1:]
		return strings.HasSuffix(ta, tb) || strings.HasSuffix(tb, ta)
	}
	return true
}

// remains returns what a pattern that begins with a star leaves to match after literal
// text: a name that begins with the text and matches the pattern continues with a match
// of one of the list. The list is empty if the pattern matches all these names.
func remains(pattern, text string) (list []string) {
	for rest := pattern[1:]; ; {
		piece, more, glob := strings.Cut(rest, "*")
		at := strings.Index(text, piece)
		if at < 0 {
			list = append(list, "*"+rest)
			for n := 1; n < len(piece); n++ { // its first bytes may be the last ones of the text
				if strings.HasSuffix(text, piece[:n]) {
					list = append(list, rest[n:])
				}
			}
			return list
		}
		if text = text[at+len(piece):]; !glob {
			return nil
		}
		rest = more
	}
}
