package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The idea of the compiler. Readers that know only Disallow are given a set of
// prefixes that covers all that is denied: the largest denied subtrees, each as
// the shortest selector that begins nothing allowed. Where there is none, the
// prefix bars too much rather than too little. Readers that know Allow and $
// see the same lines, and beside them lines that the others pass over, which
// correct every answer to exactly the policy:
//
//	Allow: /x.txt.gz$     beside Disallow: /x.txt
//	Disallow: /dir/$      a menu that is denied above something allowed
//	Disallow: /dir/*$     all below, what does not exist yet too, with an
//	Allow: /dir/a$        for each exception
//
// A pattern that ends in $ and names a whole selector is as long as any prefix
// of it plus one octet, so it always decides.
//
// emitter writes the lines of one class of robots.
type emitter struct {
	*section
	plan   plan
	index  *index
	kept   *kept
	prev   *kept
	kinds  *kinds        // nil: none
	told   map[*rule]int // of NEW-FILES
	root   *Dir
	out    lineSet
	nested bool              // some line may be covered by another
	closed map[string]string // bare spellings that are answered with a pointer
	report func(Report)
}

// cover says who is barred already from a whole directory by a line written for
// one above it.
type cover struct {
	weak  bool // readers that know only Disallow
	slash bool // readers that know Allow: spellings with a leading slash
	bare  bool // and those without
}

func (c cover) exact() bool { return c.slash || c.bare }

// maxExceptions is how many entries a directory may have that is barred as a
// whole for readers that know Allow, with an Allow for each exception.
const maxExceptions = 100

func (e *emitter) emit() []line {
	switch e.verdict.kind {
	case denied:
		e.everything()
		return e.out.lines
	case mixed:
		if e.plan.globs {
			e.kinds = countKinds(e.index, e.section, e.root)
			for by := range e.kinds.written {
				e.kind(e.kinds.home[by], tailOf(by), by)
			}
		}
		e.dir(e.verdict, "/", cover{})
	}
	if e.nested {
		e.out.prefixFree()
	}
	return e.out.sorted()
}

// everything bars the whole site. Readers without globs need the slash, and the
// beginnings of the spellings that have none; only a star reaches the empty
// selector.
func (e *emitter) everything() {
	e.out.add(false, "/", e.verdict.menu)
	e.out.add(false, "*", e.verdict.menu)
	names := slices.DeleteFunc(slices.Clone(e.root.Files), func(name string) bool { return name == robotsFile })
	for _, d := range e.root.Dirs {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	last := "/"
	for _, name := range names {
		if speakable(name) && !leads(name) && !strings.HasPrefix(name, last) {
			_, n := utf8.DecodeRuneInString(name)
			last = name[:n]
			e.out.add(false, last, e.verdict.menu)
		}
	}
	e.exposed.add(exposure{
		report: NewReport(CodeRootMenu, e.verdict.menu.file, e.verdict.menu.line, "the empty selector of the root menu cannot be denied without *"),
		sel:    "/",
	})
}

// both writes a line for both families of spellings, with and without a leading
// slash.
func (e *emitter) both(allow bool, pattern string, by *rule) {
	e.out.add(allow, pattern, by)
	if bare := pattern[1:]; bare != "" && !leads(bare) {
		e.out.add(allow, bare, by)
	}
}

// dir writes the lines for a directory that is neither all allowed nor all
// denied.
func (e *emitter) dir(v *verdict, sel string, c cover) {
	before := e.out.octets
	s := e.kept.siblingsOf(v, sel, e.prev)
	c = e.menu(v, s, c)
	e.listed(v, s, c)
	e.doubtful(v, s)
	over := e.deny(v, s, c)
	e.cost[v.dir] += e.out.octets - before
	for _, n := range s.rivals {
		cn := c
		if o := over[n.name]; o != 0 {
			cn.weak = c.weak || o == overAll
			cn.slash, cn.bare = c.slash || o&overNormal != 0, c.bare || o&overNormal != 0
		}
		switch {
		case v.kindOf(n) == mixed:
			e.dir(v.dirs[n.i], sel+n.name+"/", cn)
		case cn.exact():
			e.allow(sel+n.name, n.dir)
		}
	}
}

// menu writes what concerns the directory itself.
func (e *emitter) menu(v *verdict, s *siblings, c cover) cover {
	here := escape(s.sel)
	if v.menu == nil {
		if c.exact() {
			e.both(true, here+"$", nil)
			if s.sel != "/" {
				e.both(true, here[:len(here)-1]+"$", nil)
			}
		}
		return c
	}
	e.closeBare(s.sel)
	if !c.weak {
		e.exposed.add(exposure{
			report: NewReport(CodeListingExposed, v.menu.file, v.menu.line,
				"the menu is denied, something in it is allowed: readers that know only Disallow take the menu as allowed"),
			sel: s.sel, globs: true,
		})
	}
	if v.unborn != nil && !e.plan.noHoles && !c.exact() && len(s.rivals) <= maxExceptions {
		e.holes++
		e.out.add(false, here+"*$", v.unborn)
		if s.sel != "/" && !leads(s.sel[1:]) {
			e.out.add(false, here[1:]+"*$", v.unborn)
		}
		return cover{weak: c.weak, slash: true, bare: s.sel != "/"}
	}
	if !c.slash {
		e.out.add(false, here+"$", v.menu)
	}
	if !c.bare && s.sel != "/" && !leads(s.sel[1:]) {
		e.out.add(false, here[1:]+"$", v.menu)
	}
	return c
}

// closeBare closes the spellings of a directory without the final slash.
func (e *emitter) closeBare(sel string) {
	if sel != "/" {
		e.closed[sel[:len(sel)-1]], e.closed[sel[1:len(sel)-1]] = sel, sel
	}
}

// allow lets readers that know Allow in where a line for others bars them.
func (e *emitter) allow(s string, dir bool) {
	s = escape(s)
	e.both(true, s+"$", nil)
	if dir {
		e.both(true, s+"/", nil)
	}
}

// maxTold is how many directories are reported for one rule whose names have to
// be listed.
const maxTold = 20

// listed reports a directory whose denied names have to be listed, although the
// policy speaks of names that do not exist yet, too.
func (e *emitter) listed(v *verdict, s *siblings, c cover) {
	by := v.unborn
	for _, n := range s.denied {
		if by == nil && len(v.denial(n).pattern.pieces) > 1 {
			by = v.denial(n)
		}
	}
	if by == nil || c.weak || e.told[by] == maxTold {
		return
	}
	e.told[by]++
	r := NewReport(CodeNewFiles, by.file, by.line, "names that do not exist yet are not covered until the file is read again")
	r.Selector, r.Readers = s.sel, readerNames(c.exact())
	e.report(r)
}

// longSelector is how many octets many clients send at most (RFC 1436, 2.1).
const longSelector = 255

// doubtful reports names that are denied but cannot be asked for, or perhaps not.
func (e *emitter) doubtful(v *verdict, s *siblings) {
	for _, n := range s.denied {
		if by := v.denial(n); len(s.sel)+len(n.name) > longSelector {
			r := NewReport(CodeNameLong, by.file, by.line, fmt.Sprintf("the selector has %d octets", len(s.sel)+len(n.name)))
			r.Selector = s.sel + n.name
			e.report(r)
		}
	}
	for _, name := range v.dir.Files {
		if !speakable(name) {
			r := NewReport(CodeNameUnspeakable, "", 0, fmt.Sprintf("no request can ask for the name %.80q", name))
			r.Selector = s.sel
			e.report(r)
		}
	}
}
