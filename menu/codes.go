package menu

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gophd/gophd/diag"
)

// The codes of what is said about the files that a menu is made from. They never
// change.
const (
	CodeProgram = "MENU-PROGRAM" // a program, which is not run and not shown
	CodeText    = "MENU-TEXT"    // a line that begins like a directive and is shown as text
	CodeLine    = "MENU-LINE"    // an item that cannot be linked: its label is shown
	CodeControl = "MENU-CONTROL" // control characters, which are not sent
	CodeInclude = "MENU-INCLUDE" // an include that has nothing to show
	CodePattern = "MENU-PATTERN" // a pattern that matches nothing
	CodeName    = "MENU-NAME"    // names that are not listed, since nobody could ask for them
	CodeRead    = "MENU-READ"    // what cannot be read
	CodeLimit   = "MENU-LIMIT"   // what is more than a menu may have
)

// severities are those of the codes; what is missing is a warning.
var severities = map[string]diag.Severity{CodeText: diag.Notice}

var hints = map[string]string{
	CodeProgram: "gophd starts no program and does not show its source",
}

// problem tells what is wrong with the line that is being read, or with the
// directory.
func (m *making) problem(code, format string, args ...any) {
	file, line := m.dir, 0
	if n := len(m.maps); n > 0 {
		file, line = m.maps[n-1].file, m.maps[n-1].line
	}
	m.report(code, file, line, fmt.Sprintf(format, args...))
}

// report tells what is wrong with a line of a file, or with all of it.
func (m *making) report(code, file string, line int, text string) {
	severity := severities[code]
	if severity == "" {
		severity = diag.Warning
	}
	d := diag.Diagnostic{Code: code, Severity: severity, File: file, Line: line, Message: text, Hint: hints[code]}
	switch n := len(m.menu.Problems); {
	case n < maxProblems-1:
		m.menu.Problems = append(m.menu.Problems, d)
	case n == maxProblems-1:
		d.Code, d.Hint, d.Message = CodeLimit, "", "more problems from here on are not told"
		m.menu.Problems = append(m.menu.Problems, d)
	}
}

// cause returns why a file could not be read, without its name.
func cause(err error) string {
	for pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr); {
		err = pathErr.Err
	}
	return err.Error()
}
