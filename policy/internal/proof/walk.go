package proof

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// prover is one proof, and the class of robots that it is at.
type prover[D comparable] struct {
	in      Input[D]
	root    *node[D]
	tops    []*node[D] // those in the root that have parts
	lines   []fileLine[D]
	classes uint64  // a hash of the robots
	known   bool    // only names that exist, for tests
	small   node[D] // that of the last directory that needs none
	class   *class
	number  int // of the class
	most    int // memos of a directory: two for each class
	places  []*place
	deep    *place // a directory that need not exist
}

// start proves the whole tree for the class.
func (p *prover[D]) start(t *tally) {
	at := p.class.root()
	p.places = nil
	p.resource(at, "/", true, true, t)
	for _, sel := range p.answered() {
		if own := p.into(at, sel, t); own != nil {
			p.judge(at, sel, false, true, p.rule(at, sel), own)
		}
	}
	p.inside(p.in.Root, p.root, at, 0, t)
	for _, kid := range p.tops {
		t.merge(&kid.part.tallies[p.number])
	}
}

// answered are selectors of programs: of each program what stands for all that
// nobody names, and what the rules name.
func (p *prover[D]) answered() (list []string) {
	for _, prog := range p.in.Programs {
		list = append(list, prog, prog+"/"+later, prog+"?"+later)
	}
	for _, r := range p.class.about {
		if name, ok := plainName(strings.Join(r.Pieces, later)); ok {
			name = strings.TrimRight(name, "/")
			list = append(list, name, name+"/"+later, name+later)
		}
	}
	return list
}

// inside proves what is in a directory, and below; n is nil if it has no node.
func (p *prover[D]) inside(d D, n *node[D], at *place, depth int, t *tally) {
	if depth > 0 && at.still && p.alike(d, n, at, t) {
		return
	}
	files, dirs, _ := p.in.Look(d)
	isLike, like := p.alikeFiles(at)
	for _, name := range files {
		switch {
		case !askable(at, name):
		case isLike != nil && isLike(name):
			t.selectors += like.selectors
		case !p.skipped(at.dir + name):
			p.resource(at, at.dir+name, false, true, t)
		}
	}
	var rules, lines []span
	last := 0
	for _, sub := range dirs {
		name := p.in.Name(sub)
		kid := n.kid(name, &last)
		if kid.proven() || !askable(at, name) || p.skipped(at.dir+name+"/") {
			continue
		}
		r, l := p.dir(sub, kid, at, at.dir+name+"/", depth+1, kid.tally(p.number, t))
		rules, lines = append(rules, r), append(lines, l)
	}
	if (depth == 0 || !at.still) && !p.known {
		p.invent(at, rules, lines, dirs, t)
	}
}

// dir proves a directory in that of a place, and what is in and below it: from memory,
// if it is remembered and nothing that the answers depend on is new. It gives the
// entries of the policy and of the file that it has asked about.
func (p *prover[D]) dir(d D, n *node[D], at *place, sel string, depth int, t *tally) (rules, lines span) {
	for len(p.places) <= depth {
		p.places = append(p.places, newPlace(len(p.class.lanes)))
	}
	below := p.places[depth] // good until the next one of the same depth
	p.class.below(at, below, sel)
	rules, lines = below.at[0].span, below.at[p.class.uri].span
	if n == nil || n.memos == nil {
		p.resource(at, sel, true, true, t)
		p.inside(d, n, below, depth, t)
		return rules, lines
	}
	found := n.memos[below.key]
	if found == nil {
		if len(n.memos) >= p.most { // most are about files that were
			clear(n.memos)
		}
		found = &tally{}
		p.resource(at, sel, true, true, found)
		p.inside(d, n, below, depth, found)
		n.memos[below.key] = found
	}
	t.merge(found)
	return rules, lines
}

