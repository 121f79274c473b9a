package readers

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/selector"
)

// This file has the forms of a selector, and the patterns that readers compare.

// Form is a way to write a selector before it is compared.
type Form uint8

// The forms.
const (
	Raw         Form = iota // as it is
	URI                     // as a URI path: escaped but for unreserved bytes and !&'()+,;=:@/
	Normal                  // in the normal form of R6, taken for a URI that may contain escapes
	High                    // bytes from 0x80 escaped
	Quoted                  // as CPython's urllib.robotparser to 3.12: decoded, and quoted again
	Requoted                // as CPython's since 3.14, for which a query has parts of its own
	RequotedURI             // the same, escaped as a URI first
	Parted                  // as Protego: escaped as a URI, and quoted again up to a ; behind the last slash
	Decoded                 // percent-decoded
)

// kept are the bytes that CPython does not quote.
var kept = func() (t [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/" {
		t[c] = true
	}
	return t
}()

// Plain reports whether all forms of a selector are the selector itself. To CPython two
// slashes begin a host.
func Plain(sel string) bool {
	if strings.HasPrefix(sel, "//") {
		return false
	}
	for i := range len(sel) {
		if !kept[sel[i]] {
			return false
		}
	}
	return true
}

// Append appends a selector in the form. For a prefix of a selector that ends in a slash,
// it appends a prefix of the selector's form.
func (f Form) Append(b []byte, sel string) []byte {
	switch f {
	case URI:
		return selector.AppendURI(b, sel)
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
		return appendQuoted(b, cmp.Or(unparsed(unquote(sel), true), "/"))
	case Requoted:
		return requote(b, pathOfURL(sel), "=&")
	case RequotedURI:
		return requote(b, pathOfURL(URI.Of(sel)), "=&")
	case Parted:
		path, params := splitParams(pathOfURL(URI.Of(sel)))
		b = appendQuoted(b, unquote(path))
		if params != ";" {
			b = append(b, params...)
		}
		return b
	case Decoded:
		return append(b, unquote(sel)...)
	default:
		return append(b, sel...)
	}
}

// appendQuoted appends text as CPython quotes it.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if kept[s[i]] {
			b = append(b, s[i])
		} else {
			b = selector.AppendPercent(b, s[i])
		}
	}
	return b
}

// unquote decodes percent escapes as Python does: invalid UTF-8 becomes U+FFFD, and
// malformed escapes stay as they are.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	return strings.ToValidUTF8(selector.Decoded(s), "\ufffd")
}

// requote appends a path and its query as CPython writes them since 3.14: decoded and
// quoted again, except for the bytes in keep. In the path, = and & are not kept.
func requote(b []byte, s, keep string) []byte {
	path, query, ok := strings.Cut(s, "?")
	b = requotePart(b, path, strings.Trim(keep, "=&"))
	if ok {
		b = requotePart(append(b, '?'), query, keep)
	}
	return b
}

func requotePart(b []byte, s, keep string) []byte {
	for s != "" {
		n := strings.IndexAny(s, keep)
		if n < 0 {
			n = len(s)
		}
		b = appendQuoted(b, selector.Decoded(s[:n]))
		if s = s[n:]; s != "" {
			b, s = append(b, s[0]), s[1:]
		}
	}
	return b
}

// pathOfURL returns what withoutHost leaves of a URL, or "/".
func pathOfURL(s string) string { return cmp.Or(withoutHost(s), "/") }

// withoutHost removes scheme and host from a URL as CPython does since 3.14.
func withoutHost(s string) string {
	if s = strings.TrimLeft(s, controls); strings.ContainsAny(s, "\t\r\n") {
		s = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
	}
	if scheme, rest, ok := strings.Cut(s, ":"); ok && isWord(scheme) {
		s = rest
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		if s = ""; strings.ContainsAny(rest, "/?#") {
			s = rest[strings.IndexAny(rest, "/?#"):]
		}
		if strings.HasPrefix(s, "//") {
			s = "//" + s
		}
	}
	return s
}

