package proof

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// prover holds the state that all parts of a proof share.
type prover struct {
	in       Input
	list     []*annotation
	named    map[string]bool // robots that some annotation names
	file     *file
	programs []program
	struck   map[string]map[source]bool // of virtual agents
	token    string
	all      uint64              // a hash of what all parts depend on
	parts    []*part             // the last is for directories without an annotation
	known    []string            // the top-level directories that have one
	byTop    map[string]*part    // of these
	inside   map[string][]string // the robots whose names are parts of a name
}

// part is a set of top-level directories that are proven together. A robot is asked if
// the part's annotations, or the file's rules about it, treat it otherwise than everybody.
type part struct {
	*prover
	tops  []string // sorted
	notes []*annotation
	rules []int           // the file's rules about it
	sums  map[int]uint64  // of these rules, by group
	asked map[string]bool // robots; whether an annotation of the site names them
	text  []byte          // what the file says of it
}

// mostParts bounds the parts of a proof. An edit below one directory repeats one part.
const mostParts = 256

// virtual are the robots of Gemini that one program may be several of.
var virtual = []string{"archiver", "indexer", "researcher", "webproxy"}

func newProver(in Input, prev, r *Result) *prover {
	p := &prover{in: in, list: r.annotations(in, prev), named: map[string]bool{}, programs: programLines(in.Programs), token: "zqj"}
	for bytes.Contains(in.File, []byte(p.token)) {
		p.token += "j"
	}
	p.all = hashOf(fmt.Sprintf("%+v %q %v %s", in.Readers, in.Programs, in.Closed == nil, p.token))
	for _, a := range p.list {
		a.each(func(_ *noteText, g *noteGroup) {
			for _, name := range g.names {
				p.named[name] = p.named[name] || g.speaks || g.prefers
			}
		})
	}
	p.divide()
	p.file = readFile(in.File, p.assign)
	if slices.ContainsFunc(virtual, func(name string) bool { return p.named[name] || p.file.named[name] != nil }) {
		p.struck = strikes(p.list, p.programs)
	}
	p.inside = map[string][]string{}
	for name := range p.named {
		p.nest(name)
	}
	for name := range p.file.named {
		p.nest(name)
	}
	for _, of := range p.parts {
		of.ask()
		of.text = p.file.about(of.rules, of.asked)
	}
	return p
}

// nest finds the robots whose names are parts of a name.
func (p *prover) nest(name string) {
	p.inside[name] = nil
	for from := range name {
		for to := from + 1; to <= min(len(name), from+64); to++ { // longer ones name no robot
			if part := name[from:to]; part != name && (has(p.named, part) || p.file.named[part] != nil) {
				p.inside[name] = append(p.inside[name], part)
			}
		}
	}
}

// divide makes the parts, and gives them their annotations.
func (p *prover) divide() {
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
	p.parts, p.byTop, p.known = make([]*part, n+1), map[string]*part{}, slices.Sorted(maps.Keys(tops))
	for i := range p.parts {
		p.parts[i] = &part{prover: p, sums: map[int]uint64{}, asked: map[string]bool{}}
		if p.list[0].dir == "/" {
			p.parts[i].notes = p.list[:1:1]
		}
	}
	for _, top := range p.known {
		h := fnv.New32a()
		_, _ = h.Write([]byte(top))
		of := p.parts[h.Sum32()&uint32(n-1)]
		p.byTop[top] = of
		of.tops, of.notes = append(of.tops, top), append(of.notes, tops[top]...)
	}
	p.parts = slices.DeleteFunc(p.parts, func(of *part) bool { return len(of.tops) == 0 && of != p.parts[n] })
}

// topOf returns the top-level directory of a selector, "" for the root.
func topOf(sel string) string {
	top, _, ok := strings.Cut(strings.TrimPrefix(sel, "/"), "/")
	if !ok {
		return ""
	}
	return top
}

// partOf returns the part of a top-level name.
func (p *prover) partOf(top string) *part {
	if of := p.byTop[top]; of != nil {
		return of
	}
	return p.parts[len(p.parts)-1]
}

// assign gives a rule of the file to the parts that it is about. An item type may precede
// the selector.
func (p *prover) assign(l *readers.Line, group, at int) {
	sum := hashOf(l.Kind.String(), l.Value)
	add := func(of *part) {
		if n := len(of.rules); n == 0 || of.rules[n-1] != at {
			of.rules, of.sums[group] = append(of.rules, at), mix(of.sums[group], sum)
		}
	}
	for _, head := range headsOf(l, p.in.Readers) {
		top, _, below := strings.Cut(strings.TrimPrefix(head, "/"), "/")
		if top == "" || top == "0" || top == "1" {
			for _, of := range p.parts {
				add(of)
			}
			continue
		}
		if below {
			add(p.partOf(top))
			continue
		}
		for i, _ := slices.BinarySearch(p.known, top); i < len(p.known) && strings.HasPrefix(p.known[i], top); i++ {
			add(p.byTop[p.known[i]])
		}
		add(p.parts[len(p.parts)-1])
	}
}

// ask selects the robots to ask for: one of each set that is treated alike, and each
// whose name contains a name that is treated otherwise.
func (of *part) ask() {
	sum := func(groups []int) (sum uint64) {
		for _, i := range groups {
			sum += of.sums[i]
		}
		return sum
	}
	ways, star := map[string]uint64{}, sum(of.file.named["*"])
	for name, groups := range of.file.named {
		if own := sum(groups); own != star && name != "" && name != "*" {
			ways[name] = own
		}
	}
	k := uint64(0)
	for _, a := range of.notes {
		a.each(func(_ *noteText, g *noteGroup) {
			k++
			for _, name := range g.names {
				if g.speaks || g.prefers {
					ways[name] += mix(k, k)
				}
			}
		})
	}
	if slices.ContainsFunc(virtual, func(name string) bool { _, ok := ways[name]; return ok }) {
		for _, name := range virtual {
			ways[name] += 0
		}
	}
	seen := map[uint64]bool{}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		alone := slices.Contains(virtual, name) || slices.ContainsFunc(of.in.Readers, func(r readers.Reader) bool { return r.Agent == name })
		part := slices.ContainsFunc(of.inside[name], func(part string) bool { return ways[part] != ways[name] })
		if alone || part || !seen[ways[name]] {
			of.asked[name] = of.named[name]
		}
		seen[ways[name]] = seen[ways[name]] || !alone
	}
}

// key returns a hash of everything that the findings of a part depend on.
func (of *part) key() uint64 {
	key := mix(of.all, hashOf(append(slices.Clip(of.tops), string(of.text))...))
	if of.tops == nil {
		key = mix(key, hashOf(of.known...))
	}
	for _, a := range of.notes {
		key = mix(key, hashOf(a.dir, a.shut, fmt.Sprint(a.denied)))
		for _, n := range a.notes {
			key = mix(key, n.sum)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of.asked)) {
		var sum uint64
		for s := range of.struck[name] {
			if top := topOf(s.dir); top == "" || of.partOf(top) == of {
				sum += hashOf(s.file, fmt.Sprint(s.line))
			}
		}
		key = mix(mix(key, hashOf(name, fmt.Sprint(of.asked[name]))), sum)
	}
	return key
}

var seed = maphash.MakeSeed()

func hashOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// mix makes one number of two.
func mix(a, b uint64) uint64 {
	return maphash.Comparable(seed, [2]uint64{a, b})
}
