package policy

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
)

// Robots must read 500 KiB of a file and need not read more. If a file is larger, the
// first of these steps that suffices is taken.
//
//  1. The section for weak readers is cut to the lines that the others lack.
//  2. Top-level directories that name robots are joined, the dearest first: one,
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
			w.deny(topOf(n.sel), CodeTooLarge,
				fmt.Sprintf("its annotations have %d rules; the bound is %d", sum, maxTopRules))
			rules[n.top] = 0
		}
	}
}

// measure adds to the size of each note the lines that carry the root's Finals below its
// Allows: one for each pair that may match the same name.
func (w *work) measure() {
	root := w.notes[0]
	w.finals = map[string]int{}
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
					size := len("Disallow: \n") + len(a.uri) + len(d.uri)
					n.size += size
					w.finals[n.top] += size
				}
			}
		}
	}
}

// topOf returns the selector of the top-level directory of a directory.
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
	i, _ := slices.BinarySearchFunc(w.notes, sel, func(n *note, sel string) int {
		return strings.Compare(n.sel, sel)
	})
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
		all = slices.DeleteFunc(slices.Clone(w.notes), func(n *note) bool {
			return w.denied[n.sel] != nil
		})
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

// bill estimates how many bytes of the file each top-level directory takes.
type bill struct {
	size  int            // of the file
	scale float64        // bytes of the file for one of the bill
	lines map[string]int // bytes of each directory's own lines
	named map[string]int // and of what is in the file because it names robots
}

// billOf adds up what the directories state, of a file of a size.
func (w *work) billOf(notes []*note, classes []*class, size int, scale float64) *bill {
	b := &bill{size, scale, map[string]int{}, map[string]int{}}
	general, total := map[string]int{}, 0
	for _, n := range notes {
		general[n.top] += n.size
		total += n.size
	}
	maps.Copy(b.lines, general)
	union := joinedSizes(notes)
	for _, c := range classes[1:] {
		// Who names the robots pays for the lines of others that are written again.
		again := total
		for _, name := range c.names {
			again += len("User-agent: \n") + len(name)
		}
		var whose []string
		own := func(top string, instead, bytes int) {
			whose = append(whose, top)
			again -= instead
			b.lines[top] += bytes
		}
		for _, n := range c.by {
			own(n.top, n.size, n.setOf(c.robot).size)
		}
		if c.joined {
			for top, bytes := range union {
				own(top, general[top], bytes)
			}
		}
		slices.Sort(whose)
		whose = slices.Compact(whose)
		for _, top := range whose {
			b.named[top] += again / len(whose)
		}
	}
	return b
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

// charge returns the bytes of the file that count against a directory's share.
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
		return cmp.Or(cmp.Compare(b.charge(y), b.charge(x)), cmp.Compare(hashes[x], hashes[y]),
			strings.Compare(x, y))
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
		if n.joined = joined[n.top]; n.joined &&
			!slices.Contains(w.joined[max(0, len(w.joined)-1):], topOf(n.sel)) {
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
	w.borrowers = slices.DeleteFunc(w.borrowers, func(o borrower) bool { return w.isDenied(o.sel) })
	left, n := b.size, 0
	for n < len(w.borrowers) && left > maxBytes {
		left -= b.charge(w.borrowers[n].top) - len("Disallow: \n") - len(escape(w.borrowers[n].sel))
		n++
	}
	if n == 0 || left > maxBytes {
		return false
	}
	for _, o := range w.borrowers[:n] {
		w.deny(o.sel, CodeCoarsened, o.why)
	}
	w.borrowers = w.borrowers[n:]
	return true
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
			switch {
			case b.named[top] > b.lines[top]:
				cure = "name fewer robots"
			case w.finals[top] > b.lines[top]/2:
				cure = "write fewer Allows, below each of which the Finals of the root are repeated"
			}
			list = append(list, borrower{top, tops[top],
				fmt.Sprintf("its lines, and the groups for robots that it names, take %d bytes of %d; its share is %d: %s", n, maxBytes, share, cure)})
		}
	}
	return list
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
	w.said = slices.DeleteFunc(w.said, func(r Report) bool {
		return r.Code == CodeCoarsened && strings.HasPrefix("/"+r.File, sel)
	})
	w.deny(sel, CodeTooLarge, why)
}

// Directories are joined if the file is too large because they name many robots: whatever
// one of them states for one of the robots that they name applies to all of these robots,
// except for what permits something. These robots then share a group. No robot gains, and
// other directories are not affected.

