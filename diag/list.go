package diag

import "fmt"

// MaxFound bounds the diagnostics of a List.
const MaxFound = 1000

// A List collects diagnostics of one file, each once. Past MaxFound it only counts them.
type List struct {
	Found []Diagnostic
	More  int

	seen map[Diagnostic]bool
}

// Error adds a line that does not have the effect that it states.
func (l *List) Error(line int, code, format string, args ...any) {
	l.Add(Error, line, code, format, args...)
}

// Warn adds a line that may do something else than it seems to.
func (l *List) Warn(line int, code, format string, args ...any) {
	l.Add(Warning, line, code, format, args...)
}

// Notice adds a fact that is good to know.
func (l *List) Notice(line int, code, format string, args ...any) {
	l.Add(Notice, line, code, format, args...)
}

// Add adds a diagnostic.
func (l *List) Add(severity Severity, line int, code, format string, args ...any) {
	d := Diagnostic{
		Severity: severity,
		Line:     line,
		Code:     code,
		Message:  fmt.Sprintf(format, args...),
	}
	switch {
	case l.seen[d]:
		return
	case len(l.Found) == MaxFound:
		l.More++
		return
	case l.seen == nil:
		l.seen = map[Diagnostic]bool{}
	}
	l.seen[d] = true
	l.Found = append(l.Found, d)
}

// All returns the diagnostics. Where some were left out, the last one tells how many.
func (l *List) All() []Diagnostic {
	if l.More == 0 {
		return l.Found
	}
	return append(l.Found, Diagnostic{
		Code:     "MORE",
		Severity: Warning,
		Message:  fmt.Sprintf("%d more diagnostics are left out", l.More),
	})
}
