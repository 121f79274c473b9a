package site

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// place is where a directory is.
type place struct {
	name string // below the root, as selectors have it
	base string // its last element; "" for the root
	real string // the same without links

	// chain are the real directories passed on the way, itself last, if there
	// is a link among them. If there is none it is nil: they are the beginnings
	// of the name.
	chain []string
}

func rootPlace() place { return place{name: ".", real: "."} }

func (p place) linked() bool { return p.chain != nil }

// child is the place of a directory in p; real is "" if it is no link.
func (p place) child(name, real string) place {
	c := place{name: selector.Join(p.name, name), base: name, real: real}
	switch {
	case real == "" && !p.linked():
		c.real = c.name
		return c
	case real == "":
		c.real = selector.Join(p.real, name)
	}
	c.chain = append(p.passed(), c.real)
	return c
}

// passed is a chain of its own.
func (p place) passed() []string {
	if p.linked() {
		return slices.Clone(p.chain)
	}
	chain := []string{"."}
	for i := range len(p.name) {
		if p.name[i] == '/' {
			chain = append(chain, p.name[:i])
		}
	}
	if p.name != "." {
		chain = append(chain, p.name)
	}
	return chain
}

// loops says whether the way to p passes the same real directory twice: the
// server refuses such names, and so links make no endless tree.
func (p place) loops() bool {
	return p.linked() && slices.Contains(p.chain[:len(p.chain)-1], p.real)
}

// links are the symbolic links of a directory, those of its annotations too.
type links struct {
	dirs map[string]string // those to directories, by name: the real ones
	via  []string          // real directories: as long as nothing changes there, they lead where they do
}

func (l *links) none() bool { return len(l.dirs)+len(l.via) == 0 }

// lead notes a link to a directory.
func (l *links) lead(name, real string) {
	if l.dirs == nil {
		l.dirs = map[string]string{}
	}
	l.dirs[name] = real
}

// below gives the way from a directory down to d.
func below(d, top string) (string, bool) {
	switch {
	case d == top:
		return ".", true
	case top == ".":
		return d, true
	}
	return strings.CutPrefix(d, top+"/")
}
