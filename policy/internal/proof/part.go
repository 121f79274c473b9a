package proof

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// prover holds the state that all parts of a proof share.
type prover struct {
	in       Input
	rows     uint64 // a hash of the readers
	list     []*annotation
	file     *file
	everyone []int // the groups for everybody
	classes  map[string]*class
	programs []readers.Pattern
	struck   map[string]map[source]bool // of virtual agents
	token    string
	byTop    map[string]*part
}

// part is a set of top-level directories that are proven together.
type part struct {
	*prover
	tops   []string // sorted
	others bool     // in place of these all that have no annotation
	notes  []*annotation
	robots map[string]*class // that are treated otherwise than everybody, by the names that are asked
	text   []byte            // what the file says of it
}

// mostParts bounds the parts of a proof. An edit below one directory repeats one part.
const mostParts = 256

func newProver(in Input, prev, r *Result) *prover {
	p := &prover{in: in, list: r.annotations(in, prev), file: readFile(in.File, in.Readers), programs: programLines(in.Programs), token: "zqj"}
	for bytes.Contains(in.File, []byte(p.token)) {
		p.token += "j"
	}
	p.rows = hashOf(fmt.Sprintf("%+v %q %v %s", in.Readers, in.Programs, in.Closed == nil, p.token))
	p.classes = classes(p.list, p.file, in.Readers)
	if p.classes[virtual[0]] != nil {
		p.struck = strikes(p.list, p.programs)
	}
	for i := range p.file.groups {
		if slices.Contains(p.file.groups[i].agents, "*") {
			p.everyone = append(p.everyone, i)
		}
	}
	return p
}

// parts divides the annotations.
func (p *prover) parts() (list []*part) {
	tops := map[string][]*annotation{}
	for _, a := range p.list {
		if top := topOf(a.dir); top != "" {
			tops[top] = append(tops[top], a)
		}
	}
	n := 1
	for n < mostParts && 2*n <= len(tops) {
		n *= 2
	}
	list = make([]*part, n+1)
	for i := range list {
		list[i] = &part{prover: p, others: i == n, robots: map[string]*class{}}
		if p.list[0].dir == "/" {
			list[i].notes = p.list[:1:1]
		}
	}
	p.byTop = map[string]*part{}
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(top))
		of := list[h.Sum32()&uint32(n-1)]
		p.byTop[top] = of
		of.tops, of.notes = append(of.tops, top), append(of.notes, tops[top]...)
	}
	p.assign(list)
	for _, of := range list {
		keep := make([][]int, len(p.file.groups))
		for i := range keep {
			mine := func(c *class) bool { return slices.Contains(c.groups, i) }
			if i == 0 || slices.Contains(p.everyone, i) || slices.ContainsFunc(slices.Collect(maps.Values(of.robots)), mine) {
				keep[i] = append([]int{}, p.file.groups[i].about(of.tops, of.others, p.byTop)...)
			}
		}
		of.text = p.file.text(slices.Sorted(maps.Keys(of.robots)), keep)
	}
	return slices.DeleteFunc(list, func(of *part) bool { return len(of.tops) == 0 && !of.others })
}

// topOf returns the top-level directory of a selector, "" for the root.
func topOf(sel string) string {
	top, _, ok := strings.Cut(sel[1:], "/")
	if !ok {
		return ""
	}
	return top
}

// assign gives each part the robots that it treats differently from everybody.
func (p *prover) assign(list []*part) {
	star := p.sums(p.everyone)
	done := map[*class]bool{}
	for _, c := range p.classes {
		if done[c] {
			continue
		}
		done[c] = true
		of := map[*part]bool{}
		sums := p.sums(c.groups)
		if len(c.groups) == 0 {
			sums = star
		}
		for top := range star {
			sums[top] += 0
		}
		for top, sum := range sums {
			if sum != star[top] {
				p.about(top, list, of)
			}
		}
		for top := range c.named {
			p.about(top, list, of)
		}
		for part := range of {
			for _, name := range c.asked {
				part.robots[name] = c
			}
		}
	}
	for _, of := range list {
		if slices.ContainsFunc(virtual, func(name string) bool { return of.robots[name] != nil }) {
			for _, name := range virtual {
				of.robots[name] = p.classes[name]
			}
		}
	}
}

// about adds the parts that a top-level directory concerns: all, if it is the root.
func (p *prover) about(top string, list []*part, of map[*part]bool) {
	switch {
	case top == "":
		for _, part := range list {
			of[part] = true
		}
	case p.byTop[top] != nil:
		of[p.byTop[top]] = true
	default:
		of[list[len(list)-1]] = true
	}
}

// sums returns hashes of the lines of some groups, by top-level directory; "" is for
// lines about several directories.
func (p *prover) sums(groups []int) map[string]uint64 {
	sums := map[string]uint64{}
	for _, i := range groups {
		g := &p.file.groups[i]
		for top, lines := range g.tops {
			sums[top] += p.sum(lines)
		}
		for head, lines := range g.heads {
			sums[""] += mix(hashOf(head), p.sum(lines))
		}
	}
	return sums
}

func (p *prover) sum(lines []int) (sum uint64) {
	for _, i := range lines {
		l := &p.file.lines[i]
		sum = mix(sum, hashOf(l.Kind.String(), l.Value))
	}
	return sum
}

