package proof

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/selector"
)

// prover is one proof, and the class of robots that it is at.
type prover[D comparable] struct {
	in  Input[D]
	age int
	since[D]
	lines   []fileLine
	same    map[string]*part // what is taken over, by the names of top-level directories
	known   bool             // only names that exist, for tests
	notes   []*annotation
	written map[string]bool // the patterns of the policy
	class   *class
	number  int // of the class
	file    *file
	wanted  *usage // the preferences of the policy
	stated  *usage // and those of the file
	places  []*place
}

// later is a name that nobody has given yet.
const later = "later"

// start proves the whole tree for the class.
func (p *prover[D]) start(t *tally) {
	at := p.file.root()
	at.policy = p.class.policy.set.root("/", p.class.prune)
	at.use[0] = p.wanted.set.root("/", p.wanted.prune)
	at.use[1] = p.stated.set.root("/", p.stated.prune)
	p.places = nil
	p.newParts()
	p.resource(at, "/", true, true, t)
	for _, sel := range p.answered() {
		if own := p.tallyOf(at, sel, t); own != nil {
			p.judge(at, sel, false, true, p.rule(at, sel), own)
		}
	}
	p.names(p.in.Root, p.root, at, 0, t)
	p.addParts(t)
}

// answered are selectors of programs: of each program what stands for all that
// nobody names, and what the rules name.
func (p *prover[D]) answered() (list []string) {
	for _, prog := range p.in.Programs {
		list = append(list, prog, prog+"/"+later, prog+"?"+later)
	}
	rules := p.class.policy
	for i, names := range rules.names {
		if name, ok := plainName(strings.Join(rules.rule(i).pieces, later)); ok && names {
			name = strings.TrimRight(name, "/")
			list = append(list, name, name+"/"+later, name+later)
		}
	}
	return list
}

// walk proves what is below a directory; n is nil if it has no node.
func (p *prover[D]) walk(d D, n *node[D], at *place, depth int, t *tally) {
	if n == nil || n.memos == nil {
		p.names(d, n, at, depth, t)
		return
	}
	state := mix(p.file.state(at), p.class.state(at.policy), p.wanted.set.state(at.use[0]), p.stated.set.state(at.use[1]))
	if found := n.found(state, p.age); found != nil {
		t.merge(found)
		return
	}
	own := &tally{}
	p.names(d, n, at, depth, own)
	n.remember(state, own, p.age)
	t.merge(own)
}

// state hashes all that the policy below depends on.
func (c *class) state(at *cursor) uint64 {
	h := c.sums[at.hi] - c.sums[at.lo]
	for _, o := range at.open {
		h = mix(h, c.sums[o.entry+1]-c.sums[o.entry], uint64(o.piece), uint64(at.n-o.from))
	}
	for _, e := range at.full {
		h = mix(h, c.sums[e+1]-c.sums[e])
	}
	return h
}

// names proves what is in a directory, and below.
func (p *prover[D]) names(d D, n *node[D], at *place, depth int, t *tally) {
	if depth > 0 && at.still() && p.alike(d, n, at, t) {
		return
	}
	_, files, dirs, _ := p.in.Look(d)
	for _, name := range files {
		if sel := at.dir + name; askable(at, name) && !p.skipped(sel) {
			p.resource(at, sel, false, true, t)
		}
	}
	var rules, lines []span
	for _, sub := range dirs {
		name, _, _, _ := p.in.Look(sub)
		sel := at.dir + name + "/"
		if !askable(at, name) || p.skipped(sel) {
			continue
		}
		prove, kid := p.dir, n.kid(name)
		if p.parts[kid] != nil {
			prove = p.top
		}
		r, l := prove(sub, kid, at, sel, depth+1, t)
		rules, lines = append(rules, r), append(lines, l)
	}
	if (depth == 0 || !at.still()) && !p.known {
		p.invent(at, rules, lines, dirs, t)
	}
}

// dir proves what is in and below a directory in that of a place. It gives the
// entries of the policy and of the file that it has asked about.
func (p *prover[D]) dir(d D, n *node[D], at *place, sel string, depth int, t *tally) (rules, lines span) {
	if n != nil && n.notes != nil {
		p.class.enter(at.policy, n.notes)
	}
	p.resource(at, sel, true, true, t)
	below := p.below(at, sel, depth)
	c := below.at[p.file.uri]
	rules, lines = span{below.policy.lo, below.policy.hi}, span{c.lo, c.hi}
	p.walk(d, n, below, depth, t)
	return rules, lines
}

// below goes down into a directory. Its place is good until the next one of the
// same depth.
func (p *prover[D]) below(at *place, sel string, depth int) *place {
	for len(p.places) <= depth {
		p.places = append(p.places, newPlace(len(p.file.lanes)))
	}
	next := p.places[depth]
	p.file.below(at, next, sel)
	sub, own := uri(sel, next.plain), next.own[len(next.at):]
	next.policy = p.class.policy.set.advance(at.policy, &own[0], sub, p.class.prune)
	next.use[0] = p.wanted.set.advance(at.use[0], &own[1], sub, p.wanted.prune)
	next.use[1] = p.stated.set.advance(at.use[1], &own[2], sub, p.stated.prune)
	return next
}

