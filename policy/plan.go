package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A robots.txt has room for 500 KiB, and no robot need read more (R14). What
// does not fit is said more coarsely, step by step, and always towards denying:
//
//  1. without the lines that bar what does not exist yet,
//  2. names of one kind in a long list as a glob,
//  3. without groups for the robots that matter least: what is denied to them is
//     denied to all; but if that is most of the site, the rest of it is denied to
//     them instead,
//  4. with directories denied as a whole, those first that have the most lines.
//
// So it is the directory that says too much which pays for it.

const (
	warnOctets = 100 << 10

	// maxHoles bounds the patterns with a star that bar what does not exist
	// yet: a reader tries them one by one.
	maxHoles = 512

	// maxClasses is how many groups of robots that are treated alike may have
	// groups of their own.
	maxClasses = 64

	// maxGlobs is how many names with # or * a directory may have that cannot
	// be cut.
	maxGlobs = 64
)

// maxOctets is the size of the file that is never exceeded. Tests set it.
var maxOctets = 500 << 10

// plan is how coarsely things are said.
type plan struct {
	noHoles bool
	globs   bool
	merged  map[*class]bool
	banned  map[*class]*rule // what denies the whole site to them
	shut    map[*Dir]*rule
	pierced map[*Dir]bool // those in shut and what lies above them
	root    *Dir
}

// shutFor gives the directories that are denied to a class as a whole, and what
// lies above them.
func (p *plan) shutFor(k *class) (shut map[*Dir]*rule, pierced map[*Dir]bool) {
	if by := p.banned[k]; by != nil {
		return map[*Dir]*rule{p.root: by}, map[*Dir]bool{p.root: true}
	}
	return p.shut, p.pierced
}

// pierce marks a directory and those above it.
func (p *plan) pierce(sel string) {
	d := p.root
	p.pierced[d] = true
	for name := range strings.SplitSeq(strings.Trim(sel, "/"), "/") {
		i, ok := searchDir(d, name)
		if !ok {
			return
		}
		d = d.Dirs[i]
		p.pierced[d] = true
	}
}

// fit compiles with finer and then coarser plans, until the file is small
// enough. Each step takes something away, so it ends.
func (c *Compiled) fit(classes []*class, fields []siteField, prev map[string]*kept) *writer {
	p := plan{root: c.root, merged: map[*class]bool{}, banned: map[*class]*rule{}, shut: map[*Dir]*rule{}, pierced: map[*Dir]bool{}}
	c.known = map[string]*kept{}
	c.limit(&p, classes)
	for {
		c.closed, c.draft = map[string]string{}, nil
		c.sections = c.compile(p.classes(classes), p, prev)
		w := write(c.sections, fields)
		if !c.coarsen(&p, classes, w.buf.Len()) {
			c.reports = append(c.reports, c.draft...)
			c.size(w.buf.Len())
			return w
		}
	}
}

// size warns of a large file.
func (c *Compiled) size(octets int) {
	if octets > warnOctets {
		c.reports = append(c.reports, NewReport(CodeBudget, "", 0, fmt.Sprintf("the robots.txt has %d octets, of %d", octets, maxOctets)))
	}
}