// key returns a hash of everything that the findings of a part depend on.
func (of *part) key() uint64 {
	key := mix(of.rows, hashOf(append([]string{string(of.text), fmt.Sprint(of.others)}, of.tops...)...))
	if of.others {
		key = mix(key, hashOf(slices.Sorted(maps.Keys(of.byTop))...))
	}
	for _, a := range of.notes {
		key = mix(key, hashOf(a.dir, a.shut, fmt.Sprint(a.denied)))
		for _, n := range a.notes {
			key = mix(key, n.sum)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of.robots)) {
		key = mix(key, hashOf(name))
		var sum uint64
		for s := range of.struck[name] {
			if top := topOf(s.dir); top == "" || of.wants(top) {
				sum += hashOf(s.file, fmt.Sprint(s.line))
			}
		}
		key = mix(key, sum)
	}
	return key
}

// wants reports whether a top-level name belongs to the part.
func (of *part) wants(top string) bool {
	if of.others {
		return of.byTop[top] == nil
	}
	return of.byTop[top] == of
}

// witnesses makes the witnesses of the part. tooMany lists the directories with more
// than MaxPairs pairs of patterns.
func (of *part) witnesses() (list []witness, tooMany []string) {
	w := &witnesses{about: of.wants, token: of.token, seen: map[string]bool{}}
	byTop := map[string]*patterns{"": {}}
	for _, top := range of.tops {
		w.name("/" + top + "/")
		byTop[top] = &patterns{}
	}
	said := map[string]bool{}
	for _, a := range of.notes {
		if a.denied {
			w.name(a.dir)
		}
		a.each(func(_ *noteText, g *noteGroup) {
			for _, r := range slices.Concat(g.rules, g.states) {
				said[starred(r.Pattern)] = true
				of.pattern(w, byTop, topOf(a.dir), &r)
			}
		})
	}
	for _, q := range of.programs {
		of.pattern(w, byTop, "", &noteRule{Pattern: q})
	}
	for l := range robots.Parse(robots.RFC9309, of.text).Lines() {
		path, isRule := pathOf(&l)
		if !isRule {
			continue
		}
		w.line(path, l.Kind == readers.KindAllow, of.in.Readers)
		if q, ok := patternBelow("/", path); ok && !said[starred(q)] {
			said[starred(q)] = true
			top := decode(topOf(q.Pieces[0] + "*"))
			if byTop[top] == nil {
				top = ""
			}
			byTop[top].add(&noteRule{Pattern: q, allow: l.Kind == readers.KindAllow})
		}
	}
	for _, top := range append([]string{""}, of.tops...) {
		if !byTop[top].pairs(byTop[""], top, w) {
			tooMany = append(tooMany, "/"+top)
		}
	}
	return w.list, tooMany
}

// pattern adds the names of a pattern, and the pattern for pairs. A root's pattern
// about several directories adds names in each.
func (of *part) pattern(w *witnesses, byTop map[string]*patterns, top string, r *noteRule) {
	head := r.Pieces[0]
	if top != "" || of.others {
		w.pattern(&r.Pattern)
		byTop[top].add(r)
		return
	}
	if own := decode(topOf(head)); own != "" {
		if of.wants(own) {
			w.pattern(&r.Pattern)
			byTop[own].add(r)
		}
		return
	}
	byTop[""].add(r)
	for _, top := range of.tops {
		if below := readers.URI.Of("/" + top + "/"); strings.HasPrefix(below, head) {
			if len(r.Pieces) == 1 {
				w.add(decode(head))
			} else {
				w.add(decode(below + strings.Join(r.Pieces[1:], "")))
			}
		}
	}
}

// patterns holds rules that are compared in pairs.
type patterns struct {
	list  [2][]*noteRule // Disallow and Allow
	globs [2][]*noteRule // those with stars, or an end
	state []*noteRule
}

func (s *patterns) add(r *noteRule) {
	switch {
	case r.states != nil:
		s.state = append(s.state, r)
	case r.allow:
		s.list[1] = append(s.list[1], r)
	default:
		s.list[0] = append(s.list[0], r)
	}
	if side := r.side(); r.states == nil && !isLiteral(&r.Pattern) {
		s.globs[side] = append(s.globs[side], r)
	}
}

func (r *noteRule) side() int {
	if r.allow {
		return 1
	}
	return 0
}

// pairs adds names that both an Allow and a Disallow match, or two preferences. At
// least one of the two rules is in this directory; the other may be in the root. It
// returns false if there are more than MaxPairs pairs.
func (s *patterns) pairs(root *patterns, top string, w *witnesses) bool {
	n := 0
	s.each(root, top != "", func(_, _ *noteRule) { n++ })
	if n > MaxPairs {
		return false
	}
	s.each(root, top != "", func(a, b *noteRule) {
		for _, form := range common(&a.Pattern, &b.Pattern) {
			sel := decode(strings.ReplaceAll(form, "*", w.token))
			w.add(sel)
			if dir, _, ok := strings.Cut(sel, "/index.htm"); ok { // to Google an Allow opens the directory, too
				w.add(dir + "/")
			}
		}
	})
	return true
}

// each calls fn for the pairs of rules that may match the same name in another way than
// two prefixes do.
func (s *patterns) each(root *patterns, below bool, fn func(a, b *noteRule)) {
	all := func(a, b []*noteRule) {
		for _, x := range a {
			for _, y := range b {
				if x != y && !(isLiteral(&x.Pattern) && isLiteral(&y.Pattern)) && compatible(x.Pieces[0], y.Pieces[0]) {
					fn(x, y)
				}
			}
		}
	}
	for side := range 2 {
		all(s.globs[side], s.list[1-side])
		if below {
			all(s.globs[side], root.list[1-side])
			all(root.globs[side], s.list[1-side])
		}
	}
	for i, x := range s.state {
		all([]*noteRule{x}, s.state[:i])
		if below {
			all([]*noteRule{x}, root.state)
		}
	}
}
