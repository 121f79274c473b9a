package proof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

var (
	models      = slices.DeleteFunc(readers.All(), func(m readers.Reader) bool { return m.Choice == readers.LongestMatch })
	exactModel  = modelNamed("rfc9309")
	strictModel = modelNamed("gopher-strict") // it reads the file alike for all robots
	firstModel  = slices.IndexFunc(models, func(m readers.Reader) bool { return m.Choice == readers.FirstMatch })
)

func modelNamed(name string) int {
	return slices.IndexFunc(models, func(m readers.Reader) bool { return m.Name == name })
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

// read makes the set of the file, and the lanes. The strict reader's set is that of
// all classes, since every line of the file is for it; if there is but one class, it
// is nil.
func (c *class) read(reading *reading, strict *set) {
	readers := c.readers
	if strict != nil {
		readers &^= 1 << strictModel
	}
	c.file = fileSet(reading, c.name(), readers)
	c.makeLanes(strict)
}

// fileSet is the file as some readers take it for a robot. Most readers take most
// lines alike: those share an entry.
func fileSet(reading *reading, robot string, bits uint32) *set {
	var list []entry
	of := map[int][]int{} // the entries of each line
	add := func(e entry) {
		for _, i := range of[e.ref] {
			if list[i].same(&e) {
				list[i].sides |= e.sides
				return
			}
		}
		list, of[e.ref] = append(list, e), append(of[e.ref], len(list))
	}
	heads := map[string]bool{}
	for i, m := range models {
		if bits>>i&1 == 0 {
			continue
		}
		for _, r := range m.Rules(reading.file, robot) {
			for _, p := range m.Patterns(r) {
				if m.Choice == readers.FirstMatch && decided(heads, p.Pieces[0]) {
					continue
				}
				add(entry{Pattern: p, allow: r.Allow, sides: 1 << i, ref: r.Line})
			}
		}
	}
	return newSet(list, 0)
}

// decided reports whether one of the heads begins another, which is added if not. To a
// reader by whom the first line that matches decides, a line whose pattern begins with
// that of an earlier one says nothing. Of the others that match a selector the longest
// comes first, so that it decides, as with other readers: at which line it stands is
// not asked, and what is remembered holds when lines before it come or go.
func decided(heads map[string]bool, head string) bool {
	for n := range len(head) + 1 {
		if heads[head[:n]] {
			return true
		}
	}
	heads[head] = true
	return false
}

// lane is a way to write selectors that some readers compare.
type lane struct {
	set     *set
	prefix  string // comes before the selector without its slash
	form    readers.Form
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
		l := lane{set: c.file, readers: 1 << i, web: m.Web}
		if i == strictModel && strict != nil {
			l.set = strict
		}
		ways := []string{"/", ""}
		if m.Typed {
			ways = []string{"/", "/0/", "0/", "/1/", "1/"}
		}
		for _, l.form = range m.Forms {
			for _, l.prefix = range ways {
				l.slash, l.bare = m.Typed || l.prefix == "/", m.Typed || l.prefix == ""
				l.files, l.dirs = !strings.Contains(l.prefix, "1"), !strings.Contains(l.prefix, "0")
				c.addLane(l)
			}
		}
	}
	slices.SortStableFunc(c.lanes, func(a, b lane) int { return cmp.Compare(a.prefix, b.prefix) })
	c.lanes = slices.Insert(c.lanes, 0, lane{set: c.policy, prefix: "/", form: readers.URI})
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.prefix == "/" && l.set == c.file && (l.form == readers.URI || c.uri == 0) {
			c.uri = i
		}
		if l.form == readers.URI {
			c.exact |= l.readers
		}
		if l.start = l.set.root(l.prefix); i > 0 && l.prefix == c.lanes[i-1].prefix && l.set == c.lanes[i-1].set {
			l.start = c.lanes[i-1].start
		}
	}
}

func (c *class) addLane(l lane) {
	for i := range c.lanes {
		same := l
		if same.readers = c.lanes[i].readers; same == c.lanes[i] {
			c.lanes[i].readers |= l.readers
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
	next.dir, next.plain, next.still, next.key = sel, p.plain && readers.Plain(sel[len(p.dir):]), true, uint64(c.readers)
	for i := range c.lanes {
		if next.plain && i > 0 && p.at[i] == p.at[i-1] {
			next.at[i] = next.at[i-1]
			continue
		}
		l, key := &c.lanes[i], p.at[i].sum
		if next.at[i] = p.at[i]; !p.at[i].still() {
			next.at[i], key = l.set.advance(p.at[i], &next.own[i], l.subject(sel, next.plain))
		}
		next.key = mix(next.key, key)
		next.still = next.still && next.at[i].still()
	}
}

// isPlain reports whether a selector below the place is the same in all forms.
func (p *place) isPlain(sel string) bool { return p.plain && readers.Plain(sel[len(p.dir):]) }

// subject returns what a lane compares of a selector, which begins with a slash.
func (l *lane) subject(sel string, plain bool) string {
	if l.prefix != "/" {
		sel = l.prefix + sel[1:]
	}
	if plain {
		return sel
	}
	return string(l.form.Append(nil, sel))
}

// matches returns the entries of the policy that match a selector.
func (c *class) matches(p *place, sel string) []int {
	at := p.at[0]
	if at.still() {
		return at.full
	}
	return c.policy.matches(slices.Clone(at.full), at, c.lanes[0].subject(sel, p.isPlain(sel)))
}

// ask returns the readers that take sel as denied: with its slash, and bare.
func (c *class) ask(p *place, sel string, dir bool) (slash, bare uint32) {
	plain := p.isPlain(sel)
	var last *cursor
	var denied uint32
	for i := range c.lanes {
		l := &c.lanes[i]
		if dir && !l.dirs || !dir && !l.files {
			continue
		}
		if p.at[i] != last || !plain {
			if last, denied = p.at[i], p.at[i].denied; !last.still() {
				denied = l.set.denies(last, l.subject(sel, plain))
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
