package robots

import (
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/selector"
)

// What the models compare: forms of a selector, and what each makes of a pattern.

// Form is a way to write a selector before it is compared.
type Form uint8

// The forms.
const (
	Raw     Form = iota // as it is
	URI                 // as a URI path: escaped but for unreserved bytes and !&'()+,;=:@/
	Normal              // in the normal form of R6, taken for a URI that may hold escapes
	High                // bytes from 0x80 escaped
	Quoted              // as CPython's urllib.robotparser: decoded, and quoted again
	Decoded             // percent-decoded
)

// kept holds which bytes stand for themselves in a form: in URI and Quoted.
var kept = func() (t [2][256]bool) {
	for c := range 256 {
		word := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", byte(c)) >= 0
		t[0][c] = word || strings.IndexByte("!&'()+,;=:@/", byte(c)) >= 0
		t[1][c] = word || c == '/'
	}
	return t
}()

// Plain reports whether all forms of a selector are the selector itself.
func Plain(sel string) bool {
	for i := range len(sel) {
		if !kept[1][sel[i]] {
			return false
		}
	}
	return true
}

// Append appends a selector in the form. The form of a beginning that ends in a
// slash is the beginning of the form.
func (f Form) Append(b []byte, sel string) []byte {
	switch f {
	case URI:
		return appendKept(b, sel, &kept[0])
	case Normal:
		return selector.AppendNormal(b, sel)
	case High:
		for i := range len(sel) {
			if sel[i] < utf8.RuneSelf {
				b = append(b, sel[i])
			} else {
				b = selector.AppendPercent(b, sel[i])
			}
		}
		return b
	case Quoted:
		return appendKept(b, unparsed(unquote(sel), true), &kept[1])
	case Decoded:
		return append(b, unquote(sel)...)
	default:
		return append(b, sel...)
	}
}

func appendKept(b []byte, s string, keep *[256]bool) []byte {
	for i := range len(s) {
		if keep[s[i]] {
			b = append(b, s[i])
		} else {
			b = selector.AppendPercent(b, s[i])
		}
	}
	return b
}

// unquote decodes percent escapes as Python does: what is no UTF-8 then becomes
// U+FFFD, and malformed escapes stand.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, n := selector.DecodePercent(s[i:])
		if n == 0 {
			c, n = s[i], 1
		}
		b = append(b, c)
		i += n - 1
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}

// unparsed is what is left of a URL that CPython took apart and put together
// again: empty parts go with their mark, and the scheme, if cut says so.
func unparsed(s string, cut bool) string {
	s = strings.TrimLeft(s, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	params := true
	if scheme, rest, ok := strings.Cut(s, ":"); ok && isWord(scheme) {
		params = false
		if s = rest; !cut {
			s = strings.ToLower(scheme) + ":" + rest
		}
	}
	s, fragment := cutMark(s, '#')
	s, query := cutMark(s, '?')
	if slash := strings.LastIndexByte(s, '/') + 1; params {
		if i := strings.IndexByte(s[slash:], ';'); i >= 0 && slash+i == len(s)-1 {
			s = s[:len(s)-1]
		}
	}
	return s + query + fragment
}

// cutMark cuts s before a mark; what comes after is empty if it is the mark alone.
func cutMark(s string, mark byte) (before, after string) {
	i := strings.IndexByte(s, mark)
	if i < 0 {
		return s, ""
	}
	if i == len(s)-1 {
		return s[:i], ""
	}
	return s[:i], s[i:]
}

// isWord reports whether CPython takes s for the scheme of a URL.
func isWord(s string) bool {
	return s != "" && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z') && isScheme(s)
}

// Pattern is what a reader compares with a form of a selector.
type Pattern struct {
	Pieces []string // bytes; between two of them any bytes may stand
	Whole  bool     // it covers the whole selector, not only its beginning
	Size   int      // the larger decides
}

// Match reports whether the pattern matches a form of a selector.
func (p Pattern) Match(form string) bool {
	rest, ok := strings.CutPrefix(form, p.Pieces[0])
	if !ok || len(p.Pieces) == 1 {
		return ok && (!p.Whole || rest == "")
	}
	last := len(p.Pieces) - 1
	for _, piece := range p.Pieces[1:last] {
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	if p.Whole {
		return strings.HasSuffix(rest, p.Pieces[last])
	}
	return strings.Contains(rest, p.Pieces[last])
}

// globs: a star is any bytes, nothing else means anything.
func globs(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	return []Pattern{{Pieces: strings.Split(value, "*"), Size: len(value)}}
}

// veronica: /path/ also covers /path, and no other string that begins so.
func veronica(value string, allow bool) []Pattern {
	list := globs(value, allow)
	if bare, ok := strings.CutSuffix(value, "/"); ok && bare != "" && !strings.HasSuffix(bare, "*") {
		list = append(list, Pattern{strings.Split(bare, "*"), true, len(value)})
	}
	return list
}

// letter: the normal form of R6, where * is any bytes and $ at the end is the end.
func letter(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	value = NormalPattern(value)
	list := anchored(value)
	for _, form := range queryForms(value) {
		list = append(list, Pattern{anchored(form)[0].Pieces, list[0].Whole, len(value)})
	}
	return list
}

func anchored(value string) []Pattern {
	body, whole := strings.CutSuffix(value, "$")
	pieces := strings.Split(body, "*")
	if whole && len(pieces) > 1 && pieces[len(pieces)-1] == "" {
		whole = false // any bytes, and the end
	}
	return []Pattern{{pieces, whole, len(value)}}
}

// google: of a pattern only bytes from 0x80 are escaped, and escapes are written
// in capitals. An Allow of index.htm… at the end is one of the directory itself.
func google(value string, allow bool) []Pattern {
	if value == "" {
		return nil
	}
	b := High.Append(nil, value)
	for i := 0; i+2 < len(b); i++ {
		if c, n := selector.DecodePercent(string(b[i : i+3])); n > 0 {
			selector.AppendPercent(b[:i], c)
			i += 2
		}
	}
	value = string(b)
	list := anchored(value)
	if i := strings.LastIndexByte(value, '/'); allow && i >= 0 && strings.HasPrefix(value[i:], "/index.htm") {
		list = append(list, anchored(value[:i+1]+"$")...)
	}
	return list
}

// prefix: nothing but itself.
func prefix(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	return []Pattern{{Pieces: []string{value}, Size: len(value)}}
}

// quoted: decoded and quoted again, as CPython does; an empty one covers all.
func quoted(value string, _ bool) []Pattern {
	form := string(appendKept(nil, unparsed(unquote(value), false), &kept[1]))
	return []Pattern{{Pieces: []string{form}, Size: len(form)}}
}

// trimmed: a final star is cut off, patterns with another have no effect.
func trimmed(value string, _ bool) []Pattern {
	value = strings.TrimSuffix(value, "*")
	if value == "" || strings.Contains(value, "*") {
		return nil
	}
	return []Pattern{{Pieces: []string{value}, Size: len(value)}}
}

// eitherWay: as it is written, and decoded.
func eitherWay(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	list := anchored(value)
	if plain := unquote(value); plain != value {
		list = append(list, anchored(plain)...)
	}
	return list
}
