package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
)

// maxLooked bounds the names that are compared to find out which rules match
// nothing: rules of which it is not known by then are taken to match something.
const maxLooked = 1 << 20

// finder looks for names that rules match.
type finder struct {
	known    []string // selectors that are no files, or the ends of such, in URI form
	programs []*rule  // what programs answer is denied
	looked   int

	// Where nothing was found before, nothing is now: directories do not change.
	before, nothing map[sought]bool
}

// sought is a rule that was looked for in and below a directory.
type sought struct {
	by  *rule
	dir *Dir
}

// minSought is how many names there must be below a directory for it to be
// remembered that none matches, maxSought how often that is.
const (
	minSought = 256
	maxSought = 1 << 16
)

// unmatched reports the rules of an annotation that match nothing that exists now.
func (f *finder) unmatched(n *node) (list []Report) {
	for i, r := range n.note.lines {
		if i > 0 && r.line == n.note.lines[i-1].line && r.file == n.note.lines[i-1].file {
			continue // the name that an escape decodes to is enough
		}
		if missing, near := f.missing(r, n); missing {
			list = append(list, noMatch(r, near))
		}
	}
	return list
}

func noMatch(r *rule, near string) Report {
	message := fmt.Sprintf("%q matches nothing", r.field()+r.value)
	if near != "" {
		message += "; the nearest name is " + near
	}
	report := NewReport(CodeNoMatch, r.file, r.line, message)
	report.Selector = r.uri
	if near == "" {
		report.Severity = diag.Notice
	}
	return report
}

// missing reports whether a rule matches nothing, and which name is near.
func (f *finder) missing(r *rule, n *node) (missing bool, near string) {
	if slices.ContainsFunc(f.known, func(sel string) bool {
		return matches(r.uri, sel) || sel[0] != '/' && strings.HasSuffix(strings.TrimSuffix(r.uri, "$"), sel)
	}) || slices.ContainsFunc(f.programs, func(p *rule) bool { return r.names(p.value) }) {
		return false, ""
	}
	d, at := n.dir, n.at.uri+"/"
	rest, ok := unescape(strings.TrimPrefix(headOf(r.uri), at))
	if !ok {
		return false, ""
	}
	for {
		name, more, deeper := strings.Cut(rest, "/")
		if !deeper {
			break
		}
		sub := d.sub(name)
		if sub == nil {
			return true, f.nearest(d, name, n, at)
		}
		d, at, rest = sub, at+escape(name)+"/", more
	}
	if f.any(d, at, rest, r) {
		return false, ""
	}
	if rest != "" && isLiteral(strings.TrimSuffix(r.uri, "$")) {
		near = f.nearest(d, rest, n, at)
	}
	return true, near
}

// any reports whether a rule matches a directory, or something in or below it
// whose name begins with head.
func (f *finder) any(d *Dir, at, head string, r *rule) bool {
	start, pattern := f.looked, r.uri
	if head == "" && matches(pattern, at) {
		return true
	}
	if head == "" && f.before[sought{r, d}] {
		f.nothing[sought{r, d}] = true
		return false
	}
	from, _ := slices.BinarySearch(d.Files, head)
	for _, name := range d.Files[from:] {
		if !strings.HasPrefix(name, head) {
			break
		}
		if f.looked++; f.looked > maxLooked || matches(pattern, at+escape(name)) {
			return true
		}
	}
	from, _ = slices.BinarySearchFunc(d.Dirs, head, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	for _, sub := range d.Dirs[from:] {
		if !strings.HasPrefix(sub.Name, head) {
			break
		}
		if f.looked++; f.looked > maxLooked || f.any(sub, at+escape(sub.Name)+"/", "", r) {
			return true
		}
	}
	if head == "" && f.looked-start >= minSought && len(f.nothing) < maxSought {
		f.nothing[sought{r, d}] = true
	}
	return false
}

// nearest returns the name in a directory that is most like another, as it would
// be written in the annotation; "" if none is.
func (f *finder) nearest(d *Dir, name string, n *node, at string) string {
	best, least := "", 3
	try := func(other, end string) {
		f.looked++
		if distance := diag.Distance(strings.ToLower(name), strings.ToLower(other), least); distance < least {
			best, least = strings.TrimPrefix(at, n.at.uri)+other+end, distance
		}
	}
	for _, sub := range d.Dirs {
		try(sub.Name, "/")
	}
	for _, file := range d.Files {
		try(file, "")
	}
	if len(name) < 3 && least > 0 {
		return ""
	}
	return best
}

// near reports whether a word is a misspelling of another.
func near(word, of string) bool { return word != of && diag.Distance(word, of, 3) < 2 }