func uri(sel string, plain bool) []byte {
	if plain {
		return []byte(sel)
	}
	return robots.URI.Append(nil, sel)
}

// alike counts a directory below which all is the same to everybody. It reports
// false if each name has to be asked.
func (p *prover[D]) alike(d D, n *node[D], at *place, t *tally) bool {
	by := p.class.decide(at.policy.full)
	denied := by != nil && !by.allow
	for _, of := range at.fixed {
		if denied && p.file.readers&^(of[0]&of[1]) != 0 {
			return false // some spellings may be closed
		}
	}
	files, dirs := p.size(d, n)
	t.selectors += 2*files + 4*dirs
	if denied || files+dirs == 0 {
		return true
	}
	p.preferences(at, at.dir+later, files+dirs, false, t)
	for kind, count := range []int{files, 2 * dirs} {
		for _, mask := range at.fixed[kind] {
			if count > 0 {
				p.tell(false, mask, by, count, at.dir, true, t)
			}
		}
	}
	return true
}

// size counts the names below a directory.
func (p *prover[D]) size(d D, n *node[D]) (files, dirs int) {
	if n != nil {
		return n.files, n.dirs
	}
	_, names, subs, _ := p.in.Look(d)
	files, dirs = len(names), len(subs)
	for _, sub := range subs {
		f, s := p.size(sub, nil)
		files, dirs = files+f, dirs+s
	}
	return files, dirs
}

// askable reports whether a client may ask for what lies at a path below a
// directory.
func askable(at *place, path string) bool {
	_, _, err := selector.Path(path)
	return err == nil && len(at.dir)+len(path) < selector.MaxRequest-2
}

// skipped reports whether the server answers a selector with something else than
// a file of the tree.
func (p *prover[D]) skipped(sel string) bool {
	return sel == "/robots.txt" || slices.Contains(p.in.Own, sel)
}

// rule gives the rule that decides for a canonical selector.
func (p *prover[D]) rule(at *place, sel string) *rule {
	c := at.policy
	if c.still() {
		return p.class.decide(c.full)
	}
	var buf [16]int
	plain := at.plain && robots.Plain(sel[len(at.dir):])
	return p.class.decide(p.class.policy.set.matches(append(buf[:0], c.full...), c, uri(sel, plain)))
}

// resource asks for all spellings of what lies below at.
func (p *prover[D]) resource(at *place, sel string, dir, exists bool, t *tally) {
	by := p.rule(at, sel)
	p.judge(at, sel, dir, exists, by, t)
	if by == nil || by.allow {
		p.preferences(at, sel, 1, exists, t)
	}
}

// judge asks for all spellings of a resource whose rule is known.
func (p *prover[D]) judge(at *place, sel string, dir, exists bool, by *rule, t *tally) {
	p.spelling(at, sel, sel, dir, exists, by, t)
	short := len(sel) - 1
	if !dir || short == 0 {
		return
	}
	if by == nil || by.allow { // what the rules say of the shorter spelling is no fault
		if as := p.rule(at, sel[:short]); as != nil && !as.allow {
			return
		}
	}
	p.spelling(at, sel, sel[:short], dir, exists, by, t)
}

// spelling asks all readers for one, with its slash in front and bare.
func (p *prover[D]) spelling(at *place, canonical, sel string, dir, exists bool, by *rule, t *tally) {
	t.selectors += 2
	denied := by != nil && !by.allow
	slash, bare := p.file.ask(at, sel, dir)
	if denied {
		slash, bare = p.file.readers&^slash, p.file.readers&^bare
	}
	if first, _, _ := strings.Cut(sel[1:], "/"); strings.Contains(first, ":") {
		bare &^= 1 << firstModel // to CPython it is a URL of that scheme
	}
	if slash|bare == 0 {
		return
	}
	if denied && p.byDigits(at, canonical) {
		slash, bare = slash&p.file.exact, bare&p.file.exact
	}
	closed := func(sel string) bool { return denied && p.in.Closed != nil && p.in.Closed(canonical, sel) }
	if slash != 0 && !closed(sel) {
		p.tell(denied, slash, by, 1, sel, exists, t)
	}
	if bare != 0 && !closed(sel[1:]) {
		p.tell(denied, bare, by, 1, sel[1:], exists, t)
	}
}

// byDigits reports whether what denies a selector matches it only because a star
// may end inside of an escape: "/*9.txt" matches "/%C3%A9.txt". So it is, by the
// letter; but readers that escape nothing are right not to see it.
func (p *prover[D]) byDigits(at *place, sel string) bool {
	form := uri(sel, false)
	if !bytes.ContainsRune(form, '%') {
		return false
	}
	c, s := at.policy, p.class.policy.set
	found := s.matches(slices.Clone(c.full), c, form)
	whole := slices.DeleteFunc(found, func(e int) bool { return s.entries[e].rest != nil && !s.entries[e].matchesWhole(form) })
	by := p.class.decide(whole)
	return by == nil || by.allow
}

