// Package diag describes findings about a line of an annotation, a gophermap or a
// robots.txt, or about a flag. Every package that finds a problem reports it as a
// [Diagnostic], and every output (a command, the log, -json) prints it in the same
// form:
//
//	phlog/.robots:3: warning: "Disallow: /draft" matches nothing; the nearest name is /drafts/ (NO-MATCH)
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Diagnostic is one finding.
type Diagnostic struct {
	Code     string   `json:"code"` // the kind, in capitals with hyphens; it never changes
	Severity Severity `json:"severity"`
	File     string   `json:"file"`    // as its author knows it; "" if it is about the whole
	Line     int      `json:"line"`    // counted from 1; 0 if it is about the whole file
	Message  string   `json:"message"` // one line for people; what it quotes is escaped
	Hint     string   `json:"hint"`    // what to do; may be empty
}

// Place returns "file:line", "file" if there is no line, or "".
func (d Diagnostic) Place() string { return Place(d.File, d.Line) }

// Place names a line of a file, or, if line is 0, the file as a whole.
func Place(file string, line int) string {
	file = Printable(file)
	if line > 0 {
		return file + ":" + strconv.Itoa(line)
	}
	return file
}

// String is the diagnostic as one line without its hint:
// "file:line: severity: text (CODE)".
func (d Diagnostic) String() string {
	var b strings.Builder
	if place := d.Place(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", cmp.Or(d.Severity, Warning), Printable(d.Message))
	if d.Code != "" {
		b.WriteString(" (" + d.Code + ")")
	}
	return b.String()
}

// Text is the diagnostic as a command prints it: one line, and a second for the
// hint if there is one. Both end in a newline.
func (d Diagnostic) Text() string {
	text := d.String() + "\n"
	if d.Hint != "" {
		text += "    hint: " + Printable(d.Hint) + "\n"
	}
	return text
}

// Printable returns s with every byte that a terminal could obey or that is not
// text in the escaped form of a Go string (\x1b, \n, \u202e), and all else as it
// is. Text that came from a stranger must pass through it before it is printed.
func Printable(s string) string {
	clean := func(r rune) bool { return unicode.IsPrint(r) || r == '\u00a0' || r == '\ufffd' }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if clean(r) && (r != utf8.RuneError || size > 1) {
			b = append(b, s[:size]...)
		} else {
			quoted := strconv.AppendQuote(nil, s[:size])
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		s = s[size:]
	}
	return string(b)
}

// Shorten cuts a text that is longer than most bytes, before a character, and marks the cut.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// Compare orders diagnostics: the worst first, then by file, line and code.
func Compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Severity.rank(), b.Severity.rank()),
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		strings.Compare(a.Code, b.Code),
		strings.Compare(a.Message, b.Message),
	)
}

// Severity is how bad a diagnostic is.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"   // the line does not have the effect that it states
	Warning Severity = "warning" // the line may do something else than it seems to
	Notice  Severity = "notice"  // a fact that is good to know
)

// rank orders severities, the worst first; the zero value and unknown ones last.
func (s Severity) rank() int {
	switch s {
	case Error:
		return 0
	case Warning:
		return 1
	case Notice:
		return 2
	}
	return 3
}

// Worse reports whether s is worse than t.
func (s Severity) Worse(t Severity) bool { return s.rank() < t.rank() }

// Count is a number with the word for one, or for more or none: "1 name", "2 names".
func Count(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return strconv.Itoa(n) + " " + one
}

// Cause returns why a file could not be read, without its name.
func Cause(err error) error {
	for e := (*fs.PathError)(nil); errors.As(err, &e); {
		err = e.Err
	}
	return err
}
