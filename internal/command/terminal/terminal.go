// Package terminal is what gophd does for people at a terminal: it keeps strangers'
// text from commanding the terminal, and shows how far a long task has come.
package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coreos/go-systemd/v22/journal"
	"golang.org/x/term"
	"golang.org/x/text/transform"

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
func Safe(w io.Writer) io.WriteCloser { return transform.NewWriter(w, printable{}) }

// WholeFile returns a writer for untrusted files: w itself, or [Safe] if w is a terminal.
func WholeFile(w io.Writer) io.WriteCloser {
	if Is(w) {
		return Safe(w)
	}
	return asItIs{w}
}

type asItIs struct{ io.Writer }

func (asItIs) Close() error { return nil }

// printable makes text fit for a terminal.
type printable struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (printable) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if !atEOF && (string(rest) == "\r" || !utf8.FullRune(rest)) {
			return nDst, nSrc, transform.ErrShortSrc // what follows decides
		}
		_, size := utf8.DecodeRune(rest)
		text := string(rest[:size])
		switch {
		case bytes.HasPrefix(rest, []byte("\r\n")):
			text = "\n"
			size = 2
		case text != "\n" && text != "\t":
			text = diag.Printable(text)
		}
		if nDst+len(text) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += copy(dst[nDst:], text)
		nSrc += size
	}
	return nDst, nSrc, nil
}

// PrintText writes the output of a command, which may quote strangers. It always escapes control
// characters, since a pipe may lead to a terminal.
func PrintText(w io.Writer, text string) error {
	safe := Safe(w)
	_, err := io.WriteString(safe, text)
	return errors.Join(err, safe.Close())
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
