package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// Row is the result of the proof for one reader.
type Row struct {
	Name       string `json:"name"`
	Selectors  int    `json:"selectors"`   // asked, for all robots together
	Leaks      int    `json:"leaks"`       // denied, but taken as allowed
	OverBlocks int    `json:"over_blocks"` // allowed, but taken as denied
}

// Matrix is the result of the proof, with one row per reader.
type Matrix []Row

// Leak is a denied selector that a reader takes as allowed.
type Leak struct {
	Reader   string `json:"reader"`
	Agent    string `json:"agent"` // the robot; "*" for those that no annotation names
	Selector string `json:"selector"`
}

// String returns the leak as a sentence.
func (l Leak) String() string {
	return fmt.Sprintf("%s lets robot %s into %q", l.Reader, l.Agent, l.Selector)
}

// maxRounds is how often a file is written again without the directories whose rules
// leak. After that, the whole site is denied.
const maxRounds = 3

// prove checks the file against the annotations, and reports its findings. It denies
// the directory of each rule with an unexplained leak. done is true if it denied
// nothing.
func (w *work) prove(last *proof.Result, round int) (done bool) {
	w.proof, w.leaks, w.found, done = proof.Check(w.proofInput(w.file, &w.verdicts), last), nil, nil, true
	for _, n := range w.notes {
		top := topOf(n.sel)
		if slices.Contains(w.proof.TooMany, cmp.Or(strings.TrimSuffix(top, "/"), "/")) && w.denied[top] == nil {
			w.deny(top, CodeTooLarge, fmt.Sprintf("more than %d pairs of its patterns may match the same name", proof.MaxPairs))
			done = false
		}
	}
	for _, f := range w.proof.Findings {
		switch {
		case !f.Leak:
			if r, ok := w.overBlock(f); ok && w.hand() {
				w.found = append(w.found, handWritten(r.File, r.Line, f.Reader, r.Victims, r.Leaks))
			} else if ok {
				w.found = append(w.found, r)
			}
		case w.hand():
			w.found = append(w.found, handWritten(f.File, f.Line, f.Reader, []string{}, f.Examples))
		case f.Reader == proof.Preferences && f.Robot == veronica: // she reads Disallow alone
		case strings.Contains(f.Robot, noRobot) && w.named[noRobot] == nil: // there is none
		default:
			for _, sel := range f.Examples {
				one := f
				one.Examples = []string{sel}
				if r, named := w.explain(one); named {
					w.found = append(w.found, r)
				} else {
					done = w.cure(one, round) && done
					break
				}
			}
		}
	}
	return done
}

func (c *Compiled) proofInput(file []byte, v *verdicts) proof.Input {
	in := proof.Input{Programs: c.programs, Shut: c.shut, File: file, Readers: c.readers, Closed: v.isClosed}
	in.Notes = make([]proof.Note, 0, len(c.notes))
	for _, n := range c.notes {
		for _, a := range n.from {
			in.Notes = append(in.Notes, proof.Note{Dir: a.Dir, File: a.File, Data: a.Data, Err: a.Err})
		}
	}
	return in
}

// Prove checks another robots.txt, such as a server's own, against the policy. It
// returns the matrix and all leaks, including expected ones.
func (c *Compiled) Prove(file []byte) (Matrix, []Leak) {
	v := c.judge(file)
	result := proof.Check(c.proofInput(file, &v), nil)
	var leaks []Leak
	for _, f := range result.Findings {
		if f.Leak {
			leaks = append(leaks, leaksOf(f)...)
		}
	}
	return matrix(result), leaks
}

func matrix(result *proof.Result) Matrix {
	var m Matrix
	for _, r := range result.Rows {
		m = append(m, Row{r.Reader, r.Selectors, r.Leaks, r.OverBlocks})
	}
	return m
}

// Proof returns the matrix of the compiled file.
func (c *Compiled) Proof() Matrix { return matrix(c.proof) }

// Unproven lists the leaks that no report names and that denying directories did not
// cure. A file with such leaks must not be served.
func (c *Compiled) Unproven() []Leak { return c.leaks }

// A leak is expected if no robots.txt could express the rule to that reader. Any other
// leak is a bug in the compiler.