// splitParams cuts a path at the ; behind its last slash, as urllib.parse does.
func splitParams(s string) (path, params string) {
	slash := strings.LastIndexByte(s, '/') + 1
	if i := strings.IndexByte(s[slash:], ';'); i >= 0 {
		return s[:slash+i], s[slash+i:]
	}
	return s, ""
}

// partedPattern returns a pattern as Protego writes it. It decodes and quotes the path alone,
// except for some bytes, and puts a ?, ; or $ at the end behind that.
func partedPattern(s string) string {
	last := ""
	if n := len(s) - 1; strings.IndexByte("?;$", s[n]) >= 0 {
		s, last = s[:n], s[n:]
	}
	switch {
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		s = "/" + s
	case !strings.HasPrefix(s, "//"):
		s = withoutHost(s)
	}
	s, query := cutMark(s, '?')
	path, params := splitParams(s)
	if params == ";" {
		params = ""
	}

	// An escape of a separator or a special character is kept.
	var text []byte
	for i := 0; i < len(path); {
		c, n := selector.DecodePercent(path[i:])
		switch {
		case n == 0:
			text, n = append(text, path[i]), 1
		case strings.IndexByte("/*$%", c) >= 0:
			text = selector.AppendPercent(text, c)
		default:
			text = append(text, c)
		}
		i += n
	}
	var b []byte
	for _, c := range []byte(strings.ToValidUTF8(string(text), "\ufffd")) {
		if kept[c] || strings.IndexByte("*%=", c) >= 0 {
			b = append(b, c)
		} else {
			b = selector.AppendPercent(b, c)
		}
	}
	return string(b) + last + params + query
}

