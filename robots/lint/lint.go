// Package lint reports the lines of a robots file, or of an annotation of gophd, that have
// no effect, or not the effect that their author meant. An error is a line that denies
// nothing, or a robot less than it seems to.
//
// The code of a diagnostic names the requirement behind it, if there is one, and its
// kind: R8-OUTSIDE. The requirements are listed in
// https://github.com/gophd/gophd/blob/main/doc/requirements.md:
// G is the Gopher text, R RFC 9309, U its
// Content-Usage lines, S for the 1994 standard, C for the
// Extended one. The kinds: ABSENT, AGENT, BLANK, BYTES,
// COMMENT, DUPLICATE, EMPTY, EMPTY-GROUP, ESCAPE, EXPERIMENTAL, FORM, IGNORED,
// LICENSE, LONG, MEANT, MISSPELT-FIELD, MORE, NEVER, NO-COLON, OUTSIDE, PLACE,
// PURPOSE, SIGNAL-KEY, SIGNAL-VALUE, SITEMAP, SIZE, SWALLOWED, UNKNOWN-FIELD, UNREACHED, USAGE,
// USAGE-ALONE, USAGE-FORGETS, USAGE-KEY, USAGE-VALUE, VALUE, WILDCARD.
package lint

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// linter collects the diagnostics of a file. It checks lines one by one (line.go)
// and the groups that they make (group.go).
type linter struct {
	diag.List

	file    *robots.File
	dialect readers.Dialect
	dir     string                 // of an annotation; "" for a file
	source  iter.Seq[readers.Line] // the lines as they were written
	groups  []robots.Group

	named map[string]int // the line in which a robot was first named
	cut   map[int]string // values of User-agent whose first word alone is compared, by line
	apart map[int]bool   // lines of User-agent that a blank line parts from another one
}

// The sizes at which a file is remarked on: some readers stop at the second.
const (
	largeFile   = 100 << 10
	tooBigFile  = 500 << 10
	longPattern = 255 // bytes of a selector, RFC 1436
)

// File reports the lines of a file that have no effect, or not the effect
// that their author meant, by the file's own dialect and in the order of lines. A nil
// File has none. The diagnostics do not name the file.
func File(f *robots.File) []diag.Diagnostic {
	l := linter{
		file:    f,
		dialect: f.Dialect(),
		source:  f.Lines(),
		groups:  f.Groups(),
	}
	if l.nothing() { // so its lines and its size do not matter
		return l.All()
	}
	l.size()
	return l.find()
}

// find checks the lines and the groups.
func (l *linter) find() []diag.Diagnostic {
	l.named = map[string]int{}
	l.cut = map[int]string{}
	l.apart = map[int]bool{}
	l.lines()
	if l.dir == "" && !slices.ContainsFunc(l.groups, func(g robots.Group) bool {
		return len(g.Rules) > 0
	}) {
		l.fold()
	}
	for i, g := range l.groups {
		l.group(i, g)
	}

	found := l.All()
	slices.SortStableFunc(found, func(a, b diag.Diagnostic) int {
		return cmp.Compare(a.Line, b.Line)
	})
	return found
}

// fold replaces the diagnostics of meaningless lines by one, for a file without a rule: a
// text in which some line happens to look like a field.
func (l *linter) fold() {
	meaningless := func(d diag.Diagnostic) bool {
		return d.Code == "R9-UNKNOWN-FIELD" || d.Code == "R2-NO-COLON"
	}
	n, line := l.More, 0
	for _, d := range l.Found {
		if meaningless(d) {
			n, line = n+1, cmp.Or(line, d.Line)
		}
	}
	if n > 1 {
		l.Found, l.More = slices.DeleteFunc(l.Found, meaningless), 0
		l.Warn(line, "G1-ABSENT",
			"no line is a rule, and %d lines from here on mean nothing to robots", n)
	}
}

// size reports a file that robots may not read to its end.
func (l *linter) size() {
	switch n := l.file.Size(); {
	case l.file.Truncated():
		l.Warn(0, "R14-SIZE", "only the first %d bytes were read, up to a line end", n)
	case n > tooBigFile:
		l.Warn(0, "R14-SIZE", "%d bytes: robots may stop reading after %d", n, tooBigFile)
	case n > largeFile:
		l.Notice(0, "R14-SIZE", "%d bytes: robots may stop reading after %d", n, tooBigFile)
	}
}

// page matches the beginning of a web page.
var page = regexp.MustCompile(`(?i)^\s*<(!doctype|html|\?xml|head)`)

// nothing reports a file that robots cannot read, one without a line for them, and a web
// page, even if some line of it looks like a field. It returns true if it reports one.
func (l *linter) nothing() bool {
	if err := l.file.Readable(); err != nil {
		l.Warn(0, "R10-BYTES", "%v: robots should stay away from the host", err)
		return true
	}
	text := strings.TrimPrefix(string(l.file.AppendTo(nil)), "\ufeff")
	switch {
	case page.MatchString(text) && !slices.ContainsFunc(l.groups, func(g robots.Group) bool {
		return len(g.Agents) > 0
	}):
		l.Warn(0, "G1-ABSENT", "a web page, not a robots file: robots take the host for one without rules")
		return true
	case l.file.Absent() && l.file.Size() > 0:
		l.Warn(0, "G1-ABSENT", "no line means anything to robots: the file counts as absent")
		return true
	}
	return false
}
