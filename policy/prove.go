package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
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

// prove holds the file against the annotations. Leaks that no report names deny
// the directory of the rule that leaks; it reports whether there are none left.
func (w *work) prove(last *proof.Result[*Dir]) bool {
	c := w.c
	c.proof, c.leaks = proof.Check(c.proofInput(c.file), last), nil
	foreseen := map[place][]string{}
	isNamed := slices.ContainsFunc(w.groups, func(g *group) bool { return g.token() == veronica })
	for _, g := range w.groups {
		g.foresee(isNamed)
		for _, r := range g.reports {
			at := place{r.File, r.Line}
			foreseen[at] = append(foreseen[at], r.Readers...)
		}
	}
	done := true
	for _, f := range c.proof.Findings {
		if !f.Leak || w.hand || slices.Contains(foreseen[w.placeOf(f)], f.Reader) || w.byAllow(f) || w.byName(f) {
			continue
		}
		n := c.nodes.find(f.Dir)
		if n == nil || w.round >= maxRounds {
			n = c.nodes
		}
		if w.denied[n] != nil {
			c.leaks = append(c.leaks, leaksOf(f)...)
			continue
		}
		w.deny(n, CodeUnnamedLeak, fmt.Sprintf("%v (line %d)", leaksOf(f)[0], f.Line))
		done = false
	}
	return done
}

// placeOf returns the line that reports name for the rule of a finding: of robots that
// are treated alike the one that is told the first of them.
func (w *work) placeOf(f proof.Finding) place {
	at := place{f.File, f.Line}
	token := f.Robot
	for _, g := range w.groups {
		if len(g.names) > 1 && slices.ContainsFunc(g.names, func(name string) bool { return strings.EqualFold(name, f.Robot) }) {
			token = g.token()
		}
	}
	n := w.c.nodes.find(f.Dir)
	if token == f.Robot || n == nil || n.note == nil {
		return at
	}
	his, _, _ := n.note.setsFor(f.Robot)
	first, _, _ := n.note.setsFor(token)
	if his == nil || first == nil {
		return at
	}
	for _, r := range his.rules {
		for _, other := range first.rules {
			if (place{r.file, r.line}) == at && other.uri == r.uri && other.allow == r.allow {
				return place{other.file, other.line}
			}
		}
	}
	return at
}

func (c *Compiled) proofInput(file []byte) proof.Input[*Dir] {
	return proof.Input[*Dir]{Root: c.in.Root, Look: look, Programs: c.in.Programs, Own: c.in.Own, Shut: c.shut, File: file, Closed: c.closes}
}

// look shows the proof a directory.
func look(d *Dir) (name string, files []string, dirs []*Dir, notes []proof.Note) {
	for _, a := range d.Notes {
		notes = append(notes, proof.Note{File: a.File, Data: a.Data, Err: a.Err})
	}
	return d.Name, d.Files, d.Dirs, notes
}

// selectorOf is the canonical selector of a node's directory.
func selectorOf(n *node) string { return n.at.raw + "/" }

// find returns the node of a canonical selector.
func (n *node) find(sel string) *node {
	for sel = strings.Trim(sel, "/"); sel != "" && n != nil; {
		var name string
		name, sel, _ = strings.Cut(sel, "/")
		n = n.sub(name)
	}
	return n
}

func leaksOf(f proof.Finding) []Leak {
	var list []Leak
	for _, sel := range f.Examples {
		list = append(list, Leak{f.Reader, f.Robot, sel})
	}
	return list
}

// byName reports whether all that leaks are names that hold syntax, to a reader
// that does not escape them as it should: to readers that take selectors as they
// are "a:b" is a URL, "a?b" a query, and "%41" an A.
func (w *work) byName(f proof.Finding) bool {
	isPlain := func(sel string) bool { return strings.Trim(sel, plainName) == "" }
	if slices.Contains(asGopher, f.Reader) { // to them these alone are syntax
		isPlain = func(sel string) bool { return !strings.ContainsAny(sel, "*#$") }
	} else if !slices.Contains(slices.Concat(withoutStar, asRaw), f.Reader) {
		return false
	}
	if slices.ContainsFunc(f.Examples, isPlain) {
		return false
	}
	r := NewReport(CodeName, f.File, f.Line, "readers that do not escape names do not understand all that it denies")
	r.Severity = diag.Notice
	r.Readers, r.Leaks = []string{f.Reader}, f.Examples
	w.said = append(w.said, r)
	return true
}

const plainName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"

// byAllow reports whether all that leaks is what an Allow says to a reader, and
// not to others: Google takes one of an index.html for its directory, too, and
// readers that take selectors as they are one of a name for that which is spelt
// as its escapes.
func (w *work) byAllow(f proof.Finding) bool {
	var list []Report
	for _, sel := range f.Examples {
		r, ok := w.opener(f, sel)
		if !ok {
			return false
		}
		r.Readers, r.Leaks = []string{f.Reader}, []string{sel}
		list = append(list, r)
	}
	w.said = append(w.said, list...)
	return true
}