// tell notes for each reader of the mask what it takes otherwise.
func (p *prover[D]) tell(leak bool, mask uint32, by *rule, n int, sel string, exists bool, t *tally) {
	for r := range models {
		if mask>>r&1 == 1 {
			t.note(cause{leak, r, by.source()}, n, sel, exists)
		}
	}
}

// span is a range of a set that directories below have taken.
type span struct{ lo, hi int }

// invent asks for names that do not exist: a file and a directory, and for each
// pattern that no directory below has taken over names that it just matches and
// names that it just does not.
func (p *prover[D]) invent(at *place, rules, lines []span, dirs []D, t *tally) {
	p.invented(at, at.dir+later, t)
	p.class.policy.set.left(at.policy, rules, func(i int) { p.ruleAround(at, i, t) })
	p.file.set.left(at.at[p.file.uri], lines, func(i int) {
		if e := &p.file.set.entries[i]; !e.whole || e.rest != nil || !p.isDir(at, dirs, e.head) {
			p.lineAround(at, i, t)
		}
	})
}

// ruleAround asks for the names around a pattern of the policy.
func (p *prover[D]) ruleAround(at *place, i int, t *tally) {
	if p.class.applies[i] {
		p.around(at, &p.class.policy.set.entries[i], t)
	}
}

// lineAround asks for those around a pattern of the file that is none of the policy.
func (p *prover[D]) lineAround(at *place, i int, t *tally) {
	e := &p.file.set.entries[i]
	if (p.file.exact == 0 || e.mask&p.file.exact != 0) && !p.written[e.pattern()] {
		p.around(at, e, t)
	}
}

// isDir reports whether a selector without a slash at its end is that of one of the
// directories: it was asked for with them.
func (p *prover[D]) isDir(at *place, dirs []D, sel string) bool {
	_, ok := slices.BinarySearchFunc(dirs, strings.TrimPrefix(sel, at.dir), func(d D, name string) int {
		other, _, _, _ := p.in.Look(d)
		return strings.Compare(other, name)
	})
	return ok
}

// left yields the entries of the cursor that none of the spans has, and those
// that only begin to look for their pieces here.
func (s *set) left(c *cursor, taken []span, yield func(int)) {
	taken = slices.DeleteFunc(taken, func(t span) bool { return t.lo == t.hi })
	slices.SortFunc(taken, func(a, b span) int { return a.lo - b.lo })
	i := c.lo
	for _, t := range append(taken, span{c.hi, c.hi}) {
		for ; i < t.lo; i++ {
			yield(i)
		}
		i = max(i, t.hi)
	}
	for _, o := range c.open {
		if len(s.entries[o.entry].head) == c.n {
			yield(o.entry)
		}
	}
}

// around asks for the names around a pattern.
func (p *prover[D]) around(at *place, e *entry, t *tally) {
	for _, fill := range []string{"", later} {
		if e.rest == nil && fill != "" {
			return
		}
		name, ok := plainName(e.head + fill + strings.Join(e.rest, fill))
		if !ok || len(name) <= len(at.dir) || !strings.HasPrefix(name, at.dir) {
			continue
		}
		p.invented(at, name, t)
		p.invented(at, name+later, t)
		if !e.whole {
			p.invented(at, strings.TrimSuffix(name, "/")+"/"+later, t)
			p.invented(at, name[:len(name)-1], t)
		}
	}
}

// invented asks for a name as a file and as a directory.
func (p *prover[D]) invented(at *place, sel string, t *tally) {
	sel = strings.TrimRight(sel, "/")
	if len(sel) <= len(at.dir) || !askable(at, sel[len(at.dir):]) || p.skipped(sel) || p.skipped(sel+"/") {
		return
	}
	t = p.tallyOf(at, sel, t)
	if t == nil {
		return
	}
	p.resource(at, sel, false, false, t)
	p.resource(at, sel+"/", true, false, t)
}

// plainName decodes a name in URI form.
func plainName(form string) (string, bool) {
	if !strings.Contains(form, "%") {
		return form, true
	}
	b := make([]byte, 0, len(form))
	for i := 0; i < len(form); i++ {
		c, n := selector.DecodePercent(form[i:])
		if n == 0 {
			c, n = form[i], 1
		} else if c == '/' {
			return "", false
		}
		b = append(b, c)
		i += n - 1
	}
	return string(b), true
}

// pattern is the text of an entry, by which sets are compared.
func (e *entry) pattern() string {
	text := strings.Join(append([]string{e.head}, e.rest...), "*")
	if e.whole {
		text += "$"
	}
	return text
}

// patterns gives the patterns of a policy.
func (p *policy) patterns() map[string]bool {
	all := make(map[string]bool, len(p.set.entries))
	for i := range p.set.entries {
		all[p.set.entries[i].pattern()] = true
	}
	return all
}
