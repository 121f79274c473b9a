package proof

import (
	"cmp"
	"slices"

	"github.com/gophd/gophd/robots"
)

var (
	models      = robots.Models()
	exactModel  = modelNamed("rfc9309")
	strictModel = modelNamed("gopher-strict") // it reads the file alike for all robots
	firstModel  = slices.IndexFunc(models, robots.Model.First)
)

func modelNamed(name string) int {
	return slices.IndexFunc(models, func(m robots.Model) bool { return m.Name == name })
}

// The sides beside the readers, which have the bits of their numbers in models.
const (
	policySide uint32 = 1 << (31 - iota)
	wantedSide        // preferences of the policy
	statedSide        // those of the file
)

// veronica reads no group but its own and that of everybody, and nobody else has
// its name: what is said to it is not asked of other readers.
const veronica = "veronica"

// may returns the readers that a class may be; fixed reports whether a reader that is
// one robot alone belongs to the class.
func (c *class) may(fixed func(agent string) bool) {
	for i, m := range models {
		if (m.Agent == "" || fixed(m.Agent)) && (m.Agent == veronica || c.name() != veronica) {
			c.readers |= 1 << i
		}
	}
}

// read makes the set of the file, and the lanes. The strict reader's set is that of
// all classes, since every line of the file is for it; if there is but one class, it
// is nil.
func (c *class) read(reading *robots.Reading, strict *set) {
	b := builder{latest: make([]int, reading.Lines()+1)}
	for i, m := range models {
		if c.readers>>i&1 == 1 && (i != strictModel || strict == nil) {
			b.model(m, 1<<i, reading.Rules(m, c.name()))
		}
	}
	c.file = newSet(b.list, 0)
	c.makeLanes(strict)
}

// strictSet is the file as the strict reader takes it.
func strictSet(reading *robots.Reading) *set {
	b := builder{latest: make([]int, reading.Lines()+1)}
	b.model(models[strictModel], 1<<strictModel, reading.Rules(models[strictModel], "*"))
	return newSet(b.list, 0)
}

// builder gathers entries. Most readers take most lines alike: those share one.
type builder struct {
	list   []entry
	before []int // for each entry the one of the same line before it, plus 1
	latest []int // for each line its last entry, plus 1
}

// model adds the rules of a reader. If the first that matches decides, what an
// earlier one covers is left out: of what is left the longest is the first.
func (b *builder) model(m robots.Model, side uint32, rules []robots.Rule) {
	heads, sizes := map[string]bool{}, map[int]bool{}
	for _, r := range rules {
		verbatim := [1]robots.Pattern{{Pieces: []string{r.Pattern}, Size: len(r.Pattern)}}
		patterns := verbatim[:]
		if !m.Verbatim(r) {
			patterns = m.Patterns(r)
		}
		for _, p := range patterns {
			if m.First() {
				covered := false
				for n := range sizes {
					covered = covered || n <= len(p.Pieces[0]) && heads[p.Pieces[0][:n]]
				}
				if covered {
					continue
				}
				heads[p.Pieces[0]], sizes[len(p.Pieces[0])] = true, true
			}
			e := newEntry(p.Pieces, p.Whole, p.Size)
			e.allow, e.sides, e.ref = r.Allow, side, r.Line
			b.add(e)
		}
	}
}

func (b *builder) add(e entry) {
	for at := b.latest[e.ref]; at > 0; at = b.before[at-1] {
		if o := &b.list[at-1]; o.same(&e) {
			o.sides |= e.sides
			return
		}
	}
	b.list, b.before = append(b.list, e), append(b.before, b.latest[e.ref])
	b.latest[e.ref] = len(b.list)
}

