package robotscmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
)

// reportsText returns the reports for people: each as a line, in the next ones who
// is concerned and what to do. Notices are counted only, unless all are wanted.
func reportsText(reports []policy.Report, all bool) string {
	var b strings.Builder
	notices := 0
	for _, r := range reports {
		if r.Severity == diag.Notice && !all {
			notices++
			continue
		}
		if r.File == "" {
			r.File = "robots.txt"
		}
		more := func(what, text string) {
			if text != "" {
				_, _ = fmt.Fprintf(&b, "    %s: %s\n", what, text)
			}
		}
		b.WriteString(r.String() + "\n")
		more("readers", strings.Join(r.Readers, ", "))
		more("leaks", quotedList(r.Leaks))
		more("victims", quotedList(r.Victims))
		more("hint", diag.Printable(r.Hint))
	}
	if notices > 0 {
		_, _ = fmt.Fprintf(&b, "%s (-v shows them)\n", diag.Count(notices, "notice", "notices"))
	}
	return b.String()
}

// maxShown is how many selectors a report shows of those that JSON has.
const maxShown = 5

func quotedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i == maxShown {
			b.WriteString(" and more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}