const controls = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// unparsed returns a URL after CPython has split and joined it: empty parts lose their
// mark, as does an empty host. If cut is true, scheme and host are removed.
func unparsed(s string, cut bool) string {
	s = strings.TrimLeft(s, controls)
	params := true
	if scheme, rest, ok := strings.Cut(s, ":"); ok && isWord(scheme) {
		params = false
		if s = rest; !cut {
			s = strings.ToLower(scheme) + ":" + rest
		}
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		if host := len(rest) - len(strings.TrimLeftFunc(rest, isHost)); cut || host == 0 {
			s = rest[host:]
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

func isHost(c rune) bool { return c != '/' && c != '?' && c != '#' }

// cutMark cuts s before a mark; after is empty if it would be the mark alone.
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
	const scheme = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-."
	return s != "" && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z') && strings.Trim(s, scheme) == ""
}

// Pattern is the pattern of a rule as a reader compares it with a form.
type Pattern struct {
	Pieces []string // bytes; between two of them any bytes match
	Whole  bool     // it covers the whole selector, not only its beginning
	Size   int      // the larger decides; to a reader of [LongestMatch] that of the match does
}

// Match reports whether the pattern matches a form of a selector.
func (p *Pattern) Match(form string) bool { return p.covers(form) >= 0 }

// covers returns how many bytes of a form the pattern matches, or -1. The last piece is
// looked for from the end.
func (p *Pattern) covers(form string) int {
	rest, ok := strings.CutPrefix(form, p.Pieces[0])
	last := len(p.Pieces) - 1
	switch {
	case !ok || last == 0 && p.Whole && rest != "":
		return -1
	case last == 0:
		return len(p.Pieces[0])
	}
	for _, piece := range p.Pieces[1:last] {
		at := strings.Index(rest, piece)
		if at < 0 {
			return -1
		}
		rest = rest[at+len(piece):]
	}
	at := strings.LastIndex(rest, p.Pieces[last])
	if at < 0 || p.Whole && at+len(p.Pieces[last]) < len(rest) {
		return -1
	}
	return len(form) - len(rest) + at + len(p.Pieces[last])
}

// Escapes is how a reader brings the bytes of a pattern to the form of a selector.
type Escapes uint8

// The ways.
const (
	AsWritten  Escapes = iota // they are compared unchanged
	Letter                    // the normal form of R6
	Google                    // bytes from 0x80 are escaped, and escapes are in capitals
	Quote                     // decoded and quoted again, as CPython did to 3.12
	QuoteQuery                // as it does in 3.14
	Requote                   // and as it does since 3.15
	QuotePath                 // decoded and quoted again up to a query or parameters, as Protego does; a $ is one of a name, too
	Either                    // as it is written, and decoded
)

// Patterns returns the patterns a reader compares for a rule; none if it has no effect.
func (r Reader) Patterns(rule Rule) []Pattern {
	return r.appendPatterns(nil, rule)
}

func (r *Reader) appendPatterns(list []Pattern, rule Rule) []Pattern {
	if rule.Pattern == "" && r.Choice != FirstMatch { // to whom it is a rule that opens all
		return list
	}
	if rule.version == Version2 {
		two := *r
		two.Star, two.whole = true, true
		r = &two
	}
	none := len(list)
	value, decoded := rule.Pattern, ""
	if !Plain(value) {
		value, decoded = r.written(value)
	}
	p, ok := r.pattern(value)
	if !ok {
		return list
	}
	list = append(list, p)
	if decoded != "" {
		p, ok := r.pattern(decoded)
		if !ok {
			return list[:none]
		}
		list = append(list, p)
	}
	if bare, ok := strings.CutSuffix(rule.Pattern, "/"); r.Below && ok && bare != "" &&
		!strings.HasSuffix(bare, "*") {
		list = append(list, Pattern{strings.Split(bare, "*"), true, len(rule.Pattern)})
	}
	if r.Index && rule.Allow {
		i := strings.LastIndexByte(value, '/')
		switch {
		case i < 0 || !strings.HasPrefix(value[i:], "/index.htm"):
		case r.Escapes == QuotePath && value[i:] != "/index.html":
		case r.Escapes == QuotePath:
			rule.Pattern = value[:i+1] + "$"
			list = r.appendPatterns(list, rule)
		default:
			p, _ := r.pattern(value[:i+1] + "$")
			list = append(list, p)
		}
	}
	return list
}

// regexpPattern parses a value as temoto/robotstxt does.
func regexpPattern(value string) (p Pattern, ok bool) {
	if !strings.HasPrefix(value, "*") && !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	value = strings.TrimRight(value, "*")
	if !strings.ContainsAny(value, "*$") {
		p.Pieces = []string{value}
		p.Size = len(value)
		return p, value != ""
	}
	p.Size = len(regexp.QuoteMeta(value)) - strings.Count(value, "$")
	value, end, isWhole := strings.Cut(value, "$")
	value = "*" + value
	for strings.Contains(value, "**") {
		value = strings.ReplaceAll(value, "**", "*")
	}
	p.Pieces = strings.Split(value, "*")
	p.Whole = isWhole && p.Pieces[len(p.Pieces)-1] != ""
	return p, strings.Trim(end, "$*") == "" // nothing follows the end
}

// pattern parses a value in the reader's form.
func (r *Reader) pattern(value string) (p Pattern, ok bool) {
	if r.Regexp {
		return regexpPattern(value)
	}
	p.Size = len(value)
	if p.Whole = r.whole; r.Dollar {
		value, p.Whole = strings.CutSuffix(value, "$")
	}
	// A run of stars is one: a line of 500 KiB of stars costs no more than "*".
	for r.Star && strings.Contains(value, "**") {
		value = strings.ReplaceAll(value, "**", "*")
	}
	switch {
	case r.Star:
		p.Pieces = strings.Split(value, "*")
	case r.EndStar:
		if cut, ok := strings.CutSuffix(value, "*"); ok {
			value, p.Size = cut, p.Size-1
		}
		if p.Pieces = []string{value}; value == "" || strings.Contains(value, "*") {
			return p, false
		}
	default:
		p.Pieces = []string{value}
	}
	if n := len(p.Pieces); p.Whole && n > 1 && p.Pieces[n-1] == "" {
		p.Whole = false // any bytes, and the end
	}
	switch {
	case r.Choice == LongestMatch:
		return p, !strings.Contains(value, "$") // there it is one at the end, or none
	case r.Escapes == QuotePath:
		return p, p.Size > 0
	}
	return p, true
}

// written returns a value in the reader's form, and a second value that it compares as well,
// or "".
func (r *Reader) written(value string) (written, decoded string) {
	switch r.Escapes {
	case Letter:
		return NormalPattern(value), ""
	case Google:
		b := High.Append(nil, value)
		for i := 0; i+2 < len(b); i++ {
			if c, n := selector.DecodePercent(string(b[i : i+3])); n > 0 {
				selector.AppendPercent(b[:i], c)
				i += 2
			}
		}
		return string(b), ""
	case Quote:
		return string(appendQuoted(nil, unparsed(unquote(value), false))), ""
	case QuoteQuery:
		return string(requote(nil, value, "=&")), ""
	case Requote:
		for strings.Contains(value, "**") {
			value = strings.ReplaceAll(value, "**", "*")
		}
		if i := strings.IndexByte(value, '$'); i >= 0 && strings.Trim(value[i:], "$*") == "" {
			value = value[:i+1]
		}
		return string(requote(nil, value, "=&*$")), ""
	case QuotePath:
		if strings.Contains(value, "$") {
			decoded = partedPattern(strings.ReplaceAll(value, "$", "%24"))
		}
		return partedPattern(value), decoded
	case Either:
		if plain := unquote(value); plain != value {
			return value, plain
		}
	}
	return value, ""
}

// [selector.AppendNormal] writes the normal form (R6). It escapes * and $ in a
// selector as %2A and %24, so that they differ from the special characters of a
// pattern.

// NormalPath returns the normal form of a path with its query (R6), as RFC 9309
// compares it.
func NormalPath(path string) string {
	return string(selector.AppendNormal(nil, path))
}

// NormalPattern returns the normal form of a pattern (R6). It
// normalises each piece between the stars like a path, and keeps a final $. The
// length of the result is the precedence of the rule (R5).
func NormalPattern(p string) string {
	if isNormalPattern(p) {
		return p
	}
	return string(appendNormalPattern(nil, p))
}

// isNormalPattern reports whether a pattern is surely in normal form, except for stars and a
// final $.
func isNormalPattern(p string) bool {
	for i := range len(p) {
		if c := p[i]; !selector.IsNormalByte(c) && c != '*' && (c != '$' || i != len(p)-1) {
			return false
		}
	}
	return true
}

// appendNormalPattern appends the normal form of a pattern.
func appendNormalPattern(b []byte, p string) []byte {
	p, anchored := strings.CutSuffix(p, "$")
	for query := false; ; {
		piece, rest, star := strings.Cut(p, "*")
		b, query = selector.AppendNormalPiece(b, piece, query)
		if !star {
			break
		}
		b, p = append(b, '*'), rest
	}
	if anchored {
		b = append(b, '$')
	}
	return b
}

// PathOf returns path and query of an absolute URL; anything else is a path
// already. The empty path is "/" (RFC 9110, 4.2.3).
func PathOf(selector string) string {
	if selector == "" {
		return "/"
	}
	if selector[0] == '/' {
		return selector
	}
	scheme, rest, found := strings.Cut(selector, "://")
	if !found || !isWord(scheme) {
		return selector
	}
	rest, _, _ = strings.Cut(rest, "#")
	start := strings.IndexAny(rest, "/?")
	if start < 0 {
		return "/"
	}
	if rest[start] == '?' {
		return "/" + rest[start:]
	}
	return rest[start:]
}
