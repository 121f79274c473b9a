package policy

import (
	"github.com/gophd/gophd/robots/readers"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/selector"
)

// A pattern, or a selector that stands before one, is written in up to three
// ways, since readers compare in three ways:
//
//   - the URI form: percent escapes for every byte outside RFC 3986's unreserved
//     and path characters. A * in it is a wildcard and a $ at its end ends the
//     name; those of names are %2A and %24. Readers that make a URI of a
//     selector compare it, and so do rules with each other here;
//   - the raw form: the bytes as a Gopher client sends them;
//   - the weak form: raw, with a * in the place of what would be read as syntax,
//     and without a $ at its end. It covers more than the pattern.
type form struct {
	uri, raw, weak string

	odd bool // raw cannot be written: a byte of it is syntax, or RFC 9309 reads another name
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
	return form{uri, f.raw + g.raw, f.weak + g.weak, f.odd || g.odd}
}

// top is the first name of a selector, in URI form; "" for the root.
func (f form) top() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(f.uri, "/"), "/")
	return name
}

// below returns the form of a directory in the one with form f.
func (f form) below(name string) form {
	if readers.Plain(name) {
		return f.join(form{uri: "/" + name, raw: "/" + name, weak: "/" + name})
	}
	return f.join(formOf([]string{"/" + name}, false, f.uri == "", false))
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
			hazard := c == '#' || c == '*' || c >= 0x80 && !valid
			if hazard || j >= tail || c == ' ' && first && i == 0 && j == 1 {
				weak = append(weak, '*')
			} else {
				weak = append(weak, c)
			}
			f.odd = f.odd || hazard || j >= tail && !end || c == '%' && beginsEscape(p[j+1:])
		}
	}
	if end {
		uri, raw = append(uri, '$'), append(raw, '$')
	}
	f.uri, f.raw, f.weak = string(uri), string(raw), string(weak)
	return f
}

// beginsEscape reports whether what follows a % may make an escape of it; what
// follows the pattern is not known.
func beginsEscape(s string) bool {
	return strings.Trim(s[:min(2, len(s))], "0123456789ABCDEFabcdef") == ""
}

// patternsOf reads the value of a rule. A Disallow with an escape means two
// names, the one it decodes to and the one that is spelt so; an Allow means the
// first only. None is left of a value that nobody can ask for. at is the form of
// the directory.
func patternsOf(value string, allow bool, at form) []form {
	if value = pathOf(value); !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	value, end := strings.CutSuffix(value, "$")
	pieces := strings.Split(value, "*")
	decoded, sayable, same := make([]string, len(pieces)), true, true
	for i, p := range pieces {
		d, ok := unescape(p)
		decoded[i], sayable, same = d, sayable && ok, same && d == p
	}
	var list []form
	if sayable {
		list = append(list, at.join(formOf(decoded, end, at.uri == "", true)))
	}
	if !same && !allow && !strings.ContainsFunc(value, isControl) {
		list = append(list, at.join(formOf(pieces, end, at.uri == "", true)))
	}
	return list
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// unescape decodes the percent escapes; ok is false if nobody can ask for it.
// One that stands for a slash is no slash, so that it names nothing.
func unescape(s string) (plain string, ok bool) {
	b, ok := make([]byte, 0, len(s)), true
	for i := 0; i < len(s); {
		c, n := selector.DecodePercent(s[i:])
		if n == 0 {
			c, n = s[i], 1
		}
		ok = ok && !isControl(rune(c)) && (n == 1 || c != '/')
		b, i = append(b, c), i+n
	}
	return string(b), ok
}

// pathOf takes scheme and host off a pattern that was written as a URL, and off
// a gopher URL the item type, too.
func pathOf(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found || strings.Trim(scheme, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.") != "" || scheme == "" {
		return value
	}
	_, path, _ := strings.Cut(rest, "/")
	if is := strings.ToLower(scheme); (is == "gopher" || is == "gophers") && path != "" {
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
	return uri != "" && uri[len(uri)-1] != '$' && strings.IndexByte(uri, '*') < 0
}

// matches reports whether a pattern matches a selector, both in URI form.
func matches(pattern, sel string) bool {
	pattern, end := strings.CutSuffix(pattern, "$")
	head, rest, glob := strings.Cut(pattern, "*")
	if !strings.HasPrefix(sel, head) {
		return false
	}
	sel = sel[len(head):]
	for glob { // without a slice of the pieces: a thousand rules are compared with all names
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

// covers reports whether a pattern matches all that begins with head.
func covers(pattern, head string) bool {
	return pattern[len(pattern)-1] != '$' && matches(pattern, head)
}

// mayMeet reports whether two patterns can match the same selector. It says yes
// where it cannot tell.
func mayMeet(a, b string) bool {
	ha, hb := headOf(a), headOf(b)
	if !strings.HasPrefix(ha, hb) && !strings.HasPrefix(hb, ha) {
		return false
	}
	endA, endB := a[len(a)-1] == '$', b[len(b)-1] == '$'
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
