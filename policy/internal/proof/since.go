package proof

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// A change costs what it changes. A line of the file such as "Disallow: /~bob/x"
// says nothing, to any reader, of what lies outside of ~bob, nor do the annotations
// there. So where neither a top-level directory has changed nor the lines about it,
// nor any line that is about more than one, what was found there is taken over; and
// the others are proven with a file that has no such lines.

// since is what a proof leaves for the next one.
type since[D comparable] struct {
	root    *node[D]
	rest    uint64 // the hash of all that is not about one top-level directory
	classes string // the robots
	parts   map[*node[D]]*part
}

// part is what was found in and below a top-level directory.
type part struct {
	lines   uint64   // the hash of those about it
	tallies []*tally // of each class
}

// compare finds the top-level directories of which everything is as it was.
func (p *prover[D]) compare(prev since[D]) {
	p.lines = cut(p.in.File)
	about := p.sums()
	p.same, p.parts = map[string]*part{}, map[*node[D]]*part{}
	for _, kid := range p.root.kids {
		was := prev.parts[kid]
		p.parts[kid] = &part{lines: about[kid.name]}
		if was != nil && was.lines == about[kid.name] && prev.rest == p.rest && prev.root.notes == p.root.notes && isApart(kid.name) {
			p.same[kid.name], p.parts[kid] = was, was
		}
	}
}

// fileLine is a line of the file.
type fileLine struct {
	text  string
	top   string // the top-level directory that it is about; "" if it may be about others, too
	first bool   // of its field since the last line with no top
}

// cut takes the file apart.
func cut(file []byte) []fileLine {
	list := make([]fileLine, 0, bytes.Count(file, []byte("\n"))+1)
	fields := map[string]bool{}
	for line := range strings.Lines(string(file)) {
		field, top := topOf(line)
		list = append(list, fileLine{line, top, !fields[field]})
		if fields[field] = true; top == "" {
			clear(fields)
		}
	}
	return list
}

// sums hashes the lines about each top-level directory, and all else.
func (p *prover[D]) sums() map[string]uint64 {
	about := map[string]uint64{}
	p.rest = hashOf(fmt.Sprintf("%q %q %q", p.in.Own, p.in.Programs, p.in.Shut))
	for _, l := range p.lines {
		switch {
		case l.top == "":
			p.rest = mix(p.rest, hashOf(l.text))
			continue
		case l.first:
			p.rest = mix(p.rest, uint64(l.text[0]))
		}
		about[l.top] = mix(about[l.top], p.rest, hashOf(l.text)) // and where it stands
	}
	return about
}

// topOf returns the field of a line, and the top-level directory that it is about.
func topOf(line string) (field, top string) {
	field, value, ok := strings.Cut(line, ": ")
	if !ok || field != "Disallow" && field != "Allow" && (field != "Content-Usage" || value[0] != '/') || strings.ContainsAny(value, "#\r") {
		return "", ""
	}
	name, _, deeper := strings.Cut(strings.TrimPrefix(value, "/"), "/")
	if !deeper || len(name) < 2 || !robots.Plain(name) { // one letter may be an item type
		return "", ""
	}
	return field, name
}

// isApart reports whether lines about a top-level directory are told by its name.
func isApart(name string) bool {
	_, top := topOf("Allow: /" + name + "/")
	return top == name
}

// without returns the file without the lines about directories that are as they were,
// but for the first: to some readers a group without lines is another.
func (p *prover[D]) without() []byte {
	if len(p.same) == 0 {
		return p.in.File
	}
	var b []byte
	for _, l := range p.lines {
		if l.first || p.same[l.top] == nil {
			b = append(b, l.text...)
		}
	}
	return b
}

// asked returns the annotations that do not lie in directories that are as they were.
func (p *prover[D]) asked() []*annotation {
	return slices.DeleteFunc(slices.Clone(p.notes), func(a *annotation) bool {
		top, _, _ := strings.Cut(a.dir[1:], "/")
		return p.same[top] != nil
	})
}

// read finds out which robots are treated alike. If those are not the same as before,
// nothing is taken over.
func (p *prover[D]) read(prev string) (*robots.Reading, []*class) {
	for {
		reading := robots.NewReading(p.without())
		list := classes(p.notes, reading)
		p.classes = ""
		for _, c := range list {
			p.classes += strings.Join(c.names, ",") + "\n"
		}
		if p.classes == prev || len(p.same) == 0 {
			return reading, list
		}
		for kid, was := range p.parts {
			p.parts[kid] = &part{lines: was.lines}
		}
		p.same = nil
	}
}

// top proves what is in and below a directory in the root, if it is not as it was.
func (p *prover[D]) top(d D, n *node[D], at *place, sel string, depth int, _ *tally) (rules, lines span) {
	if p.same[n.name] == nil {
		return p.dir(d, n, at, sel, depth, p.parts[n].tallies[p.number])
	}
	c := p.class
	return c.policy.below(at.at[0], []byte(sel)), c.file.below(at.at[c.uri], c.lanes[c.uri].subject(nil, sel, false))
}

// tallyOf returns the tally for a name that is asked for at some place: nil if it lies
// in a directory that is as it was, and was asked for.
func (p *prover[D]) tallyOf(at *place, sel string, t *tally) *tally {
	if at.dir != "/" {
		return t
	}
	top, _, _ := strings.Cut(sel[1:], "/")
	if p.same[top] != nil {
		return nil
	}
	if part := p.parts[p.root.kid(top)]; part != nil {
		return part.tallies[p.number]
	}
	return t
}

// newParts makes the tallies of a class.
func (p *prover[D]) newParts() {
	for kid, part := range p.parts {
		if p.same[kid.name] == nil {
			part.tallies = append(part.tallies, &tally{})
		}
	}
}

// addParts adds what was found in all top-level directories.
func (p *prover[D]) addParts(t *tally) {
	for _, kid := range p.root.kids {
		t.merge(p.parts[kid].tallies[p.number])
	}
}
