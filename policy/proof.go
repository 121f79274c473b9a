package policy

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gophd/gophd/robots"
)

// The proof asks the models of all readers in use, for every selector the server
// answers, what they make of the file, and compares with a policy that is worked
// out anew (oracle.go). It shares no matching with the compiler: patterns are
// matched by package robots alone.
//
// It need not ask where nothing can be said: a pattern matches from the first
// octet of a selector, in every reader. If the beginning of each pattern, up to
// the first octet that is more than itself to some reader, differs from that of
// a directory's selector, no reader is barred from anything below it.

// Row is what the proof says of one reader.
type Row struct {
	Name       string `json:"name"`
	Selectors  int    `json:"selectors"`   // asked, for all robots together
	Leaks      int    `json:"leaks"`       // denied, but taken as allowed
	OverBlocks int    `json:"over_blocks"` // allowed, but taken as denied
}

// Matrix is the result of the proof, a row for each reader.
type Matrix []Row

// Leak is a denied selector that a reader takes as allowed.
type Leak struct {
	Reader   string `json:"reader"` // a name of [robots.Readers]
	Agent    string `json:"agent"`  // the robot; "*" for those nobody names
	Selector string `json:"selector"`
}

// String gives the leak as a sentence.
func (l Leak) String() string {
	return fmt.Sprintf("%s lets robot %s into %q", l.Reader, l.Agent, l.Selector)
}

// reading is a reader that has read the file for one robot.
type reading struct {
	name   string
	exact  bool // it knows Allow and $
	globs  bool
	strict bool // every rule binds every robot
	allows func(selector string) bool
}

// models are the readers before they have read anything. What a reader knows is
// found out by asking it.
var models = sync.OnceValue(func() []reading {
	var list []reading
	for _, r := range robots.Readers() {
		list = append(list, reading{
			name:   r.Name,
			exact:  obeys(r, "Allow: /ab$\nDisallow: /a\n", "/ab") && !obeys(r, "Disallow: /a*$\n", "/abc"),
			globs:  !obeys(r, "Disallow: /*b\n", "/ab"),
			strict: !obeys(r, "Disallow: /.\n\nUser-agent: y\nDisallow: /a\n", "/ab"),
		})
	}
	return list
})

// readings lets every model read the file.
func readings(file []byte, agent string) []reading {
	list := slices.Clone(models())
	for i, r := range robots.Readers() {
		list[i].allows = r.Read(file, agent)
	}
	return list
}

// readerNames lists the readers, or only those that know neither Allow nor $.
func readerNames(weak bool) []string {
	var names []string
	for _, r := range models() {
		if !weak || !r.exact {
			names = append(names, r.name)
		}
	}
	return names
}

// obeys asks a reader whether it goes into the selector.
func obeys(r robots.Reader, rules, selector string) bool {
	return r.Read([]byte("User-agent: *\n"+rules), "x")(selector)
}

// prover compares the file with the policy for one robot.
type prover struct {
	c        *Compiled
	section  *section
	token    string
	readings []reading
	heads    *heads
	marks    *heads // of the closed spellings
	old, new memos
	oracle   oracle
	findings *findings
	own      map[string]bool // Disallow patterns in the robot's group
	only     map[*Dir]bool   // not nil: directories with annotations for the robot in or below them
	found    int             // leaks and over-blocks
	named    *exposure       // not nil: it names every leak
}

// prove fills in the matrix, names the leaks that are known beforehand, and
// keeps those that are not.
func (c *Compiled) prove(named *exposure, prev *Compiled) {
	c.memos = map[string]memos{}
	p := prover{c: c, heads: headsOf(c.file), marks: c.marks(), findings: newFindings(c), named: named, oracle: newOracle(c.index)}
	for _, r := range robots.Readers() {
		c.matrix = append(c.matrix, Row{Name: r.Name})
	}
	for _, s := range c.sections {
		p.section, p.own = s, map[string]bool{}
		for _, l := range s.lines {
			p.own[l.pattern] = p.own[l.pattern] || !l.allow
		}
		token := s.class.tokens[0]
		p.old, p.new, p.only = prev.memos[token], memos{}, nil
		p.robot(token)
		c.memos[token] = p.new
		p.partNames(s)
		p.old, p.new = nil, memos{}
		for _, token := range s.class.merged {
			p.only = map[*Dir]bool{}
			c.index.naming(token, c.root, p.only)
			p.robot(token)
		}
	}
	c.nameLeaks(named)
	p.findings.report(c)
}

// Prove holds another robots.txt, such as one that a server has, against the
// policy. It gives the matrix, and all leaks: no report names any.
func (c *Compiled) Prove(file []byte) (Matrix, []Leak) {
	other := &Compiled{root: c.root, index: c.index, closed: c.closed, file: file}
	for _, s := range c.sections {
		other.sections = append(other.sections, &section{class: s.class, verdict: s.verdict})
	}
	other.prove(nil, &Compiled{})
	return other.matrix, other.leaks
}

