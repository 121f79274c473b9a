package robots

import (
	"iter"
	"slices"
	"strings"
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

var kindNames = [...]string{"blank", "comment", "malformed", "user-agent", "allow", "disallow", "content-usage", "field"}

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
	Text   string // as it stands, with its line end
	Kind   LineKind
	Field  string // as written, without blanks around it; "" if there is none
	Value  string // without comment and blanks around it

	Forgiven bool // the field is misspelt or has no colon, and counts all the same
}

// textSpan is a part of the text.
type textSpan struct{ from, to int }

// lineSpans is a Line as places in the text. The parser uses it because it has
// no pointers, which the garbage collector would have to hear of.
type lineSpans struct {
	number       int
	kind         LineKind
	text         textSpan
	field, value textSpan
	forgiven     bool
}

func (f *File) part(s textSpan) string { return f.text[s.from:s.to] }

func (f *File) line(l *lineSpans) Line {
	return Line{l.number, f.part(l.text), l.kind, f.part(l.field), f.part(l.value), l.forgiven}
}

// lineScanner cuts a text into lines, the way the dialect wants it.
type lineScanner struct {
	dialect           Dialect
	forgiving         bool
	text              string
	pos               int // start of the next line
	line              int // lines read
	lf, cr, nul, hash seeker
}

// Lines yields every line, those without effect too.
func (f *File) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		if f != nil {
			f.scan(0, len(f.text), 0, yield)
		}
	}
}

func (f *File) scan(from, to, line int, yield func(Line) bool) {
	s := f.scanner(from, to, line)
	var l lineSpans
	for s.next(&l) && yield(f.line(&l)) {
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

// scanner reads a part of the text; line is how many lines come before it.
func (f *File) scanner(from, to, line int) lineScanner {
	return lineScanner{
		dialect: f.dialect, forgiving: f.dialect == RFC9309 && !f.literal, text: f.text[:to], pos: from, line: line,
		lf: seeker{'\n', -1}, cr: seeker{'\r', -1}, nul: seeker{0, -1}, hash: seeker{'#', -1},
	}
}

// Sitemaps returns the values of all Sitemap lines, in order. They belong to no
// group (R9).
func (f *File) Sitemaps() []string {
	var urls []string
	for l := range f.Lines() {
		if l.Kind == KindField && strings.EqualFold(l.Field, "sitemap") && l.Value != "" {
			urls = append(urls, l.Value)
		}
	}
	return urls
}

const byteOrderMark = "\ufeff"

// next reads a line into l. It reports whether there was one.
func (s *lineScanner) next(l *lineSpans) bool {
	if s.pos >= len(s.text) {
		return false
	}
	start := s.pos
	end := s.advance()
	s.line++
	l.number, l.text = s.line, textSpan{start, s.pos}
	if s.line == 1 && strings.HasPrefix(s.text, byteOrderMark) {
		start += len(byteOrderMark)
	}
	// NUL ends what a line says, as in the C programs that read most files.
	end = min(end, max(start, s.nul.seek(s.text, start)))
	hash := s.comment(start, end)
	s.read(l, textSpan{start, hash}, hash < end)
	return true
}

// advance moves pos behind the line end and gives the end of the content.
func (s *lineScanner) advance() (end int) {
	start, lf := s.pos, s.lf.seek(s.text, s.pos)
	if s.dialect.bareCR() {
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

// comment finds the # that starts a comment, or the end. It stands anywhere
// (G9, R2), but in Extended only after white space (C2).
func (s *lineScanner) comment(start, end int) int {
	at := s.hash.seek(s.text, start)
	for s.dialect == Extended && at < end && at > start && !isBlank(s.text[at-1]) {
		at = s.hash.seek(s.text, at+1)
	}
	return min(at, end)
}

// read takes the content apart.
func (s *lineScanner) read(l *lineSpans, content textSpan, commented bool) {
	content = s.trim(content)
	l.field, l.value, l.forgiven = textSpan{}, textSpan{}, false
	colon := strings.IndexByte(s.text[content.from:content.to], ':')
	switch {
	case content.from == content.to && commented:
		l.kind = KindComment
	case content.from == content.to:
		l.kind = KindBlank
	case colon < 0 && s.forgiving && s.noColon(l, content):
	case colon <= 0:
		l.kind = KindMalformed
	default:
		colon += content.from
		l.field = s.trim(textSpan{content.from, colon})
		l.value = s.trim(textSpan{colon + 1, content.to})
		field := s.text[l.field.from:l.field.to]
		l.kind = s.kindOf(field)
		if l.kind == KindField && s.forgiving {
			l.kind = misspelt(field)
			l.forgiven = l.kind != KindField
		}
	}
}

// noColon reads a line of exactly two words, the first being User-agent or
// Disallow. It reports whether the line is one.
func (s *lineScanner) noColon(l *lineSpans, content textSpan) bool {
	field, value, _ := strings.Cut(strings.ReplaceAll(s.text[content.from:content.to], "\t", " "), " ")
	value = strings.TrimLeft(value, " ")
	kind := s.kindOf(field)
	if kind == KindField {
		kind = misspelt(field)
	}
	if value == "" || strings.Contains(value, " ") || kind != KindAgent && kind != KindDisallow {
		return false
	}
	l.kind, l.forgiven = kind, true
	l.field = textSpan{content.from, content.from + len(field)}
	l.value = textSpan{content.to - len(value), content.to}
	return true
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
	for _, disallow := range []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"} {
		if rest, ok := strings.CutPrefix(field, disallow); ok && !strings.ContainsAny(rest, " \t") {
			return KindDisallow
		}
	}
	return KindField
}

// trim leaves out the blanks at both ends.
func (s *lineScanner) trim(p textSpan) textSpan {
	for p.from < p.to && isBlank(s.text[p.from]) {
		p.from++
	}
	for p.to > p.from && isBlank(s.text[p.to-1]) {
		p.to--
	}
	return p
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

func (s *lineScanner) kindOf(field string) LineKind {
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

// ProductTokens returns the product tokens of a list with commas, each once. RFC 9309
// knows no such lists, and its readers take the first word alone.
func ProductTokens(list string) []string {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		if t := ProductToken(name); t != "" && !slices.ContainsFunc(all, func(a string) bool { return equalFold(a, t) }) {
			all = append(all, t)
		}
	}
	return all
}

func isTokenByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

// recordName returns the name in a record of the 1994 standard, without version.
func recordName(value string) string {
	name, _, _ := strings.Cut(value, "/")
	name = trimBlanks(name)
	return name
}