// expected reports the rules that need an ability some reader lacks.
func (w *work) expected() (list []Report) {
	for _, c := range w.all {
		stars := slices.ContainsFunc(c.rules, func(r *rule) bool { return r.allow && strings.Contains(r.uri, "*") })
		for _, r := range c.rules {
			plain := readers.Plain(r.uri) && isLiteral(r.uri) // every reader knows such a pattern
			if !r.allow && !plain {
				list = append(list, w.lacking(c, r)...)
			}
			if !r.allow && (stars || !plain) {
				list = append(list, w.outmatched(c, r)...)
			}
		}
	}
	return list
}

// lacking reports a Disallow that needs an ability some reader lacks.
func (w *work) lacking(c *composition, r *rule) (list []Report) {
	var last *Report
	for i := range w.readers {
		rd := &w.readers[i]
		code := w.lacks(c, r, rd)
		if code == "" || !w.reads(rd, c) {
			continue
		}
		if last == nil || last.Code != code {
			list = append(list, r.report(code))
			last = &list[len(list)-1]
		}
		last.Readers = append(last.Readers, rd.Name)
	}
	return list
}

// outmatched reports a Disallow if an Allow may match as many bytes of a name.
func (w *work) outmatched(c *composition, r *rule) []Report {
	a := c.matchedAsMuch(r)
	if a == nil {
		return nil
	}
	report := r.report(CodeMatchedLength)
	report.Message = fmt.Sprintf("%s:%d may match as much of a name", a.file, a.line)
	for _, rd := range w.readers {
		if rd.Lacks(readers.NeedsPatterns) != 0 && w.reads(&rd, c) {
			report.Readers = append(report.Readers, rd.Name)
		}
	}
	if len(report.Readers) == 0 {
		return nil
	}
	return []Report{report}
}

// reads reports whether robots of a class may use this reader.
func (w *work) reads(rd *readers.Reader, c *composition) bool {
	if rd.Agent == "" {
		return true
	}
	own := w.named[rd.Agent]
	return own == c || own == nil && c == w.all[0]
}

// report makes the report of a rule that a reader does not understand.
func (r *rule) report(code string) Report {
	report := NewReport(code, r.file, r.line, codeText[code])
	if report.Selector = r.uri; r.file == "" { // no author wrote it
		report.Severity, report.Hint = diag.Notice, ""
		report.Message += ": " + r.value + " is what programs answer"
	} else if code == CodeName && !r.odd && asksInStar(r.uri) { // few names have a ? and an =
		report.Severity = diag.Notice
	}
	return report
}

// lacks returns the code of an ability that a Disallow needs and a reader lacks, or "".
func (w *work) lacks(c *composition, r *rule, rd *readers.Reader) (code string) {
	needs := readers.NeedsOf(r.uri, false)
	unescaped := rd.Lacks(readers.NeedsEscapes) != 0
	switch {
	case r.isWeak() && w.seesWeak(c, rd):
		text, ok := r.weakText()
		if !ok && isAnchored(r.uri) && !r.odd {
			return CodeAnchor
		} else if !ok {
			return CodeName
		}
		needs = readers.NeedsOf(text, false)
	case unescaped && r.odd:
		return CodeName
	}
	switch lacks := rd.Lacks(needs); {
	case lacks&readers.NeedsStar != 0, rd.Allow && !rd.Star && rd.Choice != readers.FirstMatch && strings.HasSuffix(r.uri, "*"):
		return CodeGlob
	case lacks&readers.NeedsDollar != 0:
		return CodeAnchor
	case unescaped && beginsInEscape(r.uri):
		return CodeDigits
	case rd.Escapes == readers.Requote && asksInStar(r.uri):
		return CodeName
	}
	return ""
}

// asksInStar reports whether a * may stand for a ? before an = or &, which CPython writes
// otherwise there.
func asksInStar(uri string) bool {
	_, rest, glob := strings.Cut(uri, "*")
	return glob && strings.ContainsAny(rest, "=&")
}

// seesWeak reports whether a reader sees the weak lines of a class.
func (w *work) seesWeak(c *composition, rd *readers.Reader) bool {
	hers := rd.Agent == veronica
	return (!rd.Groups || hers) && c.token == veronica || c == w.all[0] && (!rd.Groups || hers && w.named[veronica] == nil && !w.cut.weak)
}

