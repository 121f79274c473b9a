package proof

import (
	"cmp"
	"slices"

	"github.com/gophd/gophd/robots"
)

var models = robots.Models()

// veronica reads no group but its own and that of everybody, and nobody else has
// its name: what is said to it is not asked of other readers.
const veronica = "veronica"

// file is the robots.txt as all readers take it for one class of robots.
type file struct {
	set     *set
	readers uint32 // those that the class may be
	lanes   []lane
	uri     int    // the lane of selectors escaped as a URI, if there is one
	exact   uint32 // the readers that use it
}

// lane is a way to write selectors that some readers compare.
type lane struct {
	prefix  string // comes before the selector without its slash
	form    robots.Form
	readers uint32
	slash   bool // asked for selectors that begin with a slash
	bare    bool // and for those without one
	web     bool // the empty selector is "/"
	dirs    bool // asked for directories
	files   bool // and for files
	start   *cursor
}

// newFile reads the file for a class; fixed says whether a reader that is one
// robot alone belongs to the class.
func newFile(reading *robots.Reading, c *class, fixed func(agent string) bool) *file {
	f := &file{}
	b := builder{latest: make([]int, reading.Lines()+1)}
	for i, m := range models {
		bit := uint32(1) << i
		if m.Agent != "" && !fixed(m.Agent) || m.Agent != veronica && c.name() == veronica {
			continue
		}
		f.readers |= bit
		for _, r := range reading.Rules(m, c.name()) {
			e := entry{head: r.Pattern, size: len(r.Pattern), allow: r.Allow, mask: bit, ref: r.Line}
			if m.Verbatim(r) {
				b.add(e)
				continue
			}
			for _, p := range m.Patterns(r) {
				e.head, e.rest, e.whole, e.size = p.Pieces[0], after(p.Pieces), p.Whole, p.Size
				b.add(e)
			}
		}
	}
	f.set = newSet(b.list)
	f.firstMatches()
	f.makeLanes()
	return f
}

// builder gathers entries. Most readers take most lines alike: those share one.
type builder struct {
	list   []entry
	before []int // for each entry the one of the same line before it, plus 1
	latest []int // for each line its last entry, plus 1
}

func (b *builder) add(e entry) {
	for at := b.latest[e.ref]; at > 0; at = b.before[at-1] {
		if o := &b.list[at-1]; o.same(&e) {
			o.mask |= e.mask
			return
		}
	}
	b.list, b.before = append(b.list, e), append(b.before, b.latest[e.ref])
	b.latest[e.ref] = len(b.list)
}

// same reports whether two entries are one pattern.
func (e *entry) same(o *entry) bool {
	return e.head == o.head && e.whole == o.whole && e.allow == o.allow && e.size == o.size && slices.Equal(e.rest, o.rest)
}

// firstMatches takes from readers for whom the first rule decides, not the
// longest, those rules that an earlier one covers: of what is left the longest is
// the first.
func (f *file) firstMatches() {
	for i, m := range models {
		if !m.First() {
			continue
		}
		bit := uint32(1) << i
		first := make([]int, len(f.set.entries)) // the earliest line of those that begin the pattern
		for i := range f.set.entries {
			e := &f.set.entries[i]
			first[i] = 1 << 60
			if up := f.set.up[i]; up >= 0 {
				first[i] = first[up]
			}
			if e.mask&bit == 0 {
				continue
			}
			if first[i] <= e.ref {
				e.mask &^= bit
			}
			first[i] = min(first[i], e.ref)
		}
	}
	for i := range f.set.entries {
		e := &f.set.entries[i]
		e.hash = e.content()
		f.set.sums[i+1] = f.set.sums[i] + e.hash
	}
}

// makeLanes lists the ways to write selectors, those with the same beginning
// beside each other.
func (f *file) makeLanes() {
	add := func(l lane) {
		l.dirs, l.files = l.dirs || !l.files, l.files || !l.dirs
		for i := range f.lanes {
			o := &f.lanes[i]
			if o.prefix == l.prefix && o.form == l.form && o.slash == l.slash && o.bare == l.bare {
				o.readers |= l.readers
				return
			}
		}
		f.lanes = append(f.lanes, l)
	}
	for i, m := range models {
		bit := uint32(1) << i
		if f.readers&bit == 0 {
			continue
		}
		for _, form := range m.Forms {
			l := lane{form: form, readers: bit, slash: true, web: m.Web}
			if !m.Typed {
				l.prefix = "/"
				add(l)
				l.prefix, l.slash, l.bare = "", false, true
				add(l)
				continue
			}
			l.bare = true
			l.prefix = "/"
			add(l)
			for _, p := range []string{"/0/", "0/"} {
				l.prefix, l.files = p, true
				add(l)
			}
			l.files = false
			for _, p := range []string{"/1/", "1/"} {
				l.prefix, l.dirs = p, true
				add(l)
			}
		}
	}
	slices.SortStableFunc(f.lanes, func(a, b lane) int { return cmp.Compare(a.prefix, b.prefix) })
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.prefix == "/" && (l.form == robots.URI || f.exact == 0) {
			f.uri = i
		}
		if l.prefix == "/" && l.form == robots.URI {
			f.exact = l.readers
		}
		if i > 0 && l.prefix == f.lanes[i-1].prefix {
			l.start = f.lanes[i-1].start
			continue
		}
		l.start = f.set.root("", f.prune)
		if l.prefix != "" {
			l.start = f.set.advance(l.start, &cursor{}, []byte(l.prefix), f.prune)
		}
		f.rate(l.start)
	}
}