// lane is a way to write selectors that some readers compare.
type lane struct {
	set     *set
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

// makeLanes lists the ways to write selectors, those with the same beginning
// beside each other.
func (c *class) makeLanes(strict *set) {
	for i, m := range models {
		if c.readers>>i&1 == 0 {
			continue
		}
		l := lane{set: c.file, readers: 1 << i, web: m.Web, dirs: true, files: true}
		if i == strictModel && strict != nil {
			l.set = strict
		}
		for _, l.form = range m.Forms {
			for _, way := range []struct {
				prefix                   string
				slash, bare, dirs, files bool
			}{
				{"/", true, m.Typed, true, true}, {"", false, !m.Typed, !m.Typed, !m.Typed},
				{"/0/", true, true, false, m.Typed}, {"0/", true, true, false, m.Typed},
				{"/1/", true, true, m.Typed, false}, {"1/", true, true, m.Typed, false},
			} {
				if l.prefix, l.slash, l.bare, l.dirs, l.files = way.prefix, way.slash, way.bare, way.dirs, way.files; l.dirs || l.files {
					c.addLane(l)
				}
			}
		}
	}
	slices.SortStableFunc(c.lanes, func(a, b lane) int { return cmp.Compare(a.prefix, b.prefix) })
	c.lanes = slices.Insert(c.lanes, 0, lane{set: c.policy, prefix: "/", form: robots.URI})
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.prefix == "/" && l.set == c.file && (l.form == robots.URI || c.uri == 0) {
			c.uri = i
		}
		if l.form == robots.URI {
			c.exact |= l.readers
		}
		if l.start = l.set.root(l.prefix); i > 0 && l.prefix == c.lanes[i-1].prefix && l.set == c.lanes[i-1].set {
			l.start = c.lanes[i-1].start
		}
	}
}

func (c *class) addLane(l lane) {
	for i := range c.lanes {
		if o := &c.lanes[i]; o.set == l.set && o.prefix == l.prefix && o.form == l.form && o.slash == l.slash && o.bare == l.bare {
			o.readers |= l.readers
			return
		}
	}
	c.lanes = append(c.lanes, l)
}

// place is where patterns have come to at a directory, in each lane.
type place struct {
	dir   string // its selector
	plain bool   // which is the same in all forms
	still bool   // all below is the same to all
	at    []*cursor
	own   []cursor // room for the cursors
	key   uint64   // a hash of all that the answers for the directory and below depend on
}

func newPlace(lanes int) *place {
	return &place{at: make([]*cursor, lanes), own: make([]cursor, lanes)}
}

// root is the place of the root directory.
func (c *class) root() *place {
	p := newPlace(len(c.lanes))
	p.dir, p.plain, p.still = "/", true, true
	for i := range c.lanes {
		p.at[i] = c.lanes[i].start
		p.still = p.still && p.at[i].still()
	}
	return p
}

// below goes down into the directory with the selector sel.
func (c *class) below(p, next *place, sel string) {
	next.dir, next.plain, next.still, next.key = sel, p.plain && robots.Plain(sel[len(p.dir):]), true, uint64(c.readers)
	var buf [256]byte
	for i := range c.lanes {
		if next.plain && i > 0 && p.at[i] == p.at[i-1] {
			next.at[i] = next.at[i-1]
			continue
		}
		l, key := &c.lanes[i], p.at[i].sum
		if next.at[i] = p.at[i]; !p.at[i].still() {
			next.at[i], key = l.set.advance(p.at[i], &next.own[i], l.subject(buf[:0], sel, next.plain))
		}
		next.key = mix(next.key, key)
		next.still = next.still && next.at[i].still()
	}
}

// isPlain reports whether a selector below the place is the same in all forms.
func (p *place) isPlain(sel string) bool { return p.plain && robots.Plain(sel[len(p.dir):]) }

// subject returns what a lane compares of a selector, which begins with a slash.
func (l *lane) subject(buf []byte, sel string, plain bool) []byte {
	buf = append(append(buf[:0], l.prefix...), sel[1:]...)
	if plain {
		return buf
	}
	return l.form.Append(nil, string(buf))
}

// matches returns the entries of the policy that match a selector.
func (c *class) matches(p *place, sel string) []int {
	at := p.at[0]
	if at.still() {
		return at.full
	}
	var buf [256]byte
	return c.policy.matches(slices.Clone(at.full), at, c.lanes[0].subject(buf[:0], sel, p.isPlain(sel)))
}

// ask returns the readers that take sel as denied: with its slash, and bare.
func (c *class) ask(p *place, sel string, dir bool) (slash, bare uint32) {
	plain := p.isPlain(sel)
	var buf [256]byte
	var last *cursor
	var denied uint32
	for i := range c.lanes {
		l := &c.lanes[i]
		if dir && !l.dirs || !dir && !l.files {
			continue
		}
		if p.at[i] != last || !plain {
			if last, denied = p.at[i], p.at[i].denied; !last.still() {
				denied = l.set.denies(last, l.subject(buf[:0], sel, plain))
			}
		}
		if l.slash {
			slash |= denied & l.readers
		}
		if sel == "/" && l.web && l.slash || l.bare && (sel != "/" || !l.web || l.slash) {
			bare |= denied & l.readers
		}
	}
	return slash, bare
}
