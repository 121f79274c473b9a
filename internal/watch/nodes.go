package watch

import (
	"io/fs"

	"github.com/gophd/gophd/selector"
)

// nodes holds the known directories as a tree, so that all names below one are found
// without a search of the others.
type nodes struct {
	root *watchNode
	byID map[inode]*watchNode // the watched node of each inode, the latest if it has several
	tops map[string]int       // how many are watched below each top-level directory
}

// watchNode is a directory that was added, or one on the way to it.
type watchNode struct {
	up       *watchNode
	base     string
	children map[string]*watchNode
	dirState
}

// dirState describes a directory as it was when last watched and read.
type dirState struct {
	id      inode       // that is watched under this name
	mode    fs.FileMode // when it was read
	watched bool
}

func newNodes() nodes {
	return nodes{root: &watchNode{}, byID: make(map[inode]*watchNode), tops: make(map[string]int)}
}

// find returns the node of a name, nil if there is none.
func (n *nodes) find(name string) *watchNode {
	at := n.root
	for name != "." && at != nil {
		var base string
		base, name = cut(name)
		at = at.children[base]
	}
	return at
}

// cut returns the first element of a name and the rest, "." if there is none.
func cut(name string) (first, rest string) {
	for i := range len(name) {
		if name[i] == '/' {
			return name[:i], name[i+1:]
		}
	}
	return name, "."
}

// set notes that a name is watched, or is to be.
func (n *nodes) set(name string, s dirState) {
	at := n.root
	for rest := name; rest != "."; {
		var base string
		base, rest = cut(rest)
		next := at.children[base]
		if next == nil {
			next = &watchNode{up: at, base: base}
			if at.children == nil {
				at.children = make(map[string]*watchNode)
			}
			at.children[base] = next
		}
		at = next
	}
	n.count(at, name, -1)
	if n.byID[at.id] == at {
		delete(n.byID, at.id)
	}
	at.dirState = s
	n.count(at, name, +1)
	if s.watched {
		n.byID[s.id] = at
	}
}

func (n *nodes) count(at *watchNode, name string, by int) {
	if !at.watched {
		return
	}
	t := top(name)
	if n.tops[t] += by; n.tops[t] == 0 {
		delete(n.tops, t)
	}
}

// remove takes out a name and all below it, and returns the names that were
// watched or were to be, parents first.
func (n *nodes) remove(name string) (gone []string) {
	at := n.find(name)
	if at == nil {
		return nil
	}
	at.walk(name, func(name string, at *watchNode) {
		n.count(at, name, -1)
		if n.byID[at.id] == at {
			delete(n.byID, at.id)
		}
		gone = append(gone, name)
	})
	if at.up == nil {
		n.root = &watchNode{}
	} else {
		delete(at.up.children, at.base)
	}
	return gone
}

// walk calls f for a node and all below it, parents first.
func (at *watchNode) walk(name string, f func(string, *watchNode)) {
	f(name, at)
	for base, next := range at.children {
		next.walk(selector.Join(name, base), f)
	}
}

// name returns the name of a node.
func (at *watchNode) name() string {
	if at.up == nil {
		return "."
	}
	return selector.Join(at.up.name(), at.base)
}

// largest returns the top-level directory with the most watches, "" if none but
// the root has any.
func (n *nodes) largest() (name string) {
	for t, count := range n.tops {
		if t != "." && (name == "" || count > n.tops[name] || count == n.tops[name] && t < name) {
			name = t
		}
	}
	return name
}
