package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Robots must read 500 KiB of a file and need not read more. The room, less what
// the root's own lines take, is divided by the top-level directories that have
// annotations. What one does not use is lent, and called back from the largest
// borrower first, which is then denied as a whole. So nobody pays for what
// another says.

const maxBytes = 500 << 10

// What a top-level directory, and the site, may say in all: memory and time are
// bounded by it.
const (
	maxTopRules  = 10_000
	maxTopFinals = 64
	maxTopNames  = 64 // robots that nobody else names
	maxTopWays   = 8  // groups that would not be there without it
	maxSiteRules = 200_000
)

// bill is what each top-level directory takes of a file.
type bill struct {
	parts []part
	total int
}

// part is a group: the bytes of each owner's lines, and who pays for it.
type part struct {
	by    map[string]int
	total int      // with the names of the robots, and the fields of the site
	whose []string // nil: each pays for its own lines
}

// billOf adds up what is written. Whichever annotation's weak lines ask for it, everybody
// pays for their own lines in the group for Veronica, and as much where there is none:
// so what others say does not matter.
func billOf(list []section, all *group, noBare bool) bill {
	var b bill
	for _, s := range list {
		b.add(partOf(s))
	}
	if !slices.ContainsFunc(list, func(s section) bool { return s.copied }) {
		b.add(partOf(section{lines: all.weakLines(noBare)}))
	}
	return b
}

func partOf(s section) part {
	p := part{by: map[string]int{}, total: s.size, whose: s.whose}
	for _, l := range s.lines {
		p.by[l.of.owner] += len(l.text) + len("Disallow: \n")
	}
	for _, r := range s.prefs {
		p.by[r.owner] += len(r.uri) + len(r.usage) + len("Content-Usage:  \n")
	}
	return p
}

// estimate is the bill of a file that has yet to be written: each class would repeat
// what is said to all.
func estimate(root *node, denied map[*node]*rule, classes []*class) bill {
	p := part{by: map[string]int{"": root.bytes}, total: root.bytes}
	for _, top := range root.subs {
		p.by[""] -= top.bytes
		if denied[top] != nil {
			p.total -= top.bytes
			continue
		}
		p.by[top.at.top()] = top.bytes
	}
	var b bill
	for _, c := range classes {
		p.whose = nil
		for top := range c.told {
			p.whose = append(p.whose, top.at.top())
		}
		b.add(p)
	}
	return b
}

func (b *bill) add(p part) {
	b.parts = append(b.parts, p)
	b.total += p.total
}

// charges is what each owner takes: its lines for everybody, and its part of the
// groups that are there because of it.
func (b *bill) charges() map[string]int {
	charges := map[string]int{}
	for _, p := range b.parts {
		if p.whose == nil {
			for owner, n := range p.by {
				charges[owner] += n
			}
		}
		for _, owner := range p.whose {
			charges[owner] += p.total / len(p.whose)
		}
	}
	return charges
}

// borrowers returns those that must be denied for the file to fit into room, the
// largest first, with what each takes and what its share is.
func (b *bill) borrowers(may map[string]*node, tops int, room int) (why map[string]string) {
	charges := b.charges()
	share := (maxBytes - min(charges[""], maxBytes/2)) / max(1, tops)
	list := slices.DeleteFunc(slices.Collect(maps.Keys(charges)), func(owner string) bool { return may[owner] == nil || charges[owner] <= share })
	slices.SortFunc(list, func(x, y string) int { return cmp.Or(cmp.Compare(charges[y], charges[x]), cmp.Compare(x, y)) })
	why = map[string]string{}
	parts := slices.Clone(b.parts) // what is left of them
	left := b.total
	for _, owner := range list {
		if left <= room {
			break
		}
		why[owner] = fmt.Sprintf("its lines and groups take %d bytes of %d; its share is %d", charges[owner], maxBytes, share)
		for i := range parts {
			p := &parts[i]
			if p.total == 0 {
				continue
			}
			saved := p.by[owner] - 2*len(owner) - 2*len("Disallow: //\n")
			if i := slices.Index(p.whose, owner); i >= 0 {
				if p.whose = slices.Delete(slices.Clone(p.whose), i, i+1); len(p.whose) == 0 { // nobody is left who wants the group
					saved = p.total
				}
			}
			p.total -= saved
			left -= saved
		}
	}
	return why
}

// tooLarge returns the top-level directories that say more than they may, and why.
func tooLarge(root *node, names robotsOf) map[*node]string {
	why := map[*node]string{}
	rules := 0
	tops := slices.Clone(root.subs)
	for _, top := range tops {
		switch {
		case top.rules > maxTopRules:
			why[top] = fmt.Sprintf("its annotations have %d rules; the bound is %d", top.rules, maxTopRules)
		case top.finals > maxTopFinals:
			why[top] = fmt.Sprintf("its annotations have %d Final lines; the bound is %d", top.finals, maxTopFinals)
		default:
			rules += top.rules
		}
	}
	slices.SortStableFunc(tops, func(a, b *node) int { return cmp.Compare(b.rules, a.rules) })
	for _, top := range tops {
		if rules > maxSiteRules && why[top] == "" {
			why[top] = fmt.Sprintf("the annotations of all have more than %d rules, and its own the most", maxSiteRules)
			rules -= top.rules
		}
	}
	type ways struct {
		with, without map[uint64]bool
		own           int
	}
	told := map[*node]*ways{}
	for _, by := range names.told {
		all := uint64(0)
		for _, sum := range by {
			all += sum
		}
		for top, sum := range by {
			w := told[top]
			if w == nil {
				w = &ways{map[uint64]bool{}, map[uint64]bool{0: true}, 0}
				told[top] = w
			}
			w.with[all], w.without[all-sum] = true, true
			if len(by) == 1 {
				w.own++
			}
		}
	}
	for top, w := range told {
		if top != root && (w.own > maxTopNames || len(w.with)-len(w.without)+1 > maxTopWays) {
			why[top] = fmt.Sprintf("it names %d robots that nobody else names, in %d ways; the bounds are %d and %d", w.own, len(w.with), maxTopNames, maxTopWays)
		}
	}
	return why
}
