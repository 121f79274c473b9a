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
	uri     int    // the lane of selectors escaped as a URI
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
	var list []entry
	var next []int          // the entry of the same line before, for each
	latest := map[int]int{} // the last entry of a line
	for i, m := range models {
		bit := uint32(1) << i
		if m.Agent != "" && !fixed(m.Agent) || m.Agent != veronica && c.name() == veronica {
			continue
		}
		f.readers |= bit
		for _, r := range reading.Rules(m, c.name()) {
			for _, p := range m.Patterns(r) {
				e := entry{head: p.Pieces[0], rest: after(p.Pieces), whole: p.Whole, size: p.Size, allow: r.Allow, mask: bit, ref: r.Line}
				before, ok := latest[r.Line]
				if !ok {
					before = -1
				}
				at := before
				for at >= 0 && !list[at].same(&e) {
					at = next[at]
				}
				if at >= 0 {
					list[at].mask |= bit // most readers take most patterns alike
					continue
				}
				latest[r.Line] = len(list)
				list, next = append(list, e), append(next, before)
			}
		}
	}
	f.set = newSet(list)
	f.firstMatches()
	f.makeLanes()
	return f
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
		if l.prefix == "/" && (f.exact == 0 || l.form == robots.URI) {
			f.uri, f.exact = i, l.readers
		}
		if i > 0 && l.prefix == f.lanes[i-1].prefix {
			l.start = f.lanes[i-1].start
			continue
		}
		l.start = f.set.root("", f.prune)
		if l.prefix != "" {
			l.start = f.set.advance(l.start, []byte(l.prefix), f.prune)
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
}

// still reports whether all below is the same to all readers and the policy.
func (p *place) still() bool {
	return p.policy.still() && p.use[0].still() && p.use[1].still() && !slices.ContainsFunc(p.at, func(c *cursor) bool { return !c.still() })
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

// ask gives the readers that take a spelling of sel as denied: with its slash, or
// bare.
func (f *file) ask(p *place, sel string, dir, bare bool) (denied uint32) {
	plain := p.plain && robots.Plain(sel[len(p.dir):])
	var buf [256]byte
	var last *cursor
	var mask uint32
	for i := range f.lanes {
		l, c := &f.lanes[i], p.at[i]
		asked := l.slash
		if bare && (sel != "/" || !l.web) {
			asked = l.bare
		}
		if !asked || dir && !l.dirs || !dir && !l.files {
			continue
		}
		if c != last || !plain {
			last = c
			if c.still() {
				mask = c.mask
			} else {
				mask = f.denied(c, l.subject(buf[:0], sel, plain))
			}
		}
		denied |= mask & l.readers
	}
	return denied
}

// below goes down into the directory with the selector sel.
func (f *file) below(p *place, sel string) *place {
	next := &place{dir: sel, plain: p.plain && robots.Plain(sel[len(p.dir):]), at: make([]*cursor, len(p.at))}
	var buf [256]byte
	for i := range f.lanes {
		c := p.at[i]
		switch {
		case c.still():
			next.at[i] = c
			continue
		case next.plain && i > 0 && c == p.at[i-1]:
			next.at[i] = next.at[i-1]
			continue
		}
		next.at[i] = f.set.advance(c, f.lanes[i].subject(buf[:0], sel, next.plain), f.prune)
		f.rate(next.at[i])
	}
	return next
}

// root is the place of the root directory.
func (f *file) root() *place {
	p := &place{dir: "/", plain: true}
	for i := range f.lanes {
		p.at = append(p.at, f.lanes[i].start)
	}
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