// prune keeps of the entries that cover a directory those that can still decide
// for some reader, what binds least first.
func (f *file) prune(full []int) []int {
	slices.SortFunc(full, f.set.order)
	var seen uint32
	keep := len(full)
	for i := len(full) - 1; i >= 0; i-- {
		if mask := f.set.entries[full[i]].mask; mask&^seen != 0 {
			seen |= mask
			keep--
			full[keep] = full[i]
		}
	}
	return full[keep:]
}

// rate says which readers take all below the cursor as denied, if nothing else
// matches.
func (f *file) rate(c *cursor) { c.mask = f.fold(c.full) }

func (f *file) fold(found []int) (denied uint32) {
	for _, i := range found {
		if e := &f.set.entries[i]; e.allow {
			denied &^= e.mask
		} else {
			denied |= e.mask
		}
	}
	return denied
}

// denied gives the readers that take sub as denied.
func (f *file) denied(c *cursor, sub []byte) uint32 {
	if c.still() {
		return c.mask
	}
	var buf [32]int
	found := f.set.matches(append(buf[:0], c.full...), c, sub)
	if len(found) == len(c.full) {
		return c.mask
	}
	slices.SortFunc(found, f.set.order)
	return f.fold(found)
}

// place is where patterns have come to at a directory, in each lane.
type place struct {
	dir    string // its selector
	plain  bool   // which is the same in all forms
	at     []*cursor
	policy *cursor
	use    [2]*cursor // preferences: of the policy, and of the file

	moving []int        // the lanes that differ from all before, in which something is in question
	fixed  [2][2]uint32 // what the others say: of files and directories, with a slash in front and bare
	own    []cursor     // room for the cursors
}

func newPlace(lanes int) *place {
	return &place{at: make([]*cursor, lanes), own: make([]cursor, lanes+3)}
}

// still reports whether all below is the same to all readers and the policy.
func (p *place) still() bool {
	return len(p.moving) == 0 && p.policy.still() && p.use[0].still() && p.use[1].still()
}

// subject gives what a lane compares of a selector, which begins with a slash.
func (l *lane) subject(buf []byte, sel string, plain bool) []byte {
	buf = append(buf[:0], l.prefix...)
	buf = append(buf, sel[1:]...)
	if plain {
		return buf
	}
	return l.form.Append(nil, string(buf))
}

// ask gives the readers that take sel as denied: with its slash, and bare.
func (f *file) ask(p *place, sel string, dir bool) (slash, bare uint32) {
	if sel == "/" {
		for i := range f.lanes {
			if l := &f.lanes[i]; l.dirs {
				l.add(&slash, &bare, f.denied(p.at[i], l.subject(nil, sel, true)), sel)
			}
		}
		return slash, bare
	}
	kind := int(boolean(dir))
	slash, bare = p.fixed[kind][0], p.fixed[kind][1]
	if len(p.moving) == 0 {
		return slash, bare
	}
	plain := p.plain && robots.Plain(sel[len(p.dir):])
	var buf [256]byte
	for i, first := range p.moving {
		last := len(f.lanes)
		if i+1 < len(p.moving) {
			last = p.moving[i+1]
		}
		asked := false
		var mask uint32
		for j := first; j < last; j++ {
			l := &f.lanes[j]
			if p.at[j].still() || dir && !l.dirs || !dir && !l.files {
				continue
			}
			if !asked || !plain {
				mask, asked = f.denied(p.at[j], l.subject(buf[:0], sel, plain)), true
			}
			l.add(&slash, &bare, mask, sel)
		}
	}
	return slash, bare
}

// add adds the readers of the lane that are in mask to those of both spellings.
func (l *lane) add(slash, bare *uint32, mask uint32, sel string) {
	if l.slash {
		*slash |= mask & l.readers
	}
	if sel == "/" && l.web && l.slash || l.bare && (sel != "/" || !l.web || l.slash) {
		*bare |= mask & l.readers
	}
}

// below goes down into the directory with the selector sel.
func (f *file) below(p, next *place, sel string) {
	next.dir, next.plain = sel, p.plain && robots.Plain(sel[len(p.dir):])
	var buf [256]byte
	for i := range f.lanes {
		c := p.at[i]
		if next.plain && i > 0 && c == p.at[i-1] {
			next.at[i] = next.at[i-1]
			continue
		}
		next.at[i] = c
		if !c.still() {
			next.at[i] = f.set.advance(c, &next.own[i], f.lanes[i].subject(buf[:0], sel, next.plain), f.prune)
			f.rate(next.at[i])
		}
	}
	f.sort(next)
}

// sort tells lanes in which something is in question from the others.
func (f *file) sort(p *place) {
	p.moving, p.fixed = p.moving[:0], [2][2]uint32{}
	var last *cursor
	for i := range f.lanes {
		l, c := &f.lanes[i], p.at[i]
		if !c.still() {
			if c != last {
				p.moving = append(p.moving, i)
			}
			last = c
			continue
		}
		for kind, of := range []bool{l.files, l.dirs} {
			if of {
				l.add(&p.fixed[kind][0], &p.fixed[kind][1], c.mask, "")
			}
		}
	}
}

// root is the place of the root directory.
func (f *file) root() *place {
	p := newPlace(len(f.lanes))
	p.dir, p.plain = "/", true
	for i := range f.lanes {
		p.at[i] = f.lanes[i].start
	}
	f.sort(p)
	return p
}

// state hashes all that the answers of the readers below depend on.
func (f *file) state(p *place) uint64 {
	h := uint64(f.readers)
	for i, c := range p.at {
		if i == 0 || c != p.at[i-1] {
			h = mix(h, f.set.state(c), uint64(i))
		}
	}
	return h
}
