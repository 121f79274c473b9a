package robots

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Parse reads data as d. It never fails: lines that mean nothing are kept and
// reported by package lint. The data are copied. Of more than 512 MiB the rest is
// dropped. To read what strangers send, use [ParseReader].
func Parse(d Dialect, data []byte) *File { return Parser{Dialect: d}.Parse(data) }

// ParseReader reads at most limit bytes from r; of a longer file the partial
// last line is dropped (R14). A limit of zero or less stands for
// [DefaultLimit]. Any error comes from r.
func ParseReader(d Dialect, r io.Reader, limit int64) (*File, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, maxText)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading robots file: %w", err)
	}
	return Parser{Dialect: d}.parse(data, int(limit)), nil
}

// A Parser reads files with options. [Parse] and [ParseReader] set only the
// dialect.
type Parser struct {
	Dialect Dialect

	// Literal keeps RFC9309 to the letter of its grammar. Without it common
	// misspellings of User-agent and Disallow (Useragent, Disalow, …) and a
	// missing colon after either count, as they do for Google's parser (RFC 9309,
	// section 2.2.4, lets a robot be lenient); [Line] has the mark Forgiven then.
	Literal bool

	// Truncated reports whether the data are the beginning of a longer text, up to
	// the end of a line.
	Truncated bool
}

// Parse is as the function.
func (p Parser) Parse(data []byte) *File { return p.parse(data, maxText) }

func (p Parser) parse(data []byte, limit int) *File {
	read := data[:min(len(data), limit)]
	text, wide := readers.DecodeUTF16(read)
	if len(data) > limit {
		text = wholeLines(p.Dialect, text)
	}
	f := &File{dialect: p.Dialect, literal: p.Literal, utf16: wide, text: string(text), cut: p.Truncated || len(data) > limit}
	f.read()
	return f
}

// ErrUnreadable is the error of [File.Readable].
var ErrUnreadable = errors.New("no robot can read the file")

// Readable returns an error that is [ErrUnreadable] if the file is no text: compressed,
// in UTF-16 without a byte order mark, or with a NUL in its first line. What it says
// cannot be known, so a robot should take its host for unreachable (R12), not for one
// without rules.
func (f *File) Readable() error {
	if f == nil {
		return nil
	}
	for magic, format := range map[string]string{"\x1f\x8b": "gzip", "\x28\xb5\x2f\xfd": "zstd", "PK\x03\x04": "zip"} {
		if strings.HasPrefix(f.text, magic) {
			return fmt.Errorf("%w: it is compressed (%s)", ErrUnreadable, format)
		}
	}
	first, _, _ := strings.Cut(f.text, "\n")
	if strings.IndexByte(first, 0) >= 0 {
		return fmt.Errorf("%w: NUL bytes in its first line, as of UTF-16 without a byte order mark", ErrUnreadable)
	}
	// Brotli has no mark to know it by.
	if start := f.text[:min(len(f.text), 1024)]; f.Absent() && strings.ContainsFunc(start, isBinary) {
		return fmt.Errorf("%w: it holds control bytes and no line that robots know", ErrUnreadable)
	}
	return nil
}

func isBinary(r rune) bool { return r < ' ' && (r < '\t' || r > '\r') && r != 0x1a && r != 0x1b }

// wholeLines leaves out the last line, which is cut (R14).
func wholeLines(d Dialect, text []byte) []byte {
	ends := "\n"
	if d.BareCR() {
		ends = "\r\n"
	}
	return text[:bytes.LastIndexAny(text, ends)+1]
}

// read makes the groups and their records.
func (f *File) read() {
	if f.dialect == readers.IRCv3 {
		f.present = f.hasCrawler()
		return
	}
	f.records = make([]record, 0, len(f.text)/usualLine)
	b := grouper{file: f}
	s := f.scanner(0, len(f.text), 0)
	var l readers.Places
	for s.Next(&l) {
		b.add(&l)
	}
	f.records, f.groups = slices.Clip(slices.Clone(f.records)), slices.Clip(slices.Clone(f.groups))
}

// usualLine is how many bytes a rule takes in most files.
const usualLine = 40

// grouper puts lines into groups.
type grouper struct {
	file *File
	open bool             // there is a group that lines belong to
	full bool             // the next User-agent line begins another one
	last readers.LineKind // of the last line that was no blank or comment
}

// add takes the next line. R1 is the common rule: a group ends at a User-agent
// line that follows a rule.
func (b *grouper) add(l *readers.Places) {
	f := b.file
	switch l.Kind {
	case readers.KindBlank:
		// Only the 1994 standard separates records by blank lines.
		b.open = b.open && f.dialect != readers.Standard1994
		return
	case readers.KindComment, readers.KindMalformed:
		return
	case readers.KindAgent:
		b.agent(l)
	case readers.KindAllow, readers.KindDisallow, readers.KindUsage:
		b.begin(l, false)
		b.record(l)
		b.full = true
	case readers.KindField:
		b.begin(l, false)
		b.field(l)
	}
	f.present = f.present || l.Kind < readers.KindUsage || readers.KnownField(l.Field.Of(f.text))
	b.last = l.Kind
}

func (b *grouper) agent(l *readers.Places) {
	if b.file.dialect == readers.GopherStrict { // G10
		b.begin(l, false)
		return
	}
	b.begin(l, true)
	b.record(l)
}

// begin opens a group unless the line belongs to the one that is open.
func (b *grouper) begin(l *readers.Places, agent bool) {
	f := b.file
	if b.open && (!agent || !b.full && f.groups[len(f.groups)-1].agents) {
		return
	}
	b.open, b.full = true, false
	f.groups = append(f.groups, groupText{
		pos: uint32(l.Text.From), line: uint32(l.Number - 1), record: uint32(len(f.records)), agents: agent,
	})
}

func (b *grouper) record(l *readers.Places) {
	b.file.records = append(b.file.records, record{
		pos:  uint32(l.Value.From),
		line: uint32(l.Number),
		size: uint32(l.Value.To-l.Value.From) | uint32(l.Kind-readers.KindAgent)<<recordKinds,
	})
}

// field takes what Extended says of other directives: each ends the run of
// User-agent lines (C1), and Robot-version counts directly after it (C3).
func (b *grouper) field(l *readers.Places) {
	f := b.file
	if f.dialect != readers.Extended {
		return
	}
	b.full = true
	if b.last == readers.KindAgent && strings.EqualFold(l.Field.Of(f.text), "robot-version") {
		f.groups[len(f.groups)-1].version, _ = readers.ParseVersion(l.Value.Of(f.text))
	}
}