// classes gives the classes that have a group of their own; the robots of the
// others are merged into the first.
func (p *plan) classes(all []*class) []*class {
	star := &class{tokens: []string{"*"}}
	kept := []*class{star}
	for _, c := range all[1:] {
		if p.merged[c] {
			star.merged = append(star.merged, c.tokens[0])
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// coarsen takes the next step. It is false if none is needed.
func (c *Compiled) coarsen(p *plan, classes []*class, octets int) bool {
	if c.crowded(p) {
		return true
	}
	excess := octets - maxOctets
	if holes := c.holes(); !p.noHoles && (excess > 0 || holes > maxHoles) {
		if p.noHoles = true; holes > 0 {
			return true
		}
	}
	if excess <= 0 {
		return false
	}
	if !p.globs {
		if p.globs = true; c.someKind() {
			return true
		}
	}
	switch {
	case c.merge(p, classes, excess):
	case p.shut[c.root] == nil:
		c.shut(p, excess)
	default:
		return c.mergeBanned(p)
	}
	return true
}

// someKind reports whether names in long lists are of one kind.
func (c *Compiled) someKind() bool {
	return slices.ContainsFunc(c.sections, func(s *section) bool {
		return s.verdict.kind == mixed && len(countKinds(c.index, s, c.root).written) > 0
	})
}

func (c *Compiled) holes() int {
	n := 0
	for _, s := range c.sections {
		n += s.holes
	}
	return n
}

// crowded denies directories with more names that cannot be written than a
// reader should have to try.
func (c *Compiled) crowded(p *plan) bool {
	found := false
	for _, s := range c.sections {
		for d, n := range s.globs {
			if n > maxGlobs && d != c.root && p.shut[d] == nil {
				found = true
				c.shutDir(p, d, s.sels[d], "it has too many denied names with # or * in them")
			}
		}
	}
	return found
}

func (c *Compiled) shutDir(p *plan, d *Dir, sel, why string) {
	by := &rule{file: strings.TrimPrefix(sel, "/") + ".robots", value: why}
	p.shut[d] = by
	p.pierce(sel)
	r := NewReport(CodeCoarsened, by.file, 0, "the directory is denied as a whole: "+why)
	r.Selector = sel
	c.reports = append(c.reports, r)
}

// limit merges the robots that matter least, if there are very many.
func (c *Compiled) limit(p *plan, classes []*class) {
	least := slices.Clone(classes[1:])
	slices.SortStableFunc(least, func(a, b *class) int { return cmp.Compare(a.votes, b.votes) })
	for i := range len(least) - maxClasses {
		c.mergeClass(p, least[i])
	}
	c.mergeNamesakes(p, classes)
}

// merge takes away the groups of robots, those first that matter least, until
// about enough is saved. It is false if there are none any more.
func (c *Compiled) merge(p *plan, classes []*class, excess int) bool {
	sections := slices.DeleteFunc(slices.Clone(c.sections[1:]), func(s *section) bool { return p.banned[s.class] != nil })
	all := c.sections[0].verdict.allowed(c.root)
	slices.SortStableFunc(sections, func(a, b *section) int { return cmp.Compare(a.class.votes, b.class.votes) })
	for i, s := range sections {
		if i > 0 && excess <= 0 {
			break
		}
		excess -= s.octets() * len(s.class.tokens)
		if rest := s.verdict.allowed(c.root); rest < all-rest {
			c.ban(p, s.class)
		} else {
			c.mergeClass(p, s.class)
		}
	}
	c.mergeNamesakes(p, classes)
	return len(sections) > 0
}

// mergeBanned takes away what is left of groups when the whole site is denied to
// all. It is false if nothing is left.
func (c *Compiled) mergeBanned(p *plan) bool {
	for _, s := range c.sections[1:] {
		c.mergeClass(p, s.class)
	}
	return len(c.sections) > 1
}

// ban denies the whole site to robots.
func (c *Compiled) ban(p *plan, k *class) {
	const why = "the robots.txt would have more than 500 KiB"
	p.banned[k] = &rule{file: k.file, value: why}
	c.reports = append(c.reports, NewReport(CodeCoarsened, k.file, 0, "the whole site is denied to "+strings.Join(k.tokens, ", ")+": "+why))
}

func (c *Compiled) mergeClass(p *plan, k *class) {
	p.merged[k] = true
	r := NewReport(CodeRobotsMerged, k.file, 0, "too many robots are named: what is denied to these is denied to all: "+strings.Join(k.tokens, ", "))
	c.reports = append(c.reports, r)
}

// mergeNamesakes takes away the groups whose names are a part of a name that has
// lost its own: a reader of the 1994 standard would take the one for the other.
func (c *Compiled) mergeNamesakes(p *plan, classes []*class) {
	var lost []string
	for _, k := range classes {
		if p.merged[k] {
			lost = append(lost, k.tokens...)
		}
	}
	for _, k := range classes[1:] {
		if !p.merged[k] && partOfAny(k.tokens, lost) {
			c.mergeClass(p, k)
			c.mergeNamesakes(p, classes)
			return
		}
	}
}

func partOfAny(names, lost []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(lost, func(l string) bool { return strings.Contains(l, name) })
	})
}
