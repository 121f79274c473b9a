// Package terminal is what gophd does for people at a terminal: it keeps strangers'
// text from commanding the terminal, and shows how far a long task has come.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coreos/go-systemd/v22/journal"
	"golang.org/x/term"

	"github.com/gophd/gophd/diag"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsJournal reports whether w is standard error, and systemd's journal reads it.
func IsJournal(w io.Writer) bool {
	if w != os.Stderr {
		return false
	}
	ours, err := journal.StderrIsJournalStream()
	return ours && err == nil
}

// Safe returns a writer of text to w. Whatever a terminal could obey is written
// in its escaped form, as [diag.Printable] does it; line ends and tabs are kept.
// Close writes what may be the beginning of a character.
func Safe(w io.Writer) io.WriteCloser { return &safeWriter{w: w} }

// WholeFile returns a writer for untrusted files: w itself, or [Safe] if w is a terminal.
func WholeFile(w io.Writer) io.WriteCloser {
	if Is(w) {
		return Safe(w)
	}
	return asItIs{w}
}

type asItIs struct{ io.Writer }

func (asItIs) Close() error { return nil }

type safeWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character, or CR: what follows decides
}

func (s *safeWriter) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	n := len(text)
	switch {
	case n > 0 && text[n-1] == '\r':
		n--
	default:
		for i := n - 1; i >= max(0, n-utf8.UTFMax); i-- {
			if utf8.RuneStart(text[i]) {
				if !utf8.FullRune(text[i:]) {
					n = i
				}
				break
			}
		}
	}
	s.rest = bytes.Clone(text[n:])
	_, err := s.w.Write(escape(text[:n]))
	return len(p), err
}

func (s *safeWriter) Close() error {
	_, err := s.w.Write(escape(s.rest))
	s.rest = nil
	return err
}

// escape makes text fit for a terminal, line by line.
func escape(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		i := bytes.IndexAny(text, "\n\t")
		if i < 0 {
			return append(out, diag.Printable(string(text))...)
		}
		line := text[:i]
		if text[i] == '\n' {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		out = append(append(out, diag.Printable(string(line))...), text[i])
		text = text[i+1:]
	}
	return out
}

// PrintJSON writes a value as JSON that a program reads, and a person may.
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(JSON(b.Bytes()))
	return err
}

// JSON escapes in lines of JSON what a terminal would obey and package json
// leaves: DEL, the controls from U+0080 on, marks that turn the direction.
func JSON(lines []byte) []byte {
	if bytes.IndexFunc(lines, func(r rune) bool { return r >= 0x7f }) < 0 { // nearly all lines
		return lines
	}
	var out []byte
	for _, r := range string(lines) {
		if r < 0x7f || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
