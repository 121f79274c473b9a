package proof

import (
	"bytes"
	"slices"
	"strings"
)

// Input is a tree, what its annotations say, and a robots.txt made of it. D is
// the caller's type of directories; equal values stand for the same directory with
// the same content.
type Input[D comparable] struct {
	Root D

	Name func(D) string                                   // of a directory
	Look func(D) (files []string, dirs []D, notes []Note) // what is in it

	// Programs are selectors that programs answer ("/cgi"), or patterns of their
	// names ("/*.dcgi"). They, what is below them and what follows a ? are denied
	// unless the root's annotation has an Allow that speaks of them by name.
	Programs []string

	// Own are selectors that the server answers itself. They are not asked.
	Own []string

	// Shut are directories that are denied as a whole whatever annotations say, by
	// their canonical selectors ("/~bob/").
	Shut []string

	File []byte // the robots.txt

	// Closed reports whether the server answers a spelling of a resource with
	// nothing but a pointer to the canonical selector, whether or not the resource
	// exists. It is asked only where a reader takes the spelling of something denied
	// as allowed. If nil, no spelling is closed.
	Closed func(canonical, spelling string) bool
}

// minNode is how many names a directory has below it for the proof to remember
// what it found there. What is remembered above is at
// least twice as large: so a chain of directories costs no more than others.
var minNode = 64

// node is a directory with an annotation in or below it, or with many names.
type node[D comparable] struct {
	d           D
	name, dir   string
	files, dirs int // names below
	notes       *annotation
	named       bool              // an annotation here or below names robots
	kids        []*node[D]        // by name
	kept        int               // names below the largest directory that is remembered, this one or one below
	memos       map[uint64]*tally // what was found in and below it, by all that this depends on; nil if it is not remembered
	part        part              // of a top-level directory
}

// count counts what is below a directory, and reads the annotations there. It
// takes over what prev, an older node of the same name, has of subtrees that have
// not changed. The node of a directory about which there is nothing to remember is
// good until the next one.
func (p *prover[D]) count(d D, above, name string, prev *node[D]) *node[D] {
	if prev != nil && prev.d == d {
		return prev
	}
	files, dirs, notes := p.in.Look(d)
	if len(dirs)+len(notes) == 0 && len(files) < minNode && above != "" {
		p.small = node[D]{files: len(files)}
		return &p.small
	}
	dir := above + name + "/"
	n := &node[D]{d: d, name: name, dir: dir, files: len(files), dirs: len(dirs)}
	switch {
	case len(notes) == 0:
	case prev != nil && prev.notes != nil && slices.EqualFunc(prev.notes.notes, notes, sameNote):
		n.notes = prev.notes
	default:
		n.notes = readNotes(dir, notes)
	}
	n.named = n.notes != nil && len(n.notes.groups) > 0
	at := 0
	for _, sub := range dirs {
		name := p.in.Name(sub)
		kid := prev.kid(name, &at)
		if kid == nil || kid.d != sub {
			kid = p.count(sub, dir, name, kid)
		}
		n.files, n.dirs, n.named = n.files+kid.files, n.dirs+kid.dirs, n.named || kid.named
		if kid.notes != nil || kid.kids != nil || kid.files+kid.dirs >= minNode {
			n.kids, n.kept = append(n.kids, kid), max(n.kept, kid.kept)
		}
	}
	if size := n.files + n.dirs + 1; size >= max(minNode, 2*n.kept) {
		n.kept, n.memos = size, map[uint64]*tally{}
	}
	return n
}

func sameNote(a, b Note) bool {
	return a.File == b.File && a.Err == nil && b.Err == nil && bytes.Equal(a.Data, b.Data)
}

// kid returns the node of a directory in n, nil if it has none; n may be nil. Most names
// come in order: it is looked for at the number at first, and where it was found the
// next one is looked for behind it.
func (n *node[D]) kid(name string, at *int) *node[D] {
	if n == nil {
		return nil
	}
	i, ok := *at, *at < len(n.kids) && n.kids[*at].name == name
	if !ok {
		i, ok = slices.BinarySearchFunc(n.kids, name, func(kid *node[D], name string) int { return strings.Compare(kid.name, name) })
	}
	if !ok {
		return nil
	}
	*at = i + 1
	return n.kids[i]
}

// notes lists the annotations from above to below. What lies in a directory that is
// shut is not asked; what lies in one that is as it was only if robots are asked for.
func (p *prover[D]) notes(robots bool) (list []*annotation) {
	var gather func(n *node[D])
	gather = func(n *node[D]) {
		if n.proven() && !(robots && n.named) || slices.Contains(p.in.Shut, n.dir) {
			return
		}
		if n.notes != nil {
			list = append(list, n.notes)
		}
		for _, kid := range n.kids {
			gather(kid)
		}
	}
	gather(p.root)
	for _, dir := range p.in.Shut {
		a := &annotation{dir: dir}
		a.rules = []rule{shutRule(a, "")}
		list = append(list, a)
	}
	if len(p.in.Programs) > 0 {
		list = append(list, programNote(p.in.Programs))
	}
	return list
}