// alike counts a directory below which all is the same to everybody. It reports
// false if each name has to be asked.
func (p *prover[D]) alike(d D, n *node[D], at *place, t *tally) bool {
	by := p.rule(at, at.dir+later)
	denied := by != nil && !by.allow
	files, dirs := p.size(d, n)
	for _, kind := range []struct {
		dir   bool
		count int
	}{{false, files}, {true, 2 * dirs}} {
		slash, bare := p.class.ask(at, at.dir+later, kind.dir)
		if denied && p.class.readers&^(slash&bare) != 0 {
			return false // some spellings may be closed
		}
		if !denied && kind.count > 0 {
			p.tell(false, slash, by, kind.count, at.dir, true, t)
			p.tell(false, bare, by, kind.count, at.dir, true, t)
		}
	}
	t.selectors += 2*files + 4*dirs
	if !denied && files+dirs > 0 {
		p.preferences(at, at.dir+later, files+dirs, false, t)
	}
	return true
}

// alikeFiles returns which files in a place are to all readers what one with a new name
// is, and what was found of that: nothing but selectors. It returns nil where something
// is found, or patterns go by more than what is in a name.
func (p *prover[D]) alikeFiles(at *place) (is func(name string) bool, found tally) {
	pieces, ok := p.class.goBy(at)
	if !ok || at.dir == "/" || holds(later, pieces) || slices.ContainsFunc(p.in.Own, func(sel string) bool { return strings.HasPrefix(sel, at.dir) }) {
		return nil, found
	}
	if p.resource(at, at.dir+later, false, false, &found); found.found != nil {
		return nil, found
	}
	return func(name string) bool { return readers.Plain(name) && !holds(name, pieces) }, found
}

// goBy returns what patterns look for in the names in a place: one that holds none of it
// is matched by what matches them all. It reports false where they go by more.
func (c *class) goBy(at *place) (pieces []string, ok bool) {
	for i, l := range c.lanes {
		if at.at[i].lo < at.at[i].hi {
			return nil, false
		}
		for _, o := range at.at[i].open {
			e := &l.set.entries[o.entry]
			if o.piece == len(e.Pieces) {
				continue // the directory itself
			}
			piece := e.Pieces[o.piece]
			if strings.Contains(piece, "/") || len(pieces) == maxExamples {
				return nil, false
			}
			if !slices.Contains(pieces, piece) {
				pieces = append(pieces, piece)
			}
		}
	}
	return pieces, at.plain
}

func holds(name string, pieces []string) bool {
	return slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(name, piece) })
}

// size counts the names below a directory.
func (p *prover[D]) size(d D, n *node[D]) (files, dirs int) {
	if n != nil {
		return n.files, n.dirs
	}
	names, subs, _ := p.in.Look(d)
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

// rule returns the rule that decides for a canonical selector.
func (p *prover[D]) rule(at *place, sel string) *rule {
	return p.class.decide(p.class.matches(at, sel))
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
	slash, bare := p.class.ask(at, sel, dir)
	if denied {
		slash, bare = p.class.readers&^slash, p.class.readers&^bare
	}
	if first, _, _ := strings.Cut(sel[1:], "/"); strings.Contains(first, ":") {
		bare &^= 1 << firstModel // to CPython it is a URL of that scheme
	}
	if slash|bare == 0 {
		return
	}
	if denied && p.byDigits(at, canonical) {
		slash, bare = slash&p.class.exact, bare&p.class.exact
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
	form := string(readers.URI.Append(nil, sel))
	if !strings.Contains(form, "%") {
		return false
	}
	whole := slices.DeleteFunc(slices.Clone(p.class.matches(at, sel)), func(i int) bool {
		e := &p.class.policy.entries[i]
		return len(e.Pieces) > 1 && !e.matchesWhole(form)
	})
	by := p.class.decide(whole)
	return by == nil || by.allow
}

// tell notes for each reader what it takes otherwise.
func (p *prover[D]) tell(leak bool, readers uint32, by *rule, n int, sel string, exists bool, t *tally) {
	for r := range models {
		if readers>>r&1 == 1 {
			t.note(cause{leak, r, by.source()}, n, sel, exists)
		}
	}
}
