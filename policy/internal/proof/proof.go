// Package proof compares a robots.txt with the annotations that it was made of.
//
// It reads the bytes of the annotations itself, works out what the policy is, and
// asks models of all known readers ([readers.All]) what they make of the file:
// for every selector that the server answers, in every spelling, and for names
// that do not exist yet. It shares nothing with what wrote the file but the
// package robots, so that a fault there is found here.
//
//	annotations ─ readNotes ─ rules ──── policy ─┐
//	                                             ├─ walk ─ findings
//	robots.txt ── readers.Parsed ───────── file ───┘
//
// Both sides are sets of patterns (pattern.go). The walk goes down the tree once for
// each class of robots that are treated alike, and carries with it what of each
// set is still in question. It does not go where the answer is the same for all
// below, nor where it has been before: by another class, or for an earlier file,
// with the same annotations and the same lines that reach the place.
package proof

// Result is what a proof has found. It never changes.
type Result[D comparable] struct {
	Rows     []Row     // one for each of [readers.All], then [Preferences]
	Findings []Finding // leaks first, then by file, line, reader and robot

	root *node[D]
}

// Check compares in.File with the annotations. What prev has found is taken over
// where neither the tree nor what reaches it has changed; the findings are the
// same without it. No other Check may use prev at the same time.
func Check[D comparable](in Input[D], prev *Result[D]) *Result[D] {
	if prev == nil {
		prev = &Result[D]{}
	}
	p, r := &prover[D]{in: in}, &Result[D]{}
	for _, m := range models {
		r.Rows = append(r.Rows, Row{Reader: m.Name})
	}
	r.Rows = append(r.Rows, Row{Reader: Preferences})
	ofAll := map[string]bool{} // what was found for all robots
	p.each(prev.root, func(c *class, t *tally) { r.add(c, t, ofAll) })
	r.sort()
	r.root = p.root
	return r
}

// each proves the file for every class of robots, and tells what was found.
func (p *prover[D]) each(prev *node[D], found func(*class, *tally)) {
	p.root = p.count(p.in.Root, "", "", prev)
	p.compare()
	reading, list := p.read()
	notes := p.notes(false)
	var strict *set
	if len(list) > 1 {
		strict = fileSet(reading, "*", 1<<strictModel)
	}
	p.most = 2 * len(list)
	for i, c := range list {
		c.take(notes, reading, p.in.Programs)
		c.read(reading, strict)
		p.number, p.class = i, c
		t := &tally{}
		p.start(t)
		found(c, t)
	}
	for _, kid := range p.tops {
		kid.part.classes = p.classes
	}
}
