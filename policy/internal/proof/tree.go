package proof

import (
	"bytes"
	"slices"
	"strings"
)

// minNode is how many names a directory has below it for the proof to remember
// what it found there, if it has no annotation. What is remembered above is at
// least twice as large: so a chain of directories costs no more than others.
var minNode = 64

// node is a directory with an annotation in or below it, or with many names.
type node[D comparable] struct {
	d           D
	name, dir   string
	files, dirs int // names below
	notes       *annotation
	kids        []*node[D]       // by name
	kept        int              // names below the largest directory that is remembered, this one or one below
	memos       map[uint64]*memo // nil if it is not remembered
}

// memo is what was found below a directory, by a hash of all that it depends on.
type memo struct {
	tally *tally
	age   int // of the latest proof that used it
}

// count counts what is below a directory, and reads the annotations there. It
// takes over what prev, an older node of the same name, has of subtrees that have
// not changed.
func (p *prover[D]) count(d D, dir string, prev *node[D]) *node[D] {
	if prev != nil && prev.d == d && prev.dir == dir {
		return prev
	}
	name, files, dirs, notes := p.in.Look(d)
	n := &node[D]{d: d, name: name, dir: dir, files: len(files), dirs: len(dirs)}
	if len(notes) > 0 {
		if prev != nil && prev.notes != nil && prev.dir == dir && slices.EqualFunc(prev.notes.notes, notes, sameNote) {
			n.notes = prev.notes
		} else {
			n.notes = readNotes(dir, notes)
		}
	}
	at := 0
	for _, sub := range dirs {
		name, _, _, _ := p.in.Look(sub)
		kid := p.count(sub, dir+name+"/", prev.next(&at, name))
		n.files, n.dirs = n.files+kid.files, n.dirs+kid.dirs
		if kid.notes != nil || kid.kids != nil || kid.files+kid.dirs >= minNode {
			n.kids, n.kept = append(n.kids, kid), max(n.kept, kid.kept)
		}
	}
	if size := n.files + n.dirs + 1; size >= 2*n.kept && (n.notes != nil || size >= minNode) {
		n.kept, n.memos = size, map[uint64]*memo{}
	}
	return n
}

func sameNote(a, b Note) bool {
	return a.File == b.File && a.Err == nil && b.Err == nil && bytes.Equal(a.Data, b.Data)
}

// kid returns the node of a directory in n, if it is remembered.
func (n *node[D]) kid(name string) *node[D] {
	if n == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(n.kids, name, func(k *node[D], name string) int { return strings.Compare(k.name, name) })
	if !ok {
		return nil
	}
	return n.kids[i]
}

// next is kid for names that are asked for in order: at is how far they have come.
func (n *node[D]) next(at *int, name string) *node[D] {
	if n == nil {
		return nil
	}
	for ; *at < len(n.kids) && n.kids[*at].name <= name; *at++ {
		if n.kids[*at].name == name {
			return n.kids[*at]
		}
	}
	return nil
}

// gather lists the annotations, from above to below. What lies in a directory
// that is shut is not asked.
func (p *prover[D]) gather(n *node[D]) {
	if slices.Contains(p.in.Shut, n.dir) {
		return
	}
	if n.notes != nil {
		p.notes = append(p.notes, n.notes)
	}
	for _, kid := range n.kids {
		p.gather(kid)
	}
}

// recall gives what an earlier walk has found below a directory.
func (n *node[D]) found(state uint64, age int) *tally {
	m := n.memos[state]
	if m == nil {
		return nil
	}
	m.age = age
	return m.tally
}

// remember keeps what was found; what two proofs have not asked for goes.
func (n *node[D]) remember(state uint64, t *tally, age int) {
	for s, m := range n.memos {
		if m.age < age-1 {
			delete(n.memos, s)
		}
	}
	n.memos[state] = &memo{t, age}
}
