package robots

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Parse parses data as d. It never fails: invalid lines are kept, and reported by package lint. It
// copies the data. Use [ParseReader] for untrusted input.
func Parse(d Dialect, data []byte) *File {
	return Parser{Dialect: d}.Parse(data)
}

// ParseReader reads at most limit bytes from r; of a longer file the partial
// last line is dropped (R14). If limit is zero or less, it is
// [DefaultLimit]; a nil r is empty. Any error comes from r.
func ParseReader(d Dialect, r io.Reader, limit int64) (*File, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, math.MaxInt64-1)
	if r == nil {
		r = strings.NewReader("")
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading robots file: %w", err)
	}
	if int64(len(data)) <= limit {
		return Parse(d, data), nil
	}

	// Decode what is whole, and leave out the last line, which is cut (R14).
	text, wide := readers.DecodeUTF16(data[:limit])
	ends := "\n"
	if d.BareCR() {
		ends = "\r\n"
	}
	f := Parser{Dialect: d, Truncated: true}.Parse(text[:bytes.LastIndexAny(text, ends)+1])
	f.utf16 = wide
	return f, nil
}

// A Parser reads files with options. [Parse] and [ParseReader] set only the
// dialect.
type Parser struct {
	Dialect Dialect

	// Literal keeps RFC9309 to the letter of its grammar. Without it common
	// misspellings of User-agent and Disallow (Useragent, Disalow, …) and a
	// missing colon after either count, as they do for Google's parser (RFC 9309,
	// section 2.2.4, lets a robot be lenient); [readers.Line] has the mark Forgiven then.
	Literal bool

	// Truncated reports whether the data are the beginning of a longer text, up to
	// the end of a line.
	Truncated bool
}

// Parse is as the function.
func (p Parser) Parse(data []byte) *File {
	text, wide := readers.DecodeUTF16(data)
	f := &File{
		reader: p.Dialect.Reader(),
		utf16:  wide,
		text:   string(text),
		cut:    p.Truncated,
	}
	f.reader.Literal = p.Literal
	f.lines = f.reader.Group(f.text)
	return f
}

// ErrUnreadable is the error of [File.Readable].
var ErrUnreadable = errors.New("no robot can read the file")

// Readable returns an error that is [ErrUnreadable] if the file is no text: compressed,
// in UTF-16 without a byte order mark, or with a NUL in its first line. Its rules
// are unknown, so a robot should treat its host as unreachable (R12), not as one without
// rules.
func (f *File) Readable() error {
	if f == nil {
		return nil
	}
	for magic, format := range map[string]string{
		"\x1f\x8b":         "gzip",
		"\x28\xb5\x2f\xfd": "zstd",
		"PK\x03\x04":       "zip",
	} {
		if strings.HasPrefix(f.text, magic) {
			return fmt.Errorf("%w: it is compressed (%s)", ErrUnreadable, format)
		}
	}
	first, _, _ := strings.Cut(f.text, "\n")
	if strings.IndexByte(first, 0) >= 0 {
		return fmt.Errorf("%w: NUL bytes in its first line, as of UTF-16 without a byte order mark", ErrUnreadable)
	}
	// Brotli has no mark to know it by.
	if start := f.text[:min(len(f.text), 1024)]; f.Absent() &&
		strings.ContainsFunc(start, isBinary) {
		return fmt.Errorf("%w: it holds control bytes and no line that robots know", ErrUnreadable)
	}
	return nil
}

func isBinary(r rune) bool {
	return r < ' ' && (r < '\t' || r > '\r') && r != 0x1a && r != 0x1b
}
