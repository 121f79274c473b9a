package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// form has the spellings of a pattern, since readers compare in different ways.
type form struct {
	// uri has percent escapes for every byte outside RFC 3986's unreserved and path
	// characters. A * is a wildcard and a $ at the end is an anchor; a literal * or $
	// is %2A or %24. Rules are compared with each other in this form.
	uri string

	// raw has the bytes as a Gopher client sends them. If hazard is set, it must not be
	// written: a reader would take one of its bytes for syntax, or read another name.
	raw    string
	hazard bool

	// weak is raw with a * for each hazard, and without a $ at its end: it covers more
	// than the pattern.
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
	return form{
		uri:    uri,
		raw:    f.raw + g.raw,
		hazard: f.hazard || g.hazard,
		weak:   f.weak + g.weak,
	}
}

// directory returns the form of a directory's selector, without the slash at its end.
func directory(sel string) form {
	return formOf([]string{strings.TrimSuffix(sel, "/")}, false, false)
}

// formOf writes literal pieces with wildcards between them. end is whether a $ follows,
// and last whether the line ends here.
func formOf(pieces []string, end, last bool) form {
	var uri, raw, weak []byte
	var f form
	for i, p := range pieces {
		if i > 0 {
			uri, raw, weak = append(uri, '*'), append(raw, '*'), append(weak, '*')
		}
		tail := len(p) // where blanks begin that readers trim, and $ that they take for anchors
		if last && i == len(pieces)-1 {
			tail = len(strings.TrimRightFunc(p, func(c rune) bool {
				return c == '$' || isSpace(c)
			}))
		}
		for j, c := range p {
			size := utf8.RuneLen(c)
			if c == utf8.RuneError {
				_, size = utf8.DecodeRuneInString(p[j:])
			}
			bytes := p[j : j+size]
			isHazard := c == '#' || c == '*' || c == utf8.RuneError && size == 1 || endsLine(c)
			uri, raw = selector.AppendURI(uri, bytes), append(raw, bytes...)
			if isHazard || j >= tail {
				weak = append(weak, '*')
			} else {
				weak = append(weak, bytes...)
			}
			f.hazard = f.hazard || isHazard || j >= tail && !end || c == '%'
		}
	}
	if end {
		uri, raw = append(uri, '$'), append(raw, '$')
	}
	f.uri, f.raw, f.weak = string(uri), string(raw), string(weak)
	// Python takes $$ and $* for $.
	if ends := f.raw[len(strings.TrimRight(f.raw, "*$")):]; last &&
		strings.Count(ends, "$") > strings.Count(f.uri, "$") {
		f.hazard = true
	}
	return f
}

// endsLine reports whether some reader ends a line at a character, or a terminal interprets
// it as a control: those of ASCII, and U+0080 to U+009F.
func endsLine(c rune) bool {
	return c < ' ' || 0x7f <= c && c <= 0x9f || c == 0x2028 || c == 0x2029
}

// isSpace reports whether some reader takes a character for a blank.
func isSpace(c rune) bool {
	return c == 0x1f || c == 0xfeff || unicode.IsSpace(c)
}

// trimSpaces trims blanks of any kind.
func trimSpaces(s string) string { return strings.TrimFunc(s, isSpace) }

// formOfURI returns the form of a pattern that is given in URI form.
func formOfURI(uri string) form {
	body, end := strings.CutSuffix(uri, "$")
	pieces := strings.Split(body, "*")
	for i := range pieces {
		pieces[i] = selector.Decoded(pieces[i])
	}
	return formOf(pieces, end, true)
}

// patternOf reads the value of a rule, and puts it below a directory. An escape is
// the byte that it encodes. ok is false if no request can match the pattern.
func patternOf(value string, at form) (f form, ok bool) {
	if value = pathOf(value); !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	for strings.Contains(value, "**") {
		value = strings.ReplaceAll(value, "**", "*")
	}
	value, end := strings.CutSuffix(value, "$")
	pieces := strings.Split(value, "*")
	for i, p := range pieces {
		if pieces[i] = selector.Decoded(p); strings.ContainsAny(pieces[i], "\r\n\t\x00") {
			return form{}, false
		}
	}
	return at.join(formOf(pieces, end, true)), true
}

// pathOf removes scheme and host from a pattern written as a URL. It also removes the
// item type of a gopher URL if a selector with a slash follows.
func pathOf(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found || strings.Trim(scheme,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.") != "" || scheme == "" {
		return value
	}
	_, path, _ := strings.Cut(rest, "/")
	if is := strings.ToLower(scheme); (is == "gopher" || is == "gophers") && len(path) > 1 &&
		path[1] == '/' {
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
func isLiteral(uri string) bool {
	return !isAnchored(uri) && strings.IndexByte(uri, '*') < 0
}

// hasInnerStar reports whether a pattern has a * with something behind it.
func hasInnerStar(uri string) bool {
	return strings.Contains(strings.TrimRight(strings.TrimSuffix(uri, "$"), "*"), "*")
}

func isAnchored(uri string) bool { return strings.HasSuffix(uri, "$") }

// withoutEnd returns a pattern without what follows its last other byte, which changes
// nothing of what it matches: "/x*" and "/x*$" are "/x".
func withoutEnd(uri string) string {
	if body := strings.TrimSuffix(uri, "$"); strings.HasSuffix(body, "*") {
		return strings.TrimRight(body, "*")
	}
	return uri
}

// matches reports whether a pattern matches a selector, both in URI form.
func matches(pattern, sel string) bool {
	if isLiteral(pattern) {
		return strings.HasPrefix(sel, pattern)
	}
	p := readers.ParsePattern(pattern)
	return p.Match(sel)
}

// covers reports whether a pattern matches everything that another matches.
func covers(pattern, other string) bool {
	if isLiteral(pattern) {
		return strings.HasPrefix(other, pattern)
	}
	p, o := readers.ParsePattern(pattern), readers.ParsePattern(other)
	return p.Covers(&o)
}

// meets reports whether two patterns match a common selector.
func meets(a, b string) bool {
	if ha, hb := headOf(a), headOf(b); !strings.HasPrefix(ha, hb) && !strings.HasPrefix(hb, ha) {
		return false
	}
	if isLiteral(a) && isLiteral(b) {
		return true
	}
	p, o := readers.ParsePattern(a), readers.ParsePattern(b)
	return p.Meets(&o)
}

// meeting returns patterns for what two patterns both match. ok is false if there are too
// many, or the two are too hard to compare.
func meeting(a, b string) (list []string, ok bool) {
	p, o := readers.ParsePattern(a), readers.ParsePattern(b)
	all, ok := p.Meeting(&o)
	for _, m := range all {
		list = append(list, m.String())
	}
	return list, ok
}
