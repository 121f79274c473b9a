package policy

import (
	"slices"
	"strings"
)

// node is a directory with an annotation in it or below it. The compiler walks
// nodes, never the whole tree: what it costs is what the annotations say.
type node struct {
	dir    *Dir
	at     form  // its selector, without a slash at the end; empty for the root
	note   *note // nil: no annotation lies here
	subs   []*node
	rules  int // lines of rules here and below
	finals int // Final lines
}

// grow makes the nodes of a directory; nil if there are none. Those of an
// unchanged subtree are taken over from the older tree: oldDir is the directory
// of the same path in it, and old its node.
func grow(d *Dir, at form, oldDir *Dir, old *node) *node {
	if d == oldDir {
		return old
	}
	if len(at.raw)+1 > maxSelector { // nobody can ask for it
		return nil
	}
	n := &node{dir: d, at: at}
	switch {
	case len(d.Notes) == 0:
	case old != nil && old.note != nil && slices.Equal(old.dir.Notes, d.Notes):
		n.note = old.note
	default:
		n.note = readNote(d.Notes, at, at.uri == "")
	}
	if n.note != nil {
		n.rules, n.finals = n.note.rules, n.note.finals
	}
	for _, sub := range d.Dirs {
		if !speakable(sub.Name) {
			continue
		}
		var was *Dir
		var wasNode *node
		if oldDir != nil {
			if was = oldDir.sub(sub.Name); was != nil && old != nil {
				wasNode = old.sub(sub.Name)
			}
		}
		if was == sub && wasNode == nil {
			continue
		}
		if s := grow(sub, at.below(sub.Name), was, wasNode); s != nil {
			n.subs = append(n.subs, s)
			n.rules += s.rules
			n.finals += s.finals
		}
	}
	if n.note == nil && len(n.subs) == 0 {
		return nil
	}
	return n
}

// sub gives the node of that name.
func (n *node) sub(name string) *node {
	i, ok := slices.BinarySearchFunc(n.subs, name, func(n *node, name string) int { return strings.Compare(n.dir.Name, name) })
	if !ok {
		return nil
	}
	return n.subs[i]
}

// each calls fn for a node and all below, in the order of their selectors, but
// for what lies below a directory that is denied as a whole.
func (n *node) each(denied map[*node]*rule, fn func(*node)) {
	fn(n)
	if denied[n] != nil || n.note != nil && n.note.shut != nil {
		return
	}
	for _, sub := range n.subs {
		sub.each(denied, fn)
	}
}
