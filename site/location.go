package site

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// location is where a directory is.
type location struct {
	name string // below the root, as selectors have it
	base string // its last element; "" for the root
	real string // the same without links

	// chain lists the real directories on the way, itself last. It is nil if the
	// name contains no link: the directories are then the prefixes of the name.
	chain []string
}

func rootPlace() location { return location{name: ".", real: "."} }

func (p location) linked() bool { return p.chain != nil }

// child is the place of a directory in p; real is "" if it is no link.
func (p location) child(name, real string) location {
	c := location{name: selector.Join(p.name, name), base: name, real: real}
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
func (p location) passed() []string {
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

// loops reports whether the way to p passes the same real directory twice: the
// server refuses such names, and so links make no endless tree.
func (p location) loops() bool {
	return p.linked() && slices.Contains(p.chain[:len(p.chain)-1], p.real)
}

// links holds the symbolic links of a directory, and of its annotations.
type links struct {
	dirs map[string]string // real directories, by the names of the links to them
	via  []string          // real directories on the way: while they stay the same, so do the targets
}

func (l *links) none() bool { return len(l.dirs)+len(l.via) == 0 }

// lead notes a link to a directory.
func (l *links) lead(name, real string) {
	if l.dirs == nil {
		l.dirs = map[string]string{}
	}
	l.dirs[name] = real
}

// child finds a directory by its name, nil if it is not there.
func child(d *Dir, name string) *Dir {
	if i := indexOf(d, name); i >= 0 {
		return d.Dirs[i]
	}
	return nil
}

func indexOf(d *Dir, name string) int {
	if d == nil {
		return -1
	}
	i, ok := slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	if !ok {
		return -1
	}
	return i
}

// size is how many entries a directory has; it may be nil.
func size(d *Dir) int {
	if d == nil {
		return 0
	}
	return len(d.Files) + len(d.Dirs)
}

// settled returns old if d equals it, else d, with old's annotations if they are equal.
func settled(d, old *Dir) *Dir {
	if old == nil {
		return d
	}
	if slices.EqualFunc(d.Notes, old.Notes, sameNote) {
		d.Notes = old.Notes
		if d.Phlog == old.Phlog && slices.Equal(d.Strays, old.Strays) && slices.Equal(d.Files, old.Files) && slices.Equal(d.Dirs, old.Dirs) {
			return old
		}
	}
	return d
}

func sameNote(a, b *policy.Annotation) bool {
	return a.File == b.File && bytes.Equal(a.Data, b.Data) && errorText(a.Err) == errorText(b.Err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
