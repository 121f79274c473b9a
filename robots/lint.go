package robots

import (
	"cmp"
	"fmt"
	"slices"
)

// linter gathers what is odd in a file. It knows lines one by one (lintline.go)
// and the groups they make (lintgroup.go).
type linter struct {
	file  *File
	found []Diagnostic
}

// The sizes at which a file is remarked on: some readers stop at the second.
const (
	largeFile   = 100 << 10
	tooBigFile  = 500 << 10
	longPattern = 255 // octets of a selector, RFC 1436
)

// Lint reports the lines of the file that have no effect, or a doubtful one, in
// the file's own dialect, in the order of lines. The codes are listed in the
// documentation of the package.
func (f *File) Lint() []Diagnostic {
	if f == nil || f.dialect == IRCv3 {
		return f.lintToken()
	}
	l := linter{file: f}
	l.size()
	l.lines()
	l.groups()
	slices.SortStableFunc(l.found, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return l.found
}

func (l *linter) warn(line int, code, id, format string, args ...any) {
	l.found = append(l.found, Diagnostic{line, code, id, Warning, fmt.Sprintf(format, args...)})
}

func (l *linter) note(line int, code, id, format string, args ...any) {
	l.found = append(l.found, Diagnostic{line, code, id, Note, fmt.Sprintf(format, args...)})
}

// size looks at the file as a whole.
func (l *linter) size() {
	switch n := len(l.file.text); {
	case l.file.cut:
		l.warn(0, "size", "R14", "only the first %d octets were read, up to a line end", n)
	case n > tooBigFile:
		l.warn(0, "size", "R14", "%d octets: robots may stop reading after %d", n, tooBigFile)
	case n > largeFile:
		l.note(0, "size", "R14", "%d octets: robots may stop reading after %d", n, tooBigFile)
	}
	if !l.file.present && l.file.text != "" {
		l.warn(0, "absent", "G1", "no line means anything to robots: the file counts as absent")
	}
}