// beginsInEscape reports whether a piece behind a wildcard begins with a hexadecimal
// digit, which may be part of an escape.
func beginsInEscape(uri string) bool {
	_, rest, glob := strings.Cut(uri, "*")
	for piece := range strings.SplitSeq(rest, "*") {
		if glob && piece != "" && strings.IndexByte("0123456789ABCDEF", piece[0]) >= 0 {
			return true
		}
	}
	return false
}

// explain reports a leak with one example if the rule, the reader or the name causes
// it; otherwise named is false.
func (w *work) explain(f proof.Finding) (r Report, named bool) {
	at := place{f.File, f.Line}
	i := slices.IndexFunc(w.readers, func(rd readers.Reader) bool { return rd.Name == f.Reader })
	if i < 0 {
		return Report{}, false
	}
	code, kinds := "", strings.Split(strings.ToLower(f.Robot), "+")
	for _, robot := range kinds {
		c := w.named[robot]
		part := c == nil
		if part {
			c = w.all[0]
		}
		code = cmp.Or(code, w.cannot(c, &w.readers[i], at, f.Examples))
		for _, other := range kinds {
			if o := w.named[other]; o != nil && code == "" && w.readers[i].Lacks(readers.NeedsPatterns) != 0 &&
				slices.ContainsFunc(w.rulesAt(c, at), func(r *rule) bool { return o.matchedAsMuch(r) != nil }) {
				code = CodeMatchedLength
			}
		}
		if rd := &w.readers[i]; code == "" && rd.Lacks(readers.NeedsNames) != 0 && (part || !rd.First) && w.hasPart(robot) {
			code = CodePartName
		}
		if code != "" {
			continue
		}
		if a := c.wider(&w.readers[i], f.Examples); a != nil {
			if code, at = CodeName, (place{a.file, a.line}); w.readers[i].Index && strings.Contains(a.uri, "/index.htm") {
				code = CodeIndex
			}
		}
	}
	if code == "" && takesOthers(&w.readers[i], len(kinds) > 1) {
		code = CodeReader
	}
	r = NewReport(code, at.file, at.line, codeText[code])
	r.Readers, r.Leaks = []string{f.Reader}, f.Examples
	if at.file == "" { // no author wrote it
		r.Severity, r.Hint, r.Message = diag.Notice, "", r.Message+", in what programs answer"
	}
	if code == CodeName {
		r.Severity = diag.Notice
	}
	return r, code != ""
}

// takesOthers reports whether a reader may obey an Allow in place of the rule that
// decides: one of another group, or one that stands before it. No row of the table does:
// without wildcards, lines of a group stand in the right order for all readers.
func takesOthers(rd *readers.Reader, severalGroups bool) bool {
	anyOrder := !severalGroups && !rd.Star && !rd.EndStar && !rd.Dollar
	return rd.Allow && (rd.Lacks(readers.NeedsGroups) != 0 || rd.Lacks(readers.NeedsOrder) != 0 && !anyOrder)
}

// cannot returns the code of the reader's limit that makes a line leak, or "".
func (w *work) cannot(c *composition, rd *readers.Reader, at place, sels []string) (code string) {
	for _, r := range w.rulesAt(c, at) {
		switch {
		case code != "":
		case w.lacks(c, r, rd) != "":
			code = w.lacks(c, r, rd)
		case rd.Lacks(readers.NeedsPatterns) != 0 && c.matchedAsMuch(r) != nil:
			code = CodeMatchedLength
		case rd.Lacks(readers.NeedsSlash) != 0 && matches(r.uri, "/") && slices.Contains(sels, ""):
			code = CodeRootMenu
		}
	}
	if code == "" && rd.Lacks(readers.NeedsEscapes) != 0 && !slices.ContainsFunc(sels, readers.Plain) {
		code = CodeName
	}
	return code
}

// wider returns an Allow that matches all the selectors as the reader takes it, but
// none of them by the policy.
func (c *composition) wider(rd *readers.Reader, sels []string) *rule {
	matchedBy := func(a *rule, sel string) bool {
		for _, text := range []string{a.uri, a.raw, a.uri[1:], a.raw[1:]} {
			for _, p := range rd.Patterns(robots.Rule{Allow: true, Pattern: text}) {
				if slices.ContainsFunc(rd.Forms, func(f readers.Form) bool { return p.Match(f.Of(rd.Asks(sel))) }) {
					return true
				}
			}
		}
		return false
	}
	for _, a := range c.rules {
		if a.allow && !slices.ContainsFunc(sels, func(sel string) bool { return matches(a.uri, escape(sel)) || !matchedBy(a, sel) }) {
			return a
		}
	}
	return nil
}

