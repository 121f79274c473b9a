package policy

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// Robots must read 500 KiB of a file and need not read more. If a file is larger, the
// first of these steps that suffices is taken.
//
//  1. The section for weak readers is cut to what the others do not say.
//  2. Top-level directories that name robots are joined (join.go), the dearest first: one,
//     two, four, eight.
//  3. What the root's own lines leave is divided equally among the top-level directories
//     with annotations. A directory may use more as long as the file fits; if it does not,
//     the largest beyond its share is denied as a whole, then the next.
//  4. One line denies all top-level directories that begin with "~".
//  5. The site is denied.

const maxBytes = 500 << 10

// maxTopRules is how many rules the annotations of a top-level directory may have.
const maxTopRules = 10_000

// homes is the beginning of the selectors of home directories.
const homes = "/~"

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

// measure adds what Allows of annotations cost below each Final of the root: a line for
// each pair that may match the same name.
func (w *work) measure() {
	root := w.notes[0]
	var finals []*rule
	for _, r := range root.rules {
		if r.final {
			finals = append(finals, r)
		}
	}
	for _, n := range w.notes[1:] {
		for _, a := range n.rules {
			for _, d := range finals {
				if a.allow && d.concerns(a) {
					n.size += len("Disallow: \n") + len(a.uri) + len(d.uri)
				}
			}
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
	if sel != homes {
		n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")
	}
	n.shut = n.denied(file, why)
	n.size = len("Disallow: \n") + len(n.shut.uri)
	w.denied[sel] = n
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

// fit writes a file that is not too large.
func (w *work) fit() {
	for w.cut = false; ; {
		live := w.live()
		classes := classesOf(live, &w.names)

		// What would never fit is not written first.
		size, scale := w.estimate(live, classes), 1.0
		if size <= maxBytes*5/4 {
			w.compose(live, classes)
			w.write()
			scale, size = float64(len(w.file))/float64(size), len(w.file)
		}
		bill := func() *bill { return w.billOf(live, classes, size, scale) }
		switch {
		case size <= maxBytes || w.denied["/"] != nil:
			w.finish()
			return
		case !w.cut:
			w.cut = true
		case w.join(bill):
		case w.coarsen(bill()):
		default:
			w.closeMany(bill())
		}
	}
}

// estimate returns about how many bytes a file will have.
func (w *work) estimate(notes []*note, classes []*class) (size int) {
	general := 0 // the lines of a group
	joined := 0  // by how much less they are in a group of joined directories
	for _, n := range notes {
		general += n.size
		if n.joined && n.shut == nil {
			joined += n.size
		}
	}
	for _, n := range joinedSizes(notes) {
		joined -= n
	}
	for _, c := range classes {
		size += general + c.more
		for _, name := range c.names {
			size += len("User-agent: \n") + len(name)
		}
		if c.joined {
			size -= joined
		}
	}
	return size
}

// joinedSizes returns about how many bytes the lines of each joined directory take in a
// group for the robots that such directories name.
func joinedSizes(notes []*note) map[string]int {
	sizes := map[string]int{}
	for start := 0; start < len(notes); {
		end := start + 1
		for end < len(notes) && notes[end].top == notes[start].top {
			end++
		}
		if n := notes[start]; n.joined && n.shut == nil {
			sizes[n.top] = 0
			for _, r := range joinedTop(notes[0], notes[start:end], nil) {
				sizes[n.top] += len("Disallow: \n") + len(r.uri)
			}
		}
		start = end
	}
	return sizes
}

// bill says about how many bytes of the file each top-level directory takes.
type bill struct {
	size  int     // of the file
	scale float64 // bytes of the file for one of the bill
	parts []part
	lines map[string]int // bytes of each directory's own lines
	named map[string]int // and of what stands in the file because it names robots
}

// part is a group of the file.
type part struct {
	own   map[string]int // bytes of the lines of each directory
	base  map[string]int // for those that own lacks
	size  int
	whose []string       // the directories that name its robots; nil: it is for everybody
	names map[string]int // bytes of the names of robots that one directory alone names
}

// of returns how many bytes of the group are about a directory.
func (p *part) of(top string) int {
	if n, ok := p.own[top]; ok {
		return n
	}
	return p.base[top]
}

// billOf adds up what the directories state, of a file of a size.
func (w *work) billOf(notes []*note, classes []*class, size int, scale float64) *bill {
	b := &bill{size: size, scale: scale, lines: map[string]int{}, named: map[string]int{}}
	general, total := map[string]int{}, 0
	for _, n := range notes {
		general[n.top] += n.size
		total += n.size
	}
	maps.Copy(b.lines, general)
	union, alone := joinedSizes(notes), w.namedAlone(notes)
	for _, c := range classes {
		p := part{own: map[string]int{}, base: general, size: total}
		shared := 0 // what is written again for robots that are named: who names them pays for it
		for _, name := range c.names {
			shared += len("User-agent: \n") + len(name)
		}
		p.size += shared
		if c.robot != everybody {
			for _, n := range c.by {
				p.whose = append(p.whose, n.top)
			}
			slices.Sort(p.whose)
			p.whose = slices.Compact(p.whose)
			shared += total
		}
		change := func(top string, from, to int) {
			p.own[top] = p.of(top) + to - from
			p.size += to - from
			shared -= from
			b.lines[top] += to
		}
		for _, n := range c.by {
			change(n.top, n.size, n.setOf(c.robot).size)
		}
		if c.joined {
			p.names = alone
			for _, top := range slices.Sorted(maps.Keys(union)) {
				p.whose = append(p.whose, top)
				change(top, general[top], union[top])
			}
		}
		b.parts = append(b.parts, p)
		for _, top := range p.whose {
			b.named[top] += shared / len(p.whose)
		}
	}
	return b
}

// namedAlone returns the bytes of the names of robots that one joined directory names, and
// nobody else.
func (w *work) namedAlone(notes []*note) map[string]int {
	by := map[int32]string{}
	for _, n := range notes {
		for _, a := range n.named {
			if top, ok := by[a.robot]; !n.joined || ok && top != n.top {
				by[a.robot] = ""
			} else {
				by[a.robot] = n.top
			}
		}
	}
	alone := map[string]int{}
	for robot, top := range by {
		for _, name := range w.names.robots[robot].written {
			alone[top] += len("User-agent: \n") + len(name)
		}
	}
	delete(alone, "")
	return alone
}

// sizeOf returns about how many bytes the rules of groups take in the file.
func sizeOf(groups []*group) (size int) {
	seen := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.rules {
			if !seen[r.uri] {
				size += len("Allow: \n") + len(r.uri)
			}
			seen[r.uri] = true
		}
	}
	return size
}

// charge returns what a directory pays for.
func (b *bill) charge(top string) int {
	return int(b.scale * float64(b.lines[top]+b.named[top]))
}

// sorted orders top-level directories by their charges, the dearest first. Between equal
// ones a hash of the selector decides.
func (b *bill) sorted(tops map[string]string) []string {
	hashes := map[string]uint64{}
	for top, sel := range tops {
		h := fnv.New64a()
		_, _ = h.Write([]byte(sel))
		hashes[top] = h.Sum64()
	}
	return slices.SortedFunc(maps.Keys(tops), func(x, y string) int {
		return cmp.Or(cmp.Compare(b.charge(y), b.charge(x)), cmp.Compare(hashes[x], hashes[y]), strings.Compare(x, y))
	})
}

// join joins more directories. It reports whether there were any.
func (w *work) join(bill func() *bill) bool {
	if w.joinable == nil {
		tops := map[string]string{}
		for _, n := range w.live() {
			if n.top != "" && n.shut == nil && n.names {
				tops[n.top] = topOf(n.sel)
			}
		}
		w.joinable = append([]string{}, bill().sorted(tops)...)
	}
	if w.joins >= len(w.joinable) {
		return false
	}
	w.joins = min(max(1, 2*w.joins), len(w.joinable))
	joined := map[string]bool{}
	for _, top := range w.joinable[:w.joins] {
		joined[top] = true
	}
	w.joined = nil
	for _, n := range w.notes {
		if n.joined = joined[n.top]; n.joined && !slices.Contains(w.joined[max(0, len(w.joined)-1):], topOf(n.sel)) {
			w.joined = append(w.joined, topOf(n.sel))
		}
	}
	return true
}

// borrower is a top-level directory beyond its share.
type borrower struct {
	top, sel string
	why      string
}

// coarsen denies the largest borrowers, until the file should fit. It denies none, and
// returns false, if that is not enough.
func (w *work) coarsen(b *bill) bool {
	if w.borrowers == nil { // the charges are counted once
		w.borrowers = w.borrowing(b)
	}
	left, n := b.size, 0
	for ; n < len(w.borrowers) && (n == 0 || left > maxBytes); n++ {
		if w.isDenied(w.borrowers[n].sel) {
			continue
		}
		left -= b.without(w.borrowers[n])
	}
	if n == 0 || left > maxBytes {
		return false
	}
	denied := false
	for _, o := range w.borrowers[:n] {
		if !w.isDenied(o.sel) {
			denied = true
			w.deny(o.sel, CodeCoarsened, o.why)
		}
	}
	w.borrowers = w.borrowers[n:]
	return denied
}

// isDenied reports whether a top-level directory is denied as a whole.
func (w *work) isDenied(sel string) bool {
	return w.denied[sel] != nil || w.denied[homes] != nil && strings.HasPrefix(sel, homes)
}

// borrowing returns the directories beyond their share, the dearest first.
func (w *work) borrowing(b *bill) []borrower {
	tops := map[string]string{}
	for _, n := range w.notes[1:] {
		tops[n.top] = topOf(n.sel)
	}
	list := []borrower{}
	share := (maxBytes - min(b.charge(""), maxBytes/2)) / max(1, len(tops))
	for _, top := range b.sorted(tops) {
		if n := b.charge(top); n > share {
			cure := "write fewer lines"
			if b.named[top] > b.lines[top] {
				cure = "name fewer robots"
			}
			list = append(list, borrower{top, tops[top], fmt.Sprintf("its lines, and the groups for robots that it names, take %d bytes of %d; its share is %d: %s", n, maxBytes, share, cure)})
		}
	}
	return list
}

// without returns by how much the file shrinks if a directory is denied as a whole, and
// takes that off the bill.
func (b *bill) without(o borrower) (saved int) {
	line := len("Disallow: \n") + len(escape(o.sel))
	for i := range b.parts {
		p := &b.parts[i]
		if p.size == 0 {
			continue
		}
		less := p.of(o.top) - line
		if at := slices.Index(p.whose, o.top); at >= 0 {
			p.whose = slices.Delete(slices.Clone(p.whose), at, at+1)
			less += p.names[o.top]
			if len(p.whose) == 0 { // nobody is left who names its robots
				less = p.size
			}
		}
		p.size -= less
		p.own[o.top] = line
		saved += less
	}
	return int(b.scale * float64(saved))
}

// closeMany denies all homes in one line, or the site.
func (w *work) closeMany(b *bill) {
	root := b.charge("")
	tops, other := map[string]bool{}, 0
	hasHomes := false
	for _, n := range w.notes[1:] {
		isHome := strings.HasPrefix(n.sel, homes)
		hasHomes = hasHomes || isHome
		if !isHome && !tops[n.top] {
			other++
		}
		tops[n.top] = true
	}
	each := max(1, (b.size-root)/max(1, len(tops)))
	why := fmt.Sprintf("the robots.txt of the site would have %d bytes; robots must read %d. %d directories have annotations; with lines like theirs about %d fit",
		b.size, maxBytes, len(tops), max(0, maxBytes-root)/each)
	sel := "/"
	switch {
	case root > maxBytes/2:
		why = fmt.Sprintf("the lines of the root's annotation take %d bytes of the robots.txt; they may take %d", root, maxBytes/2)
	case hasHomes && w.denied[homes] == nil:
		sel = homes
	case other > 0:
		why += ". Serve directories of people with -users: one line can deny all that begin with ~"
	}
	w.said = slices.DeleteFunc(w.said, func(r Report) bool { return r.Code == CodeCoarsened && strings.HasPrefix("/"+r.File, sel) })
	w.deny(sel, CodeTooLarge, why)
}
