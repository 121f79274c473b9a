package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
)

// A directory is denied as a whole if its annotations are too large, if its rules leak
// and no report says so, or if the file is too large. Robots must read 500 KiB of a file
// and need not read more. The root's lines are subtracted first; the rest is divided
// equally among the top-level directories with annotations. A directory may use more as
// long as the file fits. If it does not, the largest user beyond its share is denied as
// a whole, then the next.

const maxBytes = 500 << 10

// maxTopRules is how many rules the annotations of a top-level directory may have.
const maxTopRules = 10_000

// tooLarge denies the top-level directories that have more rules than they may.
func (w *work) tooLarge() {
	rules := map[string]int{}
	for _, n := range w.notes {
		rules[n.top] += n.count
	}
	for _, n := range w.notes {
		if sum := rules[n.top]; n.top != "" && sum > maxTopRules {
			w.deny(topOf(n.sel), CodeTooLarge, fmt.Sprintf("its annotations have %d rules; the bound is %d", sum, maxTopRules))
			rules[n.top] = 0
		}
	}
}

// topOf returns the selector of the top-level directory that a directory lies in.
func topOf(sel string) string {
	name, _, _ := strings.Cut(sel[1:], "/")
	if name == "" {
		return "/"
	}
	return "/" + name + "/"
}

// cure denies the directory of the rule that leaks. It returns true if the directory
// was denied already and the leak remains.
func (w *work) cure(f proof.Finding, round int) (hopeless bool) {
	sel := f.Dir
	if sel == "" || round >= maxRounds {
		sel = "/"
	}
	if slices.ContainsFunc(w.live(), func(n *note) bool { return n.shut != nil && strings.HasPrefix(sel, n.sel) }) {
		w.leaks = append(w.leaks, leaksOf(f)...)
		return true
	}
	w.deny(sel, CodeUnnamedLeak, fmt.Sprintf("%v (line %d)", leaksOf(f)[0], f.Line))
	return false
}

func leaksOf(f proof.Finding) []Leak {
	var list []Leak
	for _, sel := range f.Examples {
		list = append(list, Leak{f.Reader, f.Robot, sel})
	}
	return list
}

// deny denies a directory as a whole.
func (w *work) deny(sel, code, why string) {
	file := ""
	i, _ := slices.BinarySearchFunc(w.notes, sel, func(n *note, sel string) int { return strings.Compare(n.sel, sel) })
	for _, n := range w.notes[i:] {
		if len(n.from) > 0 && strings.HasPrefix(n.sel, sel) {
			file = n.from[0].File
			break
		}
	}
	n := &note{sel: sel, at: directory(sel)}
	n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")
	n.shut = n.denied(file, why)
	w.denied[sel], w.stale = n, true
	w.said = append(w.said, deniedReport(sel, code, file, why))
}

// live returns the notes of the directories that are read, and of the directories that
// are denied as a whole.
func (w *work) live() (list []*note) {
	all := w.notes
	if len(w.denied) > 0 {
		all = slices.DeleteFunc(slices.Clone(w.notes), func(n *note) bool { return w.denied[n.sel] != nil })
		all = slices.AppendSeq(all, maps.Values(w.denied))
		slices.SortFunc(all, func(a, b *note) int { return strings.Compare(a.sel, b.sel) })
	}
	below := "" // a directory that is denied
	for _, n := range all {
		if below != "" && strings.HasPrefix(n.sel, below) {
			continue
		}
		if below = ""; n.shut != nil {
			below = n.sel
		}
		list = append(list, n)
	}
	return list
}

// coarsen denies the directories that take more than their share, until the bill fits
// into room. If that is not enough, it denies the whole site. It reports whether it
// denied anything.
func (w *work) coarsen(b bill, room int) bool {
	if b.total <= room || w.denied["/"] != nil {
		return false
	}
	may, sels := map[string]bool{}, map[string]string{}
	for _, n := range w.notes[1:] {
		sels[n.top] = topOf(n.sel)
		may[n.top] = may[n.top] || w.denied[topOf(n.sel)] == nil
	}
	why, enough := b.borrowers(may, len(sels), room, true)
	if !enough {
		why, enough = b.borrowers(may, len(sels), room, false)
	}
	if !enough {
		w.said = slices.DeleteFunc(w.said, func(r Report) bool { return r.Code == CodeCoarsened })
		w.deny("/", CodeTooLarge, fmt.Sprintf("the robots.txt of the site would have %d bytes; robots must read %d. %s", b.total, maxBytes, b.fitting(len(sels))))
		return true
	}
	for _, top := range slices.Sorted(maps.Keys(why)) {
		w.deny(sels[top], CodeCoarsened, why[top])
	}
	return len(why) > 0
}

