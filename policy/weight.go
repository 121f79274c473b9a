package policy

import (
	"cmp"
	"slices"
	"strings"
)

// weight is what a directory costs in the file.
type weight struct {
	dir     *Dir
	sel     string
	own     int // octets of the lines for what is in it, without those below
	saved   int // octets that denying all of it saves
	victims int // allowed resources that would be lost
}

// shut denies directories until the file is smaller by excess octets, those
// first for which most is said. If that does not help their parents, which then
// have much to say, are next, and in the end the root.
func (c *Compiled) shut(p *plan, excess int) {
	const why = "the robots.txt would have more than 500 KiB"
	list := c.weights()
	slices.SortStableFunc(list, func(a, b weight) int {
		return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(a.victims, b.victims), strings.Compare(a.sel, b.sel))
	})
	taken := map[string]bool{}
	for _, w := range list {
		if excess <= 0 {
			break
		}
		if !within(taken, w.sel) {
			taken[w.sel] = true
			excess -= w.saved
			c.shutDir(p, w.dir, w.sel, why)
		}
	}
	if len(taken) == 0 {
		c.shutDir(p, c.root, "/", why)
	}
}

// within reports whether a directory above sel was taken.
func within(taken map[string]bool, sel string) bool {
	for i := range len(sel) - 1 {
		if sel[i] == '/' && taken[sel[:i+1]] {
			return true
		}
	}
	return false
}

// weights weighs all directories below the root that are not all denied or
// allowed.
func (c *Compiled) weights() []weight {
	s := c.sections[0]
	var list []weight
	if s.verdict.kind == mixed {
		s.weigh(c.root, s.verdict, "/", &list)
	}
	return slices.DeleteFunc(list, func(w weight) bool { return w.dir == c.root || w.own == 0 || w.saved <= 0 })
}

// weigh lists the weights of d and all below; it returns that of d before what
// denying it costs is taken off.
func (s *section) weigh(d *Dir, v *verdict, sel string, list *[]weight) weight {
	w := weight{dir: d, sel: sel, own: s.cost[d], saved: s.cost[d]}
	if v.menu == nil {
		w.victims++
	}
	w.victims += allowedFiles(v)
	for i, sub := range d.Dirs {
		switch v.dirs[i].kind {
		case allowed:
			w.victims += countAll(sub)
		case mixed:
			below := s.weigh(sub, v.dirs[i], sel+sub.Name+"/", list)
			w.saved, w.victims = w.saved+below.saved, w.victims+below.victims
		}
	}
	net := w
	net.saved -= 2 * (len("Disallow: \n") + len(sel))
	*list = append(*list, net)
	return w
}

func allowedFiles(v *verdict) int {
	n := 0
	for _, by := range v.files {
		if by == nil {
			n++
		}
	}
	return n
}

// allowed counts the allowed resources of d and all below.
func (v *verdict) allowed(d *Dir) int {
	switch v.kind {
	case allowed:
		return countAll(d)
	case denied:
		return 0
	}
	n := allowedFiles(v)
	if v.menu == nil {
		n++
	}
	for i, sub := range d.Dirs {
		n += v.dirs[i].allowed(sub)
	}
	return n
}

// countAll counts the resources of a directory and all below.
func countAll(d *Dir) int {
	n := 1 + len(d.Files)
	for _, sub := range d.Dirs {
		n += countAll(sub)
	}
	return n
}
