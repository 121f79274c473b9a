package robots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
)

// DefaultLimit is how many bytes of a file are read (R14): 500 KiB.
const DefaultLimit = 500 << 10

// usualLine is how many bytes a rule takes in most files.
const usualLine = 40

// maxText is what a record can point into. What is behind it is dropped.
const maxText = 1<<29 - 1

// File is a robots file that was read as one dialect. It never changes and may
// be used by many goroutines at once. A nil or zero File allows everything.
type File struct {
	dialect Dialect
	literal bool
	utf16   bool // as it was written
	text    string
	records []record
	groups  []groupText
	present bool // some line means something to robots
	cut     bool // the text was longer than the limit

	asked   atomic.Bool // for the rules of a robot
	once    sync.Once
	agents  agentTable
	indexed atomic.Int64 // rules in all indexes
}

// Parse reads data as d. It never fails: lines that mean nothing are kept and
// reported by package lint. The data are copied. Of more than 512 MiB the rest is
// dropped. To read what strangers send, use [ParseReader].
func Parse(d Dialect, data []byte) *File { return Parser{Dialect: d}.Parse(data) }

// ParseReader reads at most limit bytes from r; of a longer file the partial
// last line is dropped (R14). A limit of zero or less stands for
// [DefaultLimit]. The error is always that of r.
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

// A Parser reads files in one way. [Parse] and [ParseReader] are that of its
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
	text, wide := decodeUTF16(read)
	if len(data) > limit {
		text = wholeLines(p.Dialect, text)
	}
	f := &File{dialect: p.Dialect, literal: p.Literal, utf16: wide, text: string(text), cut: p.Truncated || len(data) > limit}
	f.read()
	return f
}

// decodeUTF16 returns text that begins with a byte order mark of UTF-16, as some
// editors write it, in UTF-8; any other data as they are.
func decodeUTF16(data []byte) (text []byte, wide bool) {
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

// wholeLines leaves out the last line, which is cut (R14).
func wholeLines(d Dialect, text []byte) []byte {
	ends := "\n"
	if d.bareCR() {
		ends = "\r\n"
	}
	return text[:bytes.LastIndexAny(text, ends)+1]
}

// read makes the groups and their records.
func (f *File) read() {
	if f.dialect == IRCv3 {
		f.present = f.network().there
		return
	}
	f.records = make([]record, 0, len(f.text)/usualLine)
	b := grouper{file: f}
	s := f.scanner(0, len(f.text), 0)
	var l lineSpans
	for s.next(&l) {
		b.add(&l)
	}
}

// Dialect is how the file was read. That of a nil File is [Gopher].
func (f *File) Dialect() Dialect {
	if f == nil {
		return Gopher
	}
	return f.dialect
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

// UTF16 reports whether the file was written in UTF-16, with a byte order mark. It
// is read all the same, as UTF-8, though few robots can.
func (f *File) UTF16() bool { return f != nil && f.utf16 }

// AppendTo appends the file as it was read, byte for byte; one in UTF-16 comes in
// UTF-8.
func (f *File) AppendTo(b []byte) []byte {
	if f == nil {
		return b
	}
	return append(b, f.text...)
}

// Size is how many bytes of the text were read.
func (f *File) Size() int {
	if f == nil {
		return 0
	}
	return len(f.text)
}

// Truncated reports whether the text was longer than the limit it was read with,
// so that its end is missing (R14).
func (f *File) Truncated() bool { return f != nil && f.cut }

// Absent reports whether the body is no robots file at all: no line of it is a
// known field. On Gopher, which has no status codes, a menu, an error item and
// an HTML page are told from a robots file by this (G1). A file whose first line
// is longer than the limit is there, though nothing of it could be read.
func (f *File) Absent() bool { return f == nil || !f.present && (!f.cut || f.text != "") }

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
