package robots

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
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
	text    string
	records []record
	groups  []group
	present bool // some line means something to robots
	cut     bool // the text was longer than the limit

	once   sync.Once
	agents agentTable
}

// Parse reads data as d. It never fails: lines that mean nothing are kept and
// reported by package lint. The data are copied. Of more than 512 MiB the rest is
// dropped; whoever reads from strangers takes [ParseReader].
func Parse(d Dialect, data []byte) *File {
	kept := wholeLines(d, data, maxText)
	return parse(d, string(kept), len(kept) < len(data))
}

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
	kept := wholeLines(d, data, int(limit))
	return parse(d, string(kept), len(kept) < len(data)), nil
}

// wholeLines cuts data to limit bytes, at a line end.
func wholeLines(d Dialect, data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	ends := "\n"
	if d.bareCR() {
		ends = "\r\n"
	}
	return data[:bytes.LastIndexAny(data[:limit], ends)+1]
}

func parse(d Dialect, text string, cut bool) *File {
	f := &File{dialect: d, text: text, cut: cut}
	if d == IRCv3 {
		f.present = f.network().there
		return f
	}
	f.records = make([]record, 0, len(text)/usualLine)
	b := grouper{file: f}
	s := f.scanner(0, len(text), 0)
	var l lineSpans
	for s.next(&l) {
		b.add(&l)
	}
	return f
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

// AppendTo appends the file as it was read, byte for byte.
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
// an HTML page are told from a robots file by this (G1).
func (f *File) Absent() bool { return f == nil || !f.present }

// Sitemaps gives the values of all Sitemap lines, in order. They belong to no
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
