package proof

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// A change costs what it changes. A line of the file such as "Disallow: /~bob/x"
// says nothing, to any reader, of what lies outside of ~bob, nor do the annotations
// there. So where neither a top-level directory has changed nor the lines about it,
// nor any line that is about more than one, what was found there is taken over; and
// the others are proven with a file and annotations that say nothing of those.

// part is what was found in and below a top-level directory; that of others is empty.
type part struct {
	key     uint64  // a hash of the lines about it, and of all that is about more than one
	classes uint64  // a hash of the robots; 0: it is not proven yet
	tallies []tally // of each class
}

// proven reports whether a node is that of a top-level directory that is as it was.
func (n *node[D]) proven() bool { return n != nil && n.part.classes != 0 }

// fileLine is a line of the file.
type fileLine[D comparable] struct {
	text  string
	top   *node[D] // the top-level directory that it is about; nil if that has no part
	first bool     // of its field since the last line that may be about more than one
}

// compare finds the top-level directories of which everything is as it was, and
// gives the others new parts.
func (p *prover[D]) compare() {
	var notes []Note
	if p.root.notes != nil {
		notes = p.root.notes.notes
	}
	file := string(p.in.File)
	rest := hashOf(fmt.Sprintf("%q", []any{p.in.Own, p.in.Programs, p.in.Shut, notes}))
	about := make([]uint64, len(p.root.kids)+1) // by the number of the next kid
	at, seen := 0, 0
	p.lines = make([]fileLine[D], 0, strings.Count(file, "\n")+1)
	for line := range strings.Lines(file) {
		field, name := topOf(line)
		l := fileLine[D]{text: line, first: seen&field == 0}
		switch sum := maphash.String(seed, line); {
		case field == 0:
			rest, seen = mix(rest, sum), 0
		case l.first:
			rest, seen = mix(rest, uint64(field)), seen|field
			fallthrough
		default:
			if l.top = p.root.kid(name, &at); l.top != nil {
				about[at] = mix(about[at], rest, sum) // and where it stands
			}
		}
		p.lines = append(p.lines, l)
	}
	p.tops = nil
	for i, kid := range p.root.kids {
		if !readers.Plain(kid.name) {
			continue // lines about it are not told by its name
		}
		if key := mix(rest, about[i+1]); !kid.proven() || kid.part.key != key {
			kid.part = part{key: key}
		}
		p.tops = append(p.tops, kid)
	}
}

// topOf returns the top-level directory that a line is about, and a bit for its field;
// 0 if it may be about more than one.
func topOf(line string) (field int, top string) {
	name, value, _ := strings.Cut(line, ": ")
	switch {
	case name == "Disallow":
		field = 1
	case name == "Allow":
		field = 2
	case name == "Content-Usage" && strings.HasPrefix(value, "/"):
		field = 4
	}
	if field == 0 || strings.IndexByte(value, '#') >= 0 || strings.IndexByte(value, '\r') >= 0 {
		return 0, ""
	}
	top, _, deeper := strings.Cut(strings.TrimPrefix(value, "/"), "/")
	if !deeper || len(top) < 2 || !readers.Plain(top) { // one letter may be an item type
		return 0, ""
	}
	return field, top
}

// read reads the file, and finds out which robots are treated alike. Lines about
// directories that are as they were are left out, but for the first: to some readers
// a group without lines is another. What was found for other robots is not taken over.
func (p *prover[D]) read() (*reading, []*class) {
	for {
		var file []byte
		for _, l := range p.lines {
			if l.first || !l.top.proven() {
				file = append(file, l.text...)
			}
		}
		reading := newReading(file)
		list := classes(p.notes(true), reading)
		names := ""
		for _, c := range list {
			names += strings.Join(c.names, ",") + "\n"
		}
		p.classes = hashOf(names)
		again := false
		for _, kid := range p.tops {
			if kid.proven() && kid.part.classes != p.classes {
				kid.part, again = part{key: kid.part.key}, true
			}
		}
		if again {
			continue
		}
		for _, kid := range p.tops {
			if !kid.proven() {
				kid.part.tallies = make([]tally, len(list))
			}
		}
		return reading, list
	}
}

// into returns the tally for a name that is asked for at some place: nil if it lies
// in a directory that is as it was, and was asked for.
func (p *prover[D]) into(at *place, sel string, t *tally) *tally {
	if at.dir != "/" {
		return t
	}
	top, _, _ := strings.Cut(sel[1:], "/")
	return p.root.kid(top, new(int)).tally(p.number, t)
}

// tally returns that of a class for what is in and below a directory: nil if it is as
// it was, t if it has no part.
func (n *node[D]) tally(class int, t *tally) *tally {
	switch {
	case n.proven():
		return nil
	case n == nil || n.part.tallies == nil:
		return t
	}
	return &n.part.tallies[class]
}