// bill counts the bytes of the file that each top-level directory accounts for.
type bill struct {
	parts []part
	total int
}

// part is a group of the file.
type part struct {
	by    map[string]int // bytes of the lines of each top-level directory
	total int            // with the names of the robots, and the fields of the site
	whose []string       // the directories that name its robots; nil: it is for everybody
}

// billOf adds up the sections of a file.
func billOf(list []section) (b bill) {
	for _, s := range list {
		p := part{by: map[string]int{}, total: s.size, whose: whose(s.by)}
		for _, l := range s.lines {
			p.by[l.of.top()] += len(l.text) + len(field(l.allow)) + 1
		}
		for _, u := range s.uses {
			p.by[u.top()] += len(u.uri) + len(u.statement().String()) + len("Content-Usage:  \n")
		}
		b.add(p)
	}
	return b
}

// estimate returns the bill of a file before it is written: without the lines for
// selectors that lack a slash, and as if each class repeated the general lines.
func estimate(notes []*note, classes []*class) (b bill) {
	by, total := map[string]int{}, 0
	for _, n := range notes {
		by[n.top] += n.bytes
		total += n.bytes
	}
	for _, c := range classes {
		p := part{by: by, total: total, whose: whose(c.by)}
		for _, name := range c.names {
			p.total += len(name) + len("User-agent: \n")
		}
		b.add(p)
	}
	return b
}

// whose returns the top-level directories of annotations, each once.
func whose(notes []*note) (tops []string) {
	for _, n := range notes {
		tops = append(tops, n.top)
	}
	slices.Sort(tops)
	return slices.Compact(tops)
}

func (b *bill) add(p part) {
	b.parts = append(b.parts, p)
	b.total += p.total
}

// saved returns by how much a group shrinks without a directory's names and lines.
func (p part) saved(top string) int {
	if len(p.whose) == 1 && p.whose[0] == top {
		return p.total
	}
	return p.by[top]
}

// charges returns the bytes that each directory accounts for: its general lines, and an
// equal part of each group that exists because of it. If fair, that part is at most the
// bytes the group would save without the directory.
func (b *bill) charges(fair bool) map[string]int {
	charges := map[string]int{}
	for _, p := range b.parts {
		if p.whose == nil {
			for top, n := range p.by {
				charges[top] += n
			}
		}
		for _, top := range p.whose {
			n := p.total / len(p.whose)
			if fair {
				n = min(n, p.saved(top))
			}
			charges[top] += n
		}
	}
	return charges
}

// borrowers returns the directories to deny, with the reasons, so that the file fits
// into room. It takes the largest first. tops is the number of directories with
// annotations; may holds the ones that can still be denied.
func (b *bill) borrowers(may map[string]bool, tops, room int, fair bool) (why map[string]string, enough bool) {
	charges := b.charges(fair)
	share := (maxBytes - min(charges[""], maxBytes/2)) / max(1, tops)
	list := slices.DeleteFunc(slices.Collect(maps.Keys(charges)), func(top string) bool { return !may[top] || charges[top] <= share })
	slices.SortFunc(list, func(x, y string) int { return cmp.Or(cmp.Compare(charges[y], charges[x]), cmp.Compare(x, y)) })
	why = map[string]string{}
	parts := slices.Clone(b.parts) // what is left of them
	left := b.total
	for _, top := range list {
		if left <= room {
			break
		}
		why[top] = fmt.Sprintf("its lines, and the groups for robots that it names, take %d bytes of %d; its share is %d", charges[top], maxBytes, share)
		for i := range parts {
			p := &parts[i]
			if p.total == 0 {
				continue
			}
			saved := p.by[top] - 2*(len(top)+len("Disallow: //\n"))
			if at := slices.Index(p.whose, top); at >= 0 {
				if p.whose = slices.Delete(slices.Clone(p.whose), at, at+1); len(p.whose) == 0 { // nobody is left who names its robots
					saved = p.total
				}
			}
			p.total -= saved
			left -= saved
		}
	}
	return why, left <= room
}

// fitting estimates how many directories with average lines fit into a file.
func (b *bill) fitting(tops int) string {
	charges := b.charges(true)
	each := max(1, (b.total-charges[""])/max(1, tops))
	return fmt.Sprintf("%d directories have annotations; with lines like theirs about %d fit", tops, max(0, maxBytes-charges[""])/each)
}
