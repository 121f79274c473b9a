package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// class is a set of robots that every annotation treats alike: they share one
// policy, and their groups have the same lines. The first class is that of the
// robots nobody names, whose only token is "*".
type class struct {
	tokens []string
	merged []string // robots without a group of their own: what is denied to them is denied to all
	votes  float64  // how much they matter (votes.go)
	file   string   // the first of these
}

// index finds the annotations of a tree. A directory is noted if there is an
// annotation in it or below.
type index struct {
	notes map[*Dir]*note
	read  map[noteKey]*note
	noted map[*Dir]bool
	dirs  []*Dir // those with annotations, in the order of the tree
}

// noteKey tells an annotation from others: it never changes either.
type noteKey struct {
	first, last *Annotation
	n           int
	root        bool
}

func newIndex(root *Dir, prev *index) *index {
	x := &index{notes: map[*Dir]*note{}, read: map[noteKey]*note{}, noted: map[*Dir]bool{}}
	x.add(root, prev, true)
	return x
}

func (x *index) add(d *Dir, prev *index, root bool) bool {
	noted := len(d.Notes) > 0
	if noted {
		x.dirs = append(x.dirs, d)
		n := x.note(d, prev, root)
		if few := 16; !root && n.pieces() > few && n.pieces()*countAll(d) > maxPieces {
			n = n.costly(d.Notes[0])
		}
		x.notes[d] = n
	}
	for _, sub := range d.Dirs {
		if speakable(sub.Name) && x.add(sub, prev, false) {
			noted = true
		}
	}
	if noted {
		x.noted[d] = true
	}
	return noted
}

// note reads the annotations of a directory, or takes what was read before.
func (x *index) note(d *Dir, prev *index, root bool) *note {
	key := noteKey{d.Notes[0], d.Notes[len(d.Notes)-1], len(d.Notes), root}
	n := x.read[key]
	if n == nil && prev != nil {
		n = prev.read[key]
	}
	if n == nil {
		n = readNote(d.Notes, root)
	}
	x.read[key] = n
	return n
}

// naming collects the directories with an annotation that names a robot in or
// below them.
func (x *index) naming(token string, d *Dir, found map[*Dir]bool) bool {
	if !x.noted[d] {
		return false
	}
	some := false
	if n := x.notes[d]; n != nil {
		_, some = n.agents[token]
	}
	for _, sub := range d.Dirs {
		some = x.naming(token, sub, found) || some
	}
	if some {
		found[d] = true
	}
	return some
}

// rules gives what the annotation of d says to a robot, and whether d is denied
// as a whole.
func (x *index) rules(d *Dir, token string) (own []*rule, shut *rule) {
	n := x.notes[d]
	if n == nil {
		return nil, nil
	}
	return n.rulesFor(token), n.shut
}

// classes sorts the robots that the annotations name. The class of all others
// comes first, then by length of the name, the longest first: readers of the
// 1994 standard look for the name of a group anywhere in their own.
func (x *index) classes(root *Dir) []*class {
	said := map[string]*saying{}
	for i, d := range x.dirs {
		n := x.notes[d]
		for _, token := range n.order {
			s := said[token]
			if s == nil {
				s = &saying{file: d.Notes[0].File}
				said[token] = s
			}
			s.groups = fmt.Appendf(s.groups, "%d:%s;", i, n.sets[token])
		}
	}
	delete(said, "*")
	bySaid, votes := map[string]*class{}, x.votes(root)
	for token, s := range said {
		c := bySaid[string(s.groups)]
		if c == nil {
			c = &class{votes: votes[token], file: s.file}
			bySaid[string(s.groups)] = c
		}
		c.tokens = append(c.tokens, token)
	}
	list := []*class{{tokens: []string{"*"}}}
	for _, c := range bySaid {
		slices.SortFunc(c.tokens, longestFirst)
		list = append(list, c)
	}
	slices.SortFunc(list[1:], func(a, b *class) int { return longestFirst(a.tokens[0], b.tokens[0]) })
	return list
}

// saying is where a robot is named.
type saying struct {
	groups []byte // which groups of which annotations
	file   string // the first annotation
}

func longestFirst(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
}