// hasPart reports whether a robot's name contains the name of another.
func (w *work) hasPart(robot string) (found bool) {
	parts(robot, w.named, func(string) { found = true })
	return found || strings.Contains(robot, veronica) || strings.Contains(robot, noRobot)
}

// rulesAt returns the Disallows of a line that count for a class. If an equal group's
// rules replace them there, it returns the annotation's own rule.
func (w *work) rulesAt(c *composition, at place) []*rule {
	if c.denies == nil {
		c.denies = map[place][]*rule{}
		for _, r := range c.rules {
			if at := (place{r.file, r.line}); !r.allow {
				c.denies[at] = append(c.denies[at], r)
			}
		}
	}
	if list := c.denies[at]; len(list) > 0 {
		return list
	}
	for _, n := range w.live() {
		if n.shut != nil && n.shut.file == at.file && n.shut.line == at.line {
			return []*rule{n.shut}
		}
	}
	for _, n := range w.notes {
		if slices.ContainsFunc(n.from, func(a Annotation) bool { return a.File == at.file }) {
			for _, r := range n.rules {
				if !r.allow && r.file == at.file && r.line == at.line {
					return []*rule{r}
				}
			}
		}
	}
	return nil
}

// place is a line of an annotation.
type place struct {
	file string
	line int
}

// codeText holds the messages about rules that a reader does not understand.
var codeText = map[string]string{
	CodeAnchor:        "not every reader knows $",
	CodeDigits:        "it matches parts of escapes, too, for readers that escape names",
	CodeGlob:          "not every reader knows *",
	CodeIndex:         "Google takes it for the directory, too",
	CodeMatchedLength: "readers that count what is matched may take an Allow for as long",
	CodeName:          "not every reader takes the name for the same",
	CodePartName:      "readers that take parts of names take other robots for one that an annotation names",
	CodeReader:        "a reader obeys other lines of the file, or in another order",
	CodeRootMenu:      "some readers cannot be kept from the empty selector, which requests the root menu",
}

// overBlock reports allowed selectors that a reader takes as denied. It names the Allow
// that should hold or, without one, the Disallow that the reader applies. It skips "/d"
// if the reader takes it for "/d/", names with escaped bytes, and robots that readers
// take for others by a part of their name.
func (w *work) overBlock(f proof.Finding) (r Report, ok bool) {
	var reader readers.Reader
	for _, rd := range w.readers {
		if rd.Name == f.Reader {
			reader = rd
		}
	}
	if f.Robot != "*" && reader.Agent != veronica && w.named[strings.ToLower(f.Robot)] == nil && !strings.Contains(f.Robot, "+") {
		return Report{}, false
	}
	sels := slices.DeleteFunc(slices.Clone(f.Examples), func(sel string) bool {
		return reader.Below && !strings.HasSuffix(sel, "/") && w.denies("/"+strings.TrimPrefix(sel, "/")+"/") ||
			f.File == "" && reader.Lacks(readers.NeedsEscapes) != 0 && !readers.Plain(sel)
	})
	if len(sels) == 0 {
		return Report{}, false
	}
	r = NewReport(CodeOverBlock, f.File, f.Line, "some readers cannot understand what it allows")
	if f.Reader == proof.Preferences {
		r = NewReport(CodeWidened, f.File, f.Line, "an n of another line is written for it, too")
	} else if f.File == "" {
		d := w.strict()
		for _, sel := range sels {
			line := cmp.Or(d.Decide(veronica, sel).Rule.Line, d.Decide(veronica, sel+"/").Rule.Line, d.Decide(veronica, escape(sel)).Rule.Line)
			if s := w.Source(line); s != nil {
				if r.File, r.Line = s.File, s.Line; w.sources[line-1].isWeak() {
					r.Hint = "deny a directory: every reader knows a path that ends in a slash"
				}
				break
			}
		}
		r.Message = "some readers take it to deny more"
	}
	r.Readers, r.Victims, r.Selector = []string{f.Reader}, sels, sels[0]
	return r, r.File != ""
}
