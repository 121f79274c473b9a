package policy

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
)

// Row is what the proof says of one reader.
type Row struct {
	Name       string `json:"name"`
	Selectors  int    `json:"selectors"`   // asked, for all robots together
	Leaks      int    `json:"leaks"`       // denied, but taken as allowed
	OverBlocks int    `json:"over_blocks"` // allowed, but taken as denied
}

// Matrix is the result of the proof, a row for each reader.
type Matrix []Row

// Leak is a denied selector that a reader takes as allowed.
type Leak struct {
	Reader   string `json:"reader"`
	Agent    string `json:"agent"` // the robot; "*" for those nobody names
	Selector string `json:"selector"`
}

// String returns the leak as a sentence.
func (l Leak) String() string {
	return fmt.Sprintf("%s lets robot %s into %q", l.Reader, l.Agent, l.Selector)
}

// place is a line of an annotation.
type place struct {
	file string
	line int
}

// maxRounds is how often a file is written again without the directories whose
// rules leak, before all is denied.
const maxRounds = 3

// prove checks the file against the annotations, and reports what it finds. A leak that
// nothing explains denies the directory of the rule that leaks; done reports whether
// there is none left.
func (w *work) prove(last *proof.Result[*Dir], round int) (list []Report, done bool) {
	c := w.c
	c.proof, c.leaks, done = proof.Check(c.proofInput(c.file), last), nil, true
	var tooMuch []Report
	for _, f := range c.proof.Findings {
		switch {
		case w.hand:
			list = append(list, handWritten(f))
		case !f.Leak:
			tooMuch = append(tooMuch, w.overBlocks(f)...)
		default:
			why := w.explain(f)
			list, done = append(list, why...), (why != nil || w.cure(f, round)) && done
		}
	}
	return append(list, strictAlone(tooMuch)...), done
}

// cure denies the directory of the rule that leaks. It reports whether that is denied
// already, so that nothing is left to do.
func (w *work) cure(f proof.Finding, round int) (hopeless bool) {
	n := w.c.nodes.find(f.Dir)
	if n == nil || round >= maxRounds {
		n = w.c.nodes
	}
	if w.denied[n] != nil {
		w.c.leaks = append(w.c.leaks, leaksOf(f)...)
		return true
	}
	w.deny(n, CodeUnnamedLeak, fmt.Sprintf("%v (line %d)", leaksOf(f)[0], f.Line))
	return false
}

func handWritten(f proof.Finding) Report {
	r := NewReport(CodeHandWritten, robotsFile, 0, "served as it was written: not every reader takes it as it is meant")
	if r.Readers = []string{f.Reader}; f.Leak {
		r.Leaks = f.Examples
	} else {
		r.Victims = f.Examples
	}
	return r
}

func (c *Compiled) proofInput(file []byte) proof.Input[*Dir] {
	return proof.Input[*Dir]{Root: c.in.Root, Name: (*Dir).name, Look: look, Programs: c.in.Programs, Own: c.in.Own, Shut: c.shut, File: file, Closed: c.closes}
}

// look shows the proof what is in a directory.
func look(d *Dir) (files []string, dirs []*Dir, notes []proof.Note) {
	for _, a := range d.Notes {
		notes = append(notes, proof.Note{File: a.File, Data: a.Data, Err: a.Err})
	}
	return d.Files, d.Dirs, notes
}

func leaksOf(f proof.Finding) []Leak {
	var list []Leak
	for _, sel := range f.Examples {
		list = append(list, Leak{f.Reader, f.Robot, sel})
	}
	return list
}

// overBlocks reports what is allowed, but taken as denied, each at the line that is
// the cause: the Allow that should hold, or, where no rule says so, what the reader
// takes for a Disallow.
func (w *work) overBlocks(f proof.Finding) []Report {
	var list []Report
	for _, sel := range f.Examples {
		if f.Reader == asGopher[1] && w.slash(sel) {
			continue
		}
		file, line, message := f.File, f.Line, "not every reader can be told what it allows"
		if file == "" {
			d := w.everyDenial()
			if s := w.c.Source(cmp.Or(d.Decide(veronica, sel).Rule.Line, d.Decide(veronica, sel+"/").Rule.Line)); s != nil {
				file, line = s.File, s.Line
			}
			message = "some readers take it to deny more"
		}
		r := NewReport(CodeOverBlock, file, line, message)
		r.Selector, r.Readers, r.Victims = sel, []string{f.Reader}, []string{sel}
		list = append(list, r)
	}
	return list
}

// slash reports whether a selector would be denied with a slash at its end, as a
// directory: to Veronica-2 "/d" and "/d/" are one.
func (w *work) slash(sel string) bool {
	rules := w.c.readers[0] // of "*"; what is written for Veronica says less
	return w.c.veronica == nil && !rules.Allowed(escape("/"+strings.Trim(sel, "/")+"/"))
}

// strict is the reader that every Disallow line of the file binds.
const strict = "gopher-strict"

// strictAlone returns over-blocks of which no other reader is told at the line a code
// of their own: nothing can be done about them.
func strictAlone(list []Report) []Report {
	others := map[place]bool{}
	for _, r := range list {
		others[place{r.File, r.Line}] = others[place{r.File, r.Line}] || r.Readers[0] != strict
	}
	for i, r := range list {
		if r.Code == CodeOverBlock && !others[place{r.File, r.Line}] {
			list[i] = NewReport(CodeOverBlockStrict, r.File, r.Line, "strict Gopher readers take every Disallow of the file")
			list[i].Selector, list[i].Readers, list[i].Victims = r.Selector, r.Readers, r.Victims
		}
	}
	return list
}

// everyDenial reads every Disallow of the file, once.
func (w *work) everyDenial() *robots.File {
	if w.strict == nil {
		w.strict = robots.Parse(robots.GopherStrict, w.c.file)
	}
	return w.strict
}

// Prove checks another robots.txt, such as one that a server has, against the
// policy. It gives the matrix, and leaks: no report names any.
func (c *Compiled) Prove(file []byte) (Matrix, []Leak) {
	other := *c
	other.file = file
	other.read()
	in := other.proofInput(file)
	result := proof.Check(in, nil)
	var leaks []Leak
	for _, f := range result.Findings {
		if f.Leak {
			leaks = append(leaks, leaksOf(f)...)
		}
	}
	return matrix(result), leaks
}

func matrix(result *proof.Result[*Dir]) Matrix {
	var m Matrix
	for _, r := range result.Rows {
		m = append(m, Row{r.Reader, r.Selectors, r.Leaks, r.OverBlocks})
	}
	return m
}

// Proof returns the matrix: for each reader, what it makes of the file.
func (c *Compiled) Proof() Matrix { return matrix(c.proof) }

// Unproven lists the leaks that no report names and that could not be helped by
// denying directories. A file that has any must not be served.
func (c *Compiled) Unproven() []Leak { return c.leaks }
