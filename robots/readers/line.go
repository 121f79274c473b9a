package readers

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"unicode/utf16"
)

// LineKind is the kind of a line.
type LineKind uint8

// The kinds of lines.
const (
	KindBlank     LineKind = iota // nothing but blanks
	KindComment                   // nothing but a comment
	KindMalformed                 // no colon, or nothing before it
	KindAgent                     // User-agent
	KindAllow                     // Allow
	KindDisallow                  // Disallow
	KindUsage                     // Content-Usage, to RFC9309 and Gopher
	KindField                     // any other field, known or not
)

var kindNames = [...]string{"blank", "comment", "malformed", "user-agent", "allow", "disallow",
	"content-usage", "field"}

// String names the kind in lower case.
func (k LineKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Line is one line of a file. Its strings are parts of the file's text.
type Line struct {
	Number int    // counted from 1
	Text   string // unchanged, with its line end
	Kind   LineKind
	Field  string // as written, without blanks around it; "" if there is none
	Value  string // without comment and blanks around it

	Forgiven bool // the field is misspelt or has no colon, and counts all the same

	content string // field, colon and value
}

// Rule is an Allow or Disallow line. The zero Rule is none.
type Rule struct {
	Allow   bool   `json:"allow"`
	Pattern string `json:"pattern"` // as written; an empty one is no rule in any dialect
	Line    int    `json:"line"`    // counted from 1

	version Version // of its group
}

// Scanner cuts a text into lines, the way the dialect wants it.
type Scanner struct {
	dialect           Dialect
	forgiving         bool
	text              string
	pos               int // start of the next line
	line              int // lines read
	lf, cr, nul, hash seeker
}

// NewScanner reads text. A literal scanner forgives no misspelt field.
func NewScanner(d Dialect, literal bool, text string) Scanner {
	return Scanner{
		dialect:   d,
		forgiving: d == RFC9309 && !literal,
		text:      text,
		lf:        seeker{'\n', -1},
		cr:        seeker{'\r', -1},
		nul:       seeker{0, -1},
		hash:      seeker{'#', -1},
	}
}

// Lines yields every line, also those without effect. It does not advance the scanner.
func (s Scanner) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		s := s
		for l, ok := s.Next(); ok && yield(l); l, ok = s.Next() {
		}
	}
}

// seeker finds a byte. It remembers the position, so it does not search again for a
// rare or distant byte at each line: any text takes linear time.
type seeker struct {
	c  byte
	at int // -1: not looked for yet
}

// seek returns the first place of the byte from pos on, or the end of the text.
// From call to call pos only grows.
func (k *seeker) seek(text string, pos int) int {
	if k.at < pos {
		k.find(text, pos)
	}
	return k.at
}

func (k *seeker) find(text string, pos int) {
	k.at = len(text)
	if i := strings.IndexByte(text[pos:], k.c); i >= 0 {
		k.at = pos + i
	}
}

const byteOrderMark = "\ufeff"

// Next returns the next line; ok is false if there is none.
func (s *Scanner) Next() (l Line, ok bool) {
	if s.pos >= len(s.text) {
		return l, false
	}
	start := s.pos
	end := s.advance()
	s.line++
	l.Number, l.Text = s.line, s.text[start:s.pos]
	if s.line == 1 && strings.HasPrefix(s.text, byteOrderMark) {
		start += len(byteOrderMark)
	}
	// NUL ends a line's content, as in the C programs that read most files.
	end = min(end, max(start, s.nul.seek(s.text, start)))
	hash := s.comment(start, end)
	content := trimBlanks(s.text[start:hash])
	colon := strings.IndexByte(content, ':')
	switch {
	case content == "" && hash < end:
		l.Kind = KindComment
	case content == "":
		l.Kind = KindBlank
	case colon < 0 && s.forgiving:
		l.Kind, l.Field, l.Value = s.noColon(content)
		l.Forgiven = l.Kind != KindMalformed
	case colon <= 0:
		l.Kind = KindMalformed
	default:
		l.Field, l.Value, l.content = trimBlanks(content[:colon]),
			trimBlanks(content[colon+1:]), content
		l.Kind = s.kindOf(l.Field)
		if l.Kind == KindField && s.forgiving {
			l.Kind = misspelt(l.Field)
			l.Forgiven = l.Kind != KindField
		}
	}
	return l, true
}

// advance moves pos behind the line end and gives the end of the content.
func (s *Scanner) advance() (end int) {
	start, lf := s.pos, s.lf.seek(s.text, s.pos)
	if s.dialect.BareCR() {
		if cr := s.cr.seek(s.text, start); cr < lf && cr+1 != lf {
			s.pos = cr + 1
			return cr
		}
	}
	s.pos = min(lf+1, len(s.text))
	if lf > start && lf < len(s.text) && s.text[lf-1] == '\r' {
		return lf - 1
	}
	return lf
}