// joinedRules returns the rules of the joined directories for a robot that they name.
func joinedRules(notes []*note, programs []program) (list []*rule) {
	root := notes[0]
	for len(notes) > 0 {
		n := 1
		for n < len(notes) && notes[n].top == notes[0].top {
			n++
		}
		if notes[0].joined {
			list = append(list, joinedTop(root, notes[:n], programs)...)
		}
		notes = notes[n:]
	}
	return list
}

// joinedTop returns the rules of the annotations of one joined directory: every Disallow,
// and what is carried below its Allows for any of its robots, without what another covers.
func joinedTop(root *note, notes []*note, programs []program) []*rule {
	var list []*rule
	allows := false
	for _, n := range notes {
		if n.shut != nil {
			continue
		}
		for _, g := range n.joinable {
			for _, r := range g.rules {
				allows = allows || r.allow
				if !r.allow {
					list = append(list, r)
				}
			}
		}
	}
	if allows {
		list = append(list, carriedOf(root, notes, programs)...)
	}

	// Leave out what another line covers, unless an Allow of the root may come between.
	var opening []*rule
	for _, r := range root.rules {
		if r.allow {
			opening = append(opening, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *rule) int { return cmp.Compare(len(a.uri), len(b.uri)) })
	literal := map[string]bool{}
	var kept, globs []*rule
	for _, r := range list {
		isCovered := slices.ContainsFunc(globs, func(o *rule) bool { return covers(o.uri, r.uri) })
		for i := range len(r.uri) {
			isCovered = isCovered || literal[r.uri[:i+1]]
		}
		if isCovered && !slices.ContainsFunc(opening, func(a *rule) bool {
			return meets(a.uri, r.uri)
		}) {
			continue
		}
		kept = append(kept, r)
		if isLiteral(r.uri) {
			literal[r.uri] = true
		} else {
			globs = append(globs, r)
		}
	}
	return kept
}

// carriedOf returns what is carried below the Allows of a directory's annotations, for all
// robots that the annotations or the root name, and for everybody.
func carriedOf(root *note, notes []*note, programs []program) (list []*rule) {
	all := append([]*note{root}, notes...)
	robots := map[int32]bool{everybody: true}
	for _, n := range all {
		for _, a := range n.named {
			robots[a.robot] = true
		}
	}
	done := map[string]bool{} // by the sets that name a robot
	for _, robot := range slices.Sorted(maps.Keys(robots)) {
		key := ""
		for _, n := range all {
			key += fmt.Sprintf("%p;", n.groupsOf(robot))
		}
		if done[key] {
			continue
		}
		done[key] = true
		c := compose(&class{robot: robot}, all, programs, nil)
		for _, r := range c.rules {
			if r.below != nil && r.below.of != root {
				list = append(list, r)
			}
		}
	}
	return list
}

// joinReports tells the annotations of joined directories which of their lines apply to
// more robots, and which no longer count.
func (w *work) joinReports() (list []Report) {
	for _, n := range w.live() {
		if !n.joined {
			continue
		}
		for _, g := range n.joinable {
			isNamed := !slices.Contains(n.general, g)
			for _, r := range g.rules {
				switch {
				case !r.allow:
					list = append(list, NewReport(CodeJoined, r.file, r.line,
						"robots.txt would be too large, so this Disallow holds for all robots that "+w.joinedWhere()+" name"))
				case isNamed:
					list = append(list, NewReport(CodeJoined, r.file, r.line,
						"robots.txt would be too large, so this Allow does not count for the robots that its group names"))
				default:
					list = append(list, NewReport(CodeJoined, r.file, r.line,
						"robots.txt would be too large, so this Allow does not count for robots that "+w.joinedWhere()+" name"))
				}
			}
			if isNamed && g.says && len(g.rules) == 0 {
				list = append(list, NewReport(CodeJoined, n.from[0].File, g.line,
					"robots.txt would be too large, so this group opens nothing, and other lines hold for its robots"))
			}
			for _, u := range g.prefs {
				if strings.Contains(u.said.String(), "=y") {
					list = append(list, NewReport(CodeJoined, u.file, u.line,
						"robots.txt would be too large, so this y does not count for robots that "+
							w.joinedWhere()+" name"))
				}
			}
		}
	}
	return list
}

// joinedWhere names the joined directories.
func (w *work) joinedWhere() string {
	if len(w.joined) == 1 {
		return w.joined[0]
	}
	return fmt.Sprintf("%s and %s", w.joined[0],
		diag.Count(len(w.joined)-1, "other directory", "other directories"))
}
