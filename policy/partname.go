package policy

import (
	"fmt"

	"github.com/gophd/gophd/robots"
)

// The 1994 standard has a robot look for the name of a group anywhere in its own
// name. So a group for "bot" is also that of "gptbot", which nobody names and to
// which the policy for all applies. Where the group allows more than that, such
// a robot is let in; no file can say otherwise and still name the robot. It is
// found out by asking the model, and reported.

// partNames finds what robots that nobody names get from a group whose name is
// part of theirs. What no annotation says to the named robot it treats as all
// others do, so only where one does is there anything to ask.
func (p *prover) partNames(s *section) {
	named := s.class.tokens[0]
	row := p.row1994()
	if named == "*" || row < 0 {
		return
	}
	p.only = map[*Dir]bool{}
	p.c.index.naming(named, p.c.root, p.only)
	p.oracle.token = "*"
	r := robots.Readers()[row].Read(p.c.file, "+"+named)
	e := exposure{report: NewReport(CodePartName, s.class.file, 0,
		fmt.Sprintf("a robot whose name contains %q takes the group for its own: it is let in where all others are kept out", named))}
	p.partName(p.c.root, "/", named, p.oracle.enter(p.c.root, "/", nil), func(sel string) {
		if r(sel) {
			p.c.matrix[row].Leaks++
			e.found(p.c.matrix[row].Name, sel)
		}
	})
	if len(e.report.Leaks) > 0 {
		e.report.Selector = e.report.Leaks[0]
		p.c.reports = append(p.c.reports, e.report)
	}
}

// row1994 is the row of the readers that know only the 1994 standard.
func (p *prover) row1994() int {
	for i, r := range p.c.matrix {
		if r.Name == robots.Standard1994.String() {
			return i
		}
	}
	return -1
}

// partName calls denied for each selector in and below d that is denied to robots
// nobody names.
func (p *prover) partName(d *Dir, sel, named string, v view, denied func(string)) {
	if !p.only[d] && !v.names(named) {
		return
	}
	ask := func(canonical string) {
		if !v.denies(canonical) {
			return
		}
		for _, spelling := range spellings(canonical) {
			if _, closed := p.c.Closed(spelling); !closed && !isRobotsSelector(spelling) {
				denied(spelling)
			}
		}
	}
	ask(sel)
	for _, name := range d.Files {
		if !skipped(sel, name) {
			ask(sel + name)
		}
	}
	for _, sub := range d.Dirs {
		if speakable(sub.Name) {
			below := sel + sub.Name + "/"
			p.partName(sub, below, named, p.oracle.enter(sub, below, v), denied)
		}
	}
}
