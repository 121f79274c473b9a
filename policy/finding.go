package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// maxVictims is how many victims a report lists; the message counts them all.
const maxVictims = 100

// findings are what the proof has found, sorted by what is to blame.
type findings struct {
	lines   map[string]*overBlock // Disallow patterns of the file, by pattern
	globs   []string              // those with a star in them
	unknown overBlock             // over-blocks that no line is to blame for

	asked  string // what blame was asked last: one reader after another asks the same
	answer string
	guilty *overBlock
}

// overBlock is the damage that a line of the file does.
type overBlock struct {
	source source
	sel    string
	own    damage // to robots that the line is meant for
	strict damage // to others, by readers that ignore groups
}

// damage is the allowed selectors that some readers take as denied.
type damage struct {
	readers []string
	victims []string        // the first of them
	all     map[string]bool // each counts once, for however many robots it is barred
	last    string
}

func newFindings(c *Compiled) *findings {
	f := &findings{lines: map[string]*overBlock{}}
	for l := range robots.Parse(robots.RFC9309, c.file).Lines() {
		if l.Kind != robots.KindDisallow || f.lines[l.Value] != nil {
			continue
		}
		o := &overBlock{sel: l.Value, source: source{file: robotsFile, line: l.Number}} // of a file that was not compiled
		if c.sources != nil {
			o.source.file, o.source.line = c.Source(l.Number)
		}
		f.lines[l.Value] = o
		if strings.Contains(l.Value, "*") {
			f.globs = append(f.globs, l.Value)
		}
	}
	return f
}

// blame finds the line that bars an allowed selector from a reader.
func (f *findings) blame(selector string) (pattern string, o *overBlock) {
	if f.guilty == nil || f.asked != selector {
		f.asked = selector
		f.answer, f.guilty = f.find(selector)
	}
	return f.answer, f.guilty
}

func (f *findings) find(selector string) (pattern string, o *overBlock) {
	for _, s := range []string{selector, normal(selector)} {
		if o := f.lines[s+"$"]; o != nil {
			return s + "$", o
		}
		for n := len(s); n > 0; n-- {
			if o := f.lines[s[:n]]; o != nil {
				return s[:n], o
			}
		}
	}
	for _, g := range f.globs {
		for _, s := range []string{selector, normal(selector)} {
			if globCovers(g, s) || globCovers(strings.TrimSuffix(g, "$"), s) {
				return g, f.lines[g]
			}
		}
	}
	return "", &f.unknown
}

// globCovers reports whether the pieces of a glob stand in s, one after another,
// the first at its beginning.
func globCovers(glob, s string) bool {
	for i, piece := range strings.Split(glob, "*") {
		at := strings.Index(s, piece)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		s = s[at+len(piece):]
	}
	return true
}

// add notes a victim. own is whether the line stands in the robot's own group.
func (o *overBlock) add(selector string, r *reading, own bool) {
	d := &o.own
	if !own {
		d = &o.strict
	}
	d.readers = appendNew(d.readers, r.name)
	if d.last == selector && len(d.all) > 0 || d.all[selector] {
		return
	}
	if d.all == nil {
		d.all = map[string]bool{}
	}
	d.all[selector], d.last = true, selector
	if len(d.victims) < maxVictims {
		d.victims = append(d.victims, selector)
	}
}

// report reports what each line of the file bars too much.
func (f *findings) report(c *Compiled) {
	f.unknown.report(c)
	for _, pattern := range slices.Sorted(maps.Keys(f.lines)) {
		f.lines[pattern].report(c)
	}
}

func (o *overBlock) report(c *Compiled) {
	o.own.report(c, CodeOverBlock, o)
	o.strict.report(c, CodeOverBlockStrict, o)
}

func (d *damage) report(c *Compiled, code string, o *overBlock) {
	if len(d.all) == 0 {
		return
	}
	r := NewReport(code, o.source.file, o.source.line, fmt.Sprintf("%q bars %d allowed selectors, too", o.sel, len(d.all)))
	r.Selector, r.Readers, r.Victims = o.sel, d.readers, d.victims
	c.reports = append(c.reports, r)
}
