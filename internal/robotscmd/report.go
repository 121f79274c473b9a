package robotscmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
)

// maxShown is how many selectors a report shows of those that JSON has in full.
const maxShown = 5

// withoutTwins leaves out reports on selectors without their leading slash where
// the same is said of those with it, which come first.
func withoutTwins(reports []policy.Report) []policy.Report {
	type key struct {
		code, file, selector string
		line                 int
	}
	seen := map[key]bool{}
	var list []policy.Report
	for _, r := range reports {
		if seen[key{r.Code, r.File, "/" + r.Selector, r.Line}] && r.Selector != "" {
			continue
		}
		seen[key{r.Code, r.File, r.Selector, r.Line}] = true
		list = append(list, r)
	}
	return list
}

// maxAlike is how many reports of a kind about one line are shown in full.
const maxAlike = 3

// reportsText gives the reports for people. One line may be to blame for
// thousands, which differ in the selector only.
func reportsText(reports []policy.Report) string {
	var b strings.Builder
	alike := 0
	end := func() {
		if alike > maxAlike {
			_, _ = fmt.Fprintf(&b, "    and %d more of this kind (-json lists them)\n", alike-maxAlike)
		}
		alike = 0
	}
	for i, r := range reports {
		if i > 0 && (r.Code != reports[i-1].Code || r.File != reports[i-1].File || r.Line != reports[i-1].Line) {
			end()
		}
		if alike++; alike <= maxAlike {
			b.WriteString(reportText(r))
		}
	}
	end()
	return b.String()
}

// reportText gives a report for people: what it says in the first line, in the
// next ones who is concerned and what to do.
func reportText(r policy.Report) string {
	var b strings.Builder
	file := r.File
	if file == "" {
		file = "robots.txt"
	}
	d := diag.Diagnostic{Code: r.Code, Severity: diag.Severity(r.Severity), File: file, Line: r.Line, Message: r.Message}
	b.WriteString(d.String() + "\n")
	more := func(what, text string) {
		if text != "" {
			_, _ = fmt.Fprintf(&b, "    %s: %s\n", what, text)
		}
	}
	if r.Selector != "" {
		more("selector", strconv.Quote(r.Selector))
	}
	more("readers", strings.Join(r.Readers, ", "))
	more("leaks", quotedList(r.Leaks))
	more("victims", quotedList(r.Victims))
	more("hint", r.Hint)
	return b.String()
}

func quotedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i == maxShown {
			_, _ = fmt.Fprintf(&b, " and more (-json lists %d)", len(list))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}
