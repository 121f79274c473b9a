// Package proof holds a robots.txt against the annotations that it was made of.
//
// It reads the bytes of the annotations itself, works out what the policy is, and
// asks models of all known readers ([robots.Models]) what they make of the file:
// for every selector that the server answers, in every spelling, and for names
// that do not exist yet. It shares nothing with what wrote the file but the
// package robots, so that a fault there is found here.
//
//	annotations ─ readNotes ─ rules ──── policy ─┐
//	                                             ├─ walk ─ findings
//	robots.txt ── robots.Reading ─────── file ───┘
//
// Both sides are sets of patterns (pattern.go). The walk goes down the tree once for
// each class of robots that are treated alike, and carries with it what of each
// set is still in question. It does not go where the answer is the same for all
// below, nor where it has been before: by another class, or for an earlier file,
// with the same annotations and the same lines that reach the place.
package proof

// Note is an annotation as it lies on the disk.
type Note struct {
	File string // as reports name it: "phlog/.robots"
	Data []byte // must not be changed
	Err  error  // it cannot be read: its directory is denied
}

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

// Row is what one reader makes of the file.
type Row struct {
	Reader     string
	Selectors  int // asked, for all robots together
	Leaks      int // denied, but taken as allowed
	OverBlocks int // allowed, but taken as denied
}

// Finding is where a reader does not take the file as the annotations say.
type Finding struct {
	Leak     bool     // denied, but taken as allowed; else the reverse
	Reader   string   // a name of [robots.Models], or [Preferences]
	Robot    string   // "*" for all robots that nobody names; of several treated alike, the first name
	File     string   // of the rule that decides; "" if none does
	Line     int      // in it; 0: the annotation as a whole
	Dir      string   // the canonical selector of the annotation's directory; "" if there is none
	Count    int      // selectors
	Examples []string // up to ten of them, as they are asked; those that exist first
}

// Preferences is the name of the row and the findings about Content-Usage. A
// leak is a path of which the file states a preference that is more permissive
// than the annotations, an over-block one of which it states another.
const Preferences = "preferences"

// Result is what a proof has found. It never changes.
type Result[D comparable] struct {
	Rows     []Row     // one for each of [robots.Models], then [Preferences]
	Findings []Finding // leaks first, then by file, line, reader and robot

	root *node[D]
	age  int // how many results came before
}

// Check holds in.File against the annotations. What prev has found is taken over
// where neither the tree nor what reaches it has changed; the findings are the
// same without it. No other Check may use prev at the same time.
func Check[D comparable](in Input[D], prev *Result[D]) *Result[D] {
	if prev == nil {
		prev = &Result[D]{}
	}
	p := &prover[D]{in: in, age: prev.age + 1}
	sum := newSummary()
	p.each(prev.root, sum.add)
	sum.sort()
	return &Result[D]{Rows: sum.rows, Findings: sum.findings, root: p.root, age: p.age}
}

// each proves the file for every class of robots, and tells what was found.
func (p *prover[D]) each(prev *node[D], found func(*class, *tally)) {
	p.root = p.count(p.in.Root, "/", prev)
	p.compare()
	reading, list := p.read()
	notes := p.notes(false)
	var strict *set
	if len(list) > 1 {
		strict = fileSet(reading, "*", 1<<strictModel)
	}
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