// opener finds the Allow that lets a reader into a selector.
func (w *work) opener(f proof.Finding, sel string) (Report, bool) {
	sel = "/" + strings.TrimPrefix(sel, "/")
	spelt, _ := unescape(sel)
	for _, g := range w.groups {
		for _, e := range g.entries {
			if !e.allow || e.dropped {
				continue
			}
			if spelt != sel && matches(e.uri, escape(spelt)) && slices.Contains(slices.Concat(withoutStar, asRaw), f.Reader) {
				return NewReport(CodeEscaped, e.file, e.line, "it opens a name that is spelt with the escapes, too"), true
			}
			if f.Reader == "first-match" && opensFirst(e, sel) {
				return NewReport(CodeEscaped, e.file, e.line, "CPython's reader goes by the first rule that matches, and drops a blank, # ? or ; at an end, though they are escaped"), true
			}
			if dir, ok := indexOf(e); ok && strings.HasPrefix(f.Reader, "google") && matches(dir+"$", strings.TrimSuffix(escape(sel), "/")+"/") {
				return NewReport(CodeIndex, e.file, e.line, "Google takes it for the directory, too"), true
			}
		}
	}
	return Report{}, false
}

// opensFirst reports whether an Allow matches a selector as CPython's reader takes
// it, which goes by the first rule that matches and drops a blank at the beginning
// and # ? ; with nothing behind.
func opensFirst(e entry, sel string) bool {
	i := slices.IndexFunc(robots.Models(), robots.Model.First)
	m := robots.Models()[i]
	form := string(robots.Quoted.Append(nil, sel))
	return slices.ContainsFunc([]string{e.uri, e.raw, e.uri[1:]}, func(text string) bool {
		return strings.HasPrefix(strings.TrimPrefix(form, "/"), strings.TrimPrefix(m.Patterns(robots.Rule{Pattern: text, Allow: true})[0].Pieces[0], "/"))
	})
}

// indexOf returns the directory that an Allow of its index.html opens to Google: of
// everything behind the last slash that begins so.
func indexOf(e entry) (dir string, ok bool) {
	dir = e.uri[:strings.LastIndexByte(e.uri, '/')+1]
	return dir, strings.HasPrefix(e.uri[len(dir):], "index.htm")
}

// found makes reports of what the proof has found: whom readers let in is said
// by the reports that foresaw it, what they deny too much by new ones.
func (w *work) found() []Report {
	var list []Report
	for _, f := range w.c.proof.Findings {
		switch {
		case w.hand:
			r := NewReport(CodeHandWritten, robotsFile, 0, "served as it was written: not every reader takes it as it is meant")
			r.Readers = []string{f.Reader}
			if r.Victims = f.Examples; f.Leak {
				r.Victims, r.Leaks = []string{}, f.Examples
			}
			list = append(list, r)
		case f.Leak:
			w.leaked(f)
		default:
			list = append(list, w.overBlocks(f)...)
		}
	}
	return strictAlone(list)
}

// leaked adds examples to the report that foresaw a leak.
func (w *work) leaked(f proof.Finding) {
	for _, g := range w.groups {
		for i := range g.reports {
			if r := &g.reports[i]; (place{r.File, r.Line}) == w.placeOf(f) && slices.Contains(r.Readers, f.Reader) {
				r.Leaks = union(r.Leaks, f.Examples)
				return
			}
		}
	}
}

// overBlocks reports what is allowed, but taken as denied, each at the line that is
// the cause.
func (w *work) overBlocks(f proof.Finding) []Report {
	var list []Report
	for _, sel := range f.Examples {
		if f.Reader == asGopher[1] && w.slash(sel) {
			continue
		}
		at := w.cause(f, sel)
		r := NewReport(CodeOverBlock, at.file, at.line, "not every reader can be told what it allows")
		r.Selector, r.Readers, r.Victims = sel, []string{f.Reader}, []string{sel}
		list = append(list, r)
	}
	return list
}

// slash reports whether a selector would be denied with a slash at its end, as a
// directory: to Veronica-2 "/d" and "/d/" are one.
func (w *work) slash(sel string) bool {
	rules := w.c.readers[0] // of "*"; what is written for Veronica says less
	return len(w.c.noAllow) == 0 && !rules.Allowed(escape("/"+strings.Trim(sel, "/")+"/"))
}

// strict is the reader that every Disallow line of the file binds.
const strict = "gopher-strict"

// strictAlone returns over-blocks of which no other reader is told at the line a code
// of their own: they are so by nature.
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

// cause is the line of an annotation that the over-block of a selector is about: the
// Allow that should hold, or, where no rule says so, what the reader takes for a
// Disallow.
func (w *work) cause(f proof.Finding, sel string) place {
	at := place{f.File, f.Line}
	for _, d := range []robots.Dialect{robots.GopherStrict, robots.Veronica2} {
		if at.file == "" {
			at.file, at.line = w.c.Source(w.readAs(d).Decide(veronica, sel).Rule.Line)
		}
	}
	return at
}

// readAs reads the file in a dialect, once.
func (w *work) readAs(d robots.Dialect) *robots.File {
	if w.read == nil {
		w.read = map[robots.Dialect]*robots.File{}
	}
	if w.read[d] == nil {
		w.read[d] = robots.Parse(d, w.c.file)
	}
	return w.read[d]
}

// Prove holds another robots.txt, such as one that a server has, against the
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
