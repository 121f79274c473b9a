package fastcgi

import (
	"bufio"
	"bytes"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/gophd/gophd/selector"
)

// A Header precedes the reply of a CGI program (RFC 3875, section 6.3), or stands for the status
// line of a Gemini script. Programs for Gopher servers usually send none.
type Header struct {
	Status      int // 0 if there is none
	ContentType string
	Location    string
	Line        string // a status line of Gemini that no other field can express
}

// maxHeader is how long a header may be, in bytes.
const maxHeader = 16 << 10

// ReadHeader takes a CGI header off the front of a reply, if there is one: lines
// up to an empty one that all have the form "Token: value", among them
// Content-Type, Status or Location. Anything else is the reply itself, and stays.
// R must have a buffer of at least 16 KiB (see [NewReader]).
func ReadHeader(r *bufio.Reader) (Header, bool) {
	var h Header
	known := false
	for size := 0; ; {
		line, ok := peekLine(r, size, startsField)
		if !ok {
			return Header{}, false
		}
		size += len(line) + 1
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 && known {
			_, _ = r.Discard(size)
			return h, true
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !httpguts.ValidHeaderFieldName(string(name)) || bytes.ContainsFunc(value, func(r rune) bool {
			return r != '\t' && selector.IsControl(r)
		}) {
			return Header{}, false
		}
		known = h.set(string(name), strings.TrimSpace(string(value))) || known
	}
}

// peekLine returns the line that begins at an offset, without its LF. It waits for more of a line
// only while what there is may be one that the caller wants; ok is false if it is not, or if the
// reply ends.
func peekLine(r *bufio.Reader, from int, wanted func(line []byte) bool) (line []byte, ok bool) {
	for n := from + 1; ; n = r.Buffered() + 1 {
		b, err := r.Peek(max(n, r.Buffered()))
		line, _, ended := bytes.Cut(b[min(from, len(b)):], []byte("\n"))
		if ended {
			return line, true
		}
		if err != nil || !wanted(line) {
			return nil, false
		}
	}
}

// NewReader returns a reader of a reply for ReadHeader.
func NewReader(r *Stdout) *bufio.Reader {
	return bufio.NewReaderSize(r, maxHeader)
}

// set notes a field, and reports whether it is one that makes a header.
func (h *Header) set(name, value string) bool {
	switch {
	case strings.EqualFold(name, "Status"):
		code, _, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(code)
		if err == nil && 100 <= n && n <= 999 {
			h.Status = n
		}
		return err == nil
	case strings.EqualFold(name, "Content-Type"):
		h.ContentType = value
	case strings.EqualFold(name, "Location"):
		h.Location = value
	default:
		return false
	}
	return true
}

// startsField reports whether a line that has no end yet may be a field, or empty.
func startsField(line []byte) bool {
	name, _, colon := bytes.Cut(bytes.TrimSuffix(line, []byte("\r")), []byte(":"))
	return len(name) == 0 && !colon || len(name) <= maxName && httpguts.ValidHeaderFieldName(string(name))
}

// maxName is the longest name of a field that is waited for, in bytes.
const maxName = 100

// maxMeta is how long the rest of a status line may be, in bytes.
const maxMeta = 1024

// ReadStatus consumes the status line of a reply of a Gemini script, if it begins with one: two
// digits, a blank and the meta string. "20" needs a media type, "30" and "31" a URL or path
// without blanks. Unless all is set, other statuses are part of the reply.
func ReadStatus(r *bufio.Reader, all bool) (h Header, ok bool) {
	line, ok := peekLine(r, 0, mayBeStatus)
	text := strings.TrimSuffix(string(line), "\r")
	if !ok || len(text) < 3 || !mayBeStatus(line) || !utf8.ValidString(text) ||
		selector.HasControl(text) {
		return Header{}, false
	}
	meta := strings.TrimSpace(text[3:])
	switch status := text[:2]; status {
	case "20":
		h.ContentType = meta
		ok = MediaType(meta) != ""
	case "30", "31":
		h.Location = meta
		ok = meta != "" && !strings.Contains(meta, " ")
		if status == "31" {
			h.Status = 301
		}
	default:
		h.Line = strings.TrimSpace(text[:3] + meta)
		ok = all && slices.Contains(geminiStatuses, status)
	}
	if !ok {
		return Header{}, false
	}
	_, _ = r.Discard(len(line) + 1)
	return h, true
}

// mayBeStatus reports whether a line, which may lack its end, may be a status line.
func mayBeStatus(line []byte) bool {
	for i, c := range line[:min(len(line), 3)] {
		isDigit := '0' <= c && c <= '9'
		if i < 2 && !isDigit || i == 2 && c != ' ' {
			return false
		}
	}
	return len(line) <= maxMeta+4
}

// geminiStatuses are those of the specification (0.24, section 4), besides 20, 30 and 31.
var geminiStatuses = strings.Fields("10 11 40 41 42 43 44 50 51 52 53 59 60 61 62")

// MediaType returns a media type in its usual form; "" if it is none.
func MediaType(s string) string {
	kind, params, err := mime.ParseMediaType(s)
	if err != nil || !strings.Contains(kind, "/") || len(s) > 200 {
		return ""
	}
	return mime.FormatMediaType(kind, params)
}