// comment returns the position of the # that starts a comment, or the end. It may be
// anywhere (G9, R2), but in Extended only after white space (C2).
func (s *Scanner) comment(start, end int) int {
	at := s.hash.seek(s.text, start)
	for s.dialect == Extended && at < end && at > start && !isBlank(s.text[at-1]) {
		at = s.hash.seek(s.text, at+1)
	}
	return min(at, end)
}

// noColon reads a line of exactly two words, the first being User-agent or
// Disallow; any other is malformed.
func (s *Scanner) noColon(content string) (kind LineKind, field, value string) {
	i := strings.IndexAny(content, " \t")
	if i < 0 {
		return KindMalformed, "", ""
	}
	field, value = content[:i], strings.TrimLeft(content[i:], " \t")
	kind = s.kindOf(field)
	if kind == KindField {
		kind = misspelt(field)
	}
	if strings.ContainsAny(value, " \t") || kind != KindAgent && kind != KindDisallow {
		return KindMalformed, "", ""
	}
	return kind, field, value
}

// misspelt returns the kind of a field that Google's parser takes for User-agent or
// Disallow; all else is a KindField. Allow must be spelt right.
func misspelt(field string) LineKind {
	if field == "" || field[0]|0x20 != 'u' && field[0]|0x20 != 'd' || len(field) > 64 {
		return KindField
	}
	field = strings.ToLower(field)
	for _, agent := range []string{"user-agent", "useragent", "user agent"} {
		if rest, ok := strings.CutPrefix(field, agent); ok && !strings.ContainsAny(rest, " \t") {
			return KindAgent
		}
	}
	for _, disallow := range []string{"disallow", "dissallow", "dissalow", "disalow",
		"diasllow", "disallaw"} {
		if rest, ok := strings.CutPrefix(field, disallow); ok && !strings.ContainsAny(rest, " \t") {
			return KindDisallow
		}
	}
	return KindField
}

// isBlank takes CR, too, so that one before the end of the text goes away.
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	for s != "" && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func (s *Scanner) kindOf(field string) LineKind {
	switch {
	case is(field, "Disallow"):
		return KindDisallow
	case is(field, "Allow"):
		return KindAllow
	case is(field, "User-agent"):
		return KindAgent
	case is(field, "Content-Usage") && (s.dialect == RFC9309 || s.dialect == Gopher):
		return KindUsage
	}
	return KindField
}

// is compares without case; most files use the usual spelling.
func is(field, usual string) bool {
	return len(field) == len(usual) && (field == usual || strings.EqualFold(field, usual))
}

// ProductToken returns the product token of a User-agent value or of a robot's name:
// its first word, up to the first byte that is no letter, digit, ".", "-" or "_" (R3).
// The token is "*", everybody, for a star alone or before white space. It is empty for
// other values that begin with none of these bytes: "*Word*" names no robot, and above
// all not every robot.
func ProductToken(name string) string {
	name = trimBlanks(name)
	if strings.HasPrefix(name, "*") {
		rest := name[1:]
		if rest == "" || isBlank(rest[0]) || rest == "\u00a0" || rest == "\xa0" { // a no-break space is no word
			return "*"
		}
		return ""
	}
	for i := range len(name) {
		if !isTokenByte(name[i]) {
			return name[:i]
		}
	}
	return name
}

func isTokenByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' ||
		c == '.' || c == '_'
}

// knownFields are the fields besides the three that make groups and rules, and
// where each comes from.
var knownFields = []string{
	"sitemap", "crawl-delay", // extras that many files carry
	"content-usage", "content-signal", "license", // preferences
	"clean-param",                                            // Yandex
	"robot-version", "visit-time", "request-rate", "comment", // Extended
	"index", "cooldown", // gophd's own, after the IRC token
	"agentmap", "schemamap", // lists of what a site offers to agents, as Sitemap
}

// FieldsChecked is the day on which the list of known fields was last compared with what
// robots document.
const FieldsChecked = "2026-11-27"

// KnownField reports whether robots are known to read a field besides
// User-agent, Allow and Disallow. Case does not matter.
func KnownField(name string) bool {
	return slices.ContainsFunc(knownFields, func(known string) bool {
		return strings.EqualFold(known, name)
	})
}

// DecodeUTF16 returns text that begins with a byte order mark of UTF-16, as some
// editors write it, in UTF-8; any other data as they are.
func DecodeUTF16(data []byte) (text []byte, wide bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data, false
	}
	units := make([]uint16, 0, len(data)/2)
	for rest := data[2:]; len(rest) > 1; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return []byte(string(utf16.Decode(units))), true
}
