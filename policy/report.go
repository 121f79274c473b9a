package policy

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Severity says how bad a report is.
type Severity string

// The severities. An error is something the annotation's author did not get;
// a warning, something that may surprise; a notice, a fact.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Report is one finding about an annotation or about what could be written of it.
type Report struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`     // the annotation; "" if it is about the whole
	Line     int      `json:"line"`     // in the annotation; 0 if it is about all of it
	Selector string   `json:"selector"` // what it is about
	Readers  []string `json:"readers"`  // names of [robots.Readers] concerned
	Victims  []string `json:"victims"`  // allowed selectors that those readers take as denied
	Leaks    []string `json:"leaks"`    // denied selectors that those readers take as allowed
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
}

// sortReports puts the worst first, then goes by file and line, and leaves out
// what was said for one robot already.
func (c *Compiled) sortReports() {
	slices.SortStableFunc(c.reports, compareReports)
	c.reports = slices.CompactFunc(c.reports, func(a, b Report) bool { return reflect.DeepEqual(a, b) })
}

func compareReports(a, b Report) int {
	return cmp.Or(
		cmp.Compare(badness[a.Severity], badness[b.Severity]),
		strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		strings.Compare(a.Code, b.Code), strings.Compare(a.Selector, b.Selector),
	)
}

var badness = map[Severity]int{Error: 0, Warning: 1, Notice: 2}