// robot proves the file for one robot.
func (p *prover) robot(token string) {
	p.token, p.oracle.token = token, token
	p.readings = readings(p.c.file, token)
	p.dir(p.c.root, "/", reach{}, reach{}, p.oracle.enter(p.c.root, "/", nil))
}

// marks are the closed spellings, by the canonical selectors.
func (c *Compiled) marks() *heads {
	h := newHeads()
	for spelling, canonical := range c.closed {
		h.add(canonical, spelling)
	}
	h.finish()
	return h
}

// dir proves a directory and all below, and returns the number of selectors.
// above and marked are what patterns and closed spellings reach the directory
// above it.
//
// To a robot without a group of its own the file says what it says to all, and
// where no annotation names it, the policy does, too: that was proven before.
func (p *prover) dir(d *Dir, sel string, above, marked reach, v view) int {
	if p.only != nil && !p.only[d] && !v.names(p.token) {
		return 0
	}
	above, marked = p.heads.enter(sel, above), p.marks.enter(sel, marked)
	said, some := p.heads.below(sel)
	closed, _ := p.marks.below(sel)
	m := memo{sel: sel, said: said + above.sum + 31*(closed+marked.sum), view: v}
	if old, ok := p.old[d]; ok && old.sel == sel && old.said == m.said && old.view.same(v) {
		p.new[d] = old
		p.count(old.selectors)
		return old.selectors
	}
	found := p.found
	m.selectors = p.resources(d, sel, v, !above.hit && !some)
	for _, sub := range d.Dirs {
		if speakable(sub.Name) {
			below := sel + sub.Name + "/"
			m.selectors += p.dir(sub, below, above, marked, p.oracle.enter(sub, below, v))
		}
	}
	if p.found == found && m.selectors >= minMemo {
		p.new[d] = m
	}
	return m.selectors
}

// count adds selectors that were not asked again.
func (p *prover) count(n int) {
	for i := range p.c.matrix {
		p.c.matrix[i].Selectors += n
	}
}

// resources proves a directory without those below.
func (p *prover) resources(d *Dir, sel string, v view, quiet bool) int {
	n := p.resource(sel, v, quiet)
	for _, name := range d.Files {
		if !skipped(sel, name) {
			n += p.resource(sel+name, v, quiet)
		}
	}
	return n
}

// resource asks every reader for every spelling of a resource, and returns their
// number.
func (p *prover) resource(sel string, v view, quiet bool) int {
	denied := v.denies(sel)
	n := p.spelling(sel, denied, quiet)
	if sel == "/" {
		return n + p.spelling("", denied, quiet)
	}
	n += p.bare(sel[1:], denied, quiet)
	if last := len(sel) - 1; sel[last] == '/' {
		n += p.bare(sel[:last], denied, quiet) + p.bare(sel[1:last], denied, quiet)
	}
	return n
}

// bare is spelling, for those that may be closed.
func (p *prover) bare(sel string, denied, quiet bool) int {
	if _, closed := p.c.Closed(sel); closed || isRobotsSelector(sel) {
		return 0
	}
	return p.spelling(sel, denied, quiet)
}

// spelling asks every reader for one selector.
func (p *prover) spelling(sel string, denied, quiet bool) int {
	for i := range p.readings {
		row, r := &p.c.matrix[i], &p.readings[i]
		row.Selectors++
		if quiet && !denied {
			continue
		}
		switch allows := r.allows(sel); {
		case denied && allows:
			row.Leaks++
			p.found++
			p.leak(sel, r)
		case !denied && !allows:
			row.OverBlocks++
			p.found++
			pattern, o := p.findings.blame(sel)
			o.add(sel, r, p.own[pattern] || !r.strict)
		}
	}
	return 1
}

func (p *prover) leak(sel string, r *reading) {
	e := p.named
	if e == nil {
		e = p.section.exposed.name(sel, r)
	}
	if e != nil {
		e.found(r.name, sel)
		return
	}
	p.c.leaks = append(p.c.leaks, Leak{Reader: r.name, Agent: p.token, Selector: sel})
}

// nameLeaks reports the leaks that were named beforehand and are there.
func (c *Compiled) nameLeaks(named *exposure) {
	all := []*exposure{}
	if named != nil {
		all = append(all, named)
	}
	for _, s := range c.sections {
		for _, sel := range slices.Sorted(maps.Keys(s.exposed)) {
			all = append(all, s.exposed[sel]...)
		}
	}
	for _, e := range all {
		if len(e.report.Leaks) > 0 {
			c.reports = append(c.reports, e.report)
		}
	}
}

// Proof gives the matrix: for each reader, what it makes of the file.
func (c *Compiled) Proof() Matrix { return c.matrix }

// Unproven lists the leaks that no report names. A file that has any must not be
// served.
func (c *Compiled) Unproven() []Leak { return c.leaks }
