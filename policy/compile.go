package policy

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// Compiled is the policy of a tree, and the robots.txt made of it. It never
// changes and may be used by many goroutines at once.
type Compiled struct {
	root     *Dir
	index    *index
	sections []*section
	known    map[string]*kept // what was found out of each set of robots
	closed   map[string]string
	fields   SiteFields
	file     []byte
	sources  []source
	reports  []Report
	draft    []Report // of a compilation that may have to be done again
	matrix   Matrix
	memos    map[string]memos // of the proof, by robot
	leaks    []Leak
}

// Compile makes the robots.txt of a tree and proves it. What prev has made of an
// older tree is taken over where the two share directories; the result is the
// same to the octet without it.
func Compile(root *Dir, prev *Compiled) *Compiled {
	if prev == nil {
		prev = &Compiled{}
	}
	c := &Compiled{root: root, index: newIndex(root, prev.index)}
	for _, d := range c.index.dirs {
		c.reports = append(c.reports, c.index.notes[d].notes...)
	}
	var fields []siteField
	if n := c.index.notes[root]; n != nil {
		fields = n.fields
	}
	c.fields = siteFields(fields)
	w := c.fit(c.index.classes(root), fields, prev.known)
	c.file, c.sources = w.buf.Bytes(), w.sources
	var named *exposure
	if hand := c.handWritten(); hand != nil {
		c.file, c.sources = hand, handSources(hand)
		named = &exposure{report: NewReport(CodeHandWritten, robotsFile, 0, "served as it was written: not every reader takes it as it is meant")}
	}
	c.prove(named, prev)
	c.sortReports()
	return c
}

// compile makes the lines of every class. What was found out before, with another
// plan or of another tree, is taken from known.
func (c *Compiled) compile(classes []*class, p plan, prev map[string]*kept) []*section {
	var sections []*section
	for _, class := range classes {
		s := &section{class: class, exposed: exposures{}, cost: map[*Dir]int{}, globs: map[*Dir]int{}, sels: map[*Dir]string{}}
		report := func(r Report) { c.draft = append(c.draft, r) }
		j := judge{index: c.index, tokens: append(class.tokens[:1:1], class.merged...), report: report}
		j.shut, j.pierced = p.shutFor(class)
		key := strings.Join(j.tokens, " ")
		if j.kept, j.prev = c.known[key], c.known[key]; j.kept == nil {
			j.kept, j.prev = newKept(), prev[key]
			c.known[key] = j.kept
		}
		s.verdict = j.tree(c.root)
		e := emitter{section: s, plan: p, index: c.index, told: map[*rule]int{}, kept: j.kept, prev: j.prev, root: c.root, closed: c.closed, report: report}
		s.lines = e.emit()
		sections = append(sections, s)
	}
	return sections
}

// handWritten gives the robots.txt in the root, if no other annotation is there:
// it is served as it is.
func (c *Compiled) handWritten() []byte {
	if len(c.index.dirs) != 1 || c.index.dirs[0] != c.root || len(c.root.Notes) != 1 {
		return nil
	}
	if a := c.root.Notes[0]; a.File == robotsFile && c.index.notes[c.root].shut == nil {
		return slices.Clone(a.Data)
	}
	return nil
}

// handSources says of a robots.txt that is served as it is that each rule and
// field comes from itself.
func handSources(file []byte) []source {
	var list []source
	for l := range robots.Parse(robots.RFC9309, file).Lines() {
		var s source
		switch l.Kind {
		case robots.KindAllow, robots.KindDisallow, robots.KindField:
			s = source{file: robotsFile, line: l.Number}
		}
		list = append(list, s)
	}
	return list
}

// File gives the robots.txt. It must not be changed.
func (c *Compiled) File() []byte { return c.file }

// Reports gives what is to be said about the annotations and the file, the worst
// first. It must not be changed.
func (c *Compiled) Reports() []Report { return c.reports }

// Fields gives what the root's annotation says about the whole site.
func (c *Compiled) Fields() SiteFields { return c.fields }

// Source tells which line of which annotation a line of the file comes from,
// counted from 1. The file is "" if it is none.
func (c *Compiled) Source(line int) (file string, annLine int) {
	if line < 1 || line > len(c.sources) {
		return "", 0
	}
	s := c.sources[line-1]
	if s.allow != "" {
		s = c.allowSource(s)
	}
	return s.file, s.line
}
