package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots/readers"
)

// Row is the result of the proof for one reader.
type Row = proof.Row

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

// denial is a directory that is denied because its rules leak.
type denial struct{ sel, why string }

// prove checks the file against the annotations, and reports its findings. done is false
// if the file leaks and no report names the leak: then prove has denied a directory, and
// the annotations must be compiled again.
func (w *work) prove() (done bool) {
	w.proof = proof.Check(w.proofInput(w.file))
	w.leaks = nil
	done = true
	w.found = make([]Report, 0, len(w.proof.Findings))
	w.lines = sync.OnceValue(w.programLines)
	tried := len(w.cured)
	for _, f := range w.proof.Findings {
		switch {
		case w.hand():
			w.found = append(w.found, w.handWritten(f))
		case !f.Leak:
			if r, ok := w.overBlock(f); ok {
				w.found = append(w.found, r)
			}
		case f.Reader == proof.Preferences && strings.EqualFold(f.Robot, veronica): // she reads Disallow alone
		case f.Code != "" || w.isCut(&f):
			w.found = append(w.found, w.named(f))
		case w.cure(f, w.cured[:tried]):
			done = false
		default:
			w.leaks = append(w.leaks, leaksOf(f)...)
		}
	}
	return done
}

func (c *Compiled) proofInput(file []byte) proof.Input {
	in := proof.Input{
		Programs: c.programs,
		Shut:     c.shut,
		Joined:   c.joined,
		File:     file,
		Readers:  c.readers,
	}
	in.Notes = make([]proof.Note, 0, len(c.notes))
	for _, n := range c.notes {
		for _, a := range n.from {
			in.Notes = append(in.Notes, proof.Note{
				Dir:       a.Dir,
				File:      a.File,
				Data:      a.Data,
				Err:       a.Err,
				Strict:    a.strict,
				Everybody: a.everybody,
			})
		}
	}
	return in
}

// Prove checks another robots.txt, such as a server's own, against the policy. It
// returns the matrix and all leaks, including expected ones.
func (c *Compiled) Prove(file []byte) (Matrix, []Leak) {
	result := proof.Check(c.proofInput(file))
	var leaks []Leak
	for _, f := range result.Findings {
		if f.Leak {
			leaks = append(leaks, leaksOf(f)...)
		}
	}
	return result.Rows, leaks
}

func leaksOf(f proof.Finding) []Leak {
	var list []Leak
	for _, sel := range f.Examples {
		list = append(list, Leak{f.Reader, f.Robot, sel})
	}
	if len(list) == 0 {
		list = append(list, Leak{f.Reader, f.Robot, f.Pattern})
	}
	return list
}

// Proof returns the matrix of the compiled file.
func (c *Compiled) Proof() Matrix { return c.proof.Rows }

// Unproven lists the leaks that no report names and that denying directories did not
// cure. A file with such leaks must not be served.
func (c *Compiled) Unproven() []Leak { return c.leaks }

// cure denies a directory because of a leak: that of the Allow that lets the reader in,
// or else that of the rule; if the leak remains, both. If it still remains, the
// annotations of the directory are left out, then those of the directories above it. The
// root is not denied for a fault of another directory. cure returns false if nothing is
// left to do.
func (w *work) cure(f proof.Finding, tried []denial) bool {
	dirs := slices.DeleteFunc([]string{f.ByDir, f.Dir}, func(dir string) bool {
		other := cmp.Or(strings.TrimPrefix(f.ByDir, "/"), strings.TrimPrefix(f.Dir, "/"))
		return dir == "" || dir == "/" && other != ""
	})
	if len(dirs) == 0 { // what it concerns
		dirs = append(dirs, topOf(headOf(cmp.Or(f.Pattern, "/"))))
	}
	isBelow := func(list []denial, dir string) bool {
		return slices.ContainsFunc(list, func(d denial) bool {
			return strings.HasPrefix(dir, d.sel)
		})
	}
	for _, dir := range dirs {
		switch {
		case w.isDeniedWhole(dir) || isBelow(tried, dir):
			continue
		case !isBelow(w.cured, dir): // else another leak has denied it
			w.cured = append(w.cured,
				denial{dir, fmt.Sprintf("%v (line %d)", leaksOf(f)[0], f.Line)})
		}
		return true
	}
	for dir := dirs[len(dirs)-1]; dir != "/"; dir = dir[:strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/')+1] {
		if w.left[dir] {
			continue
		}
		w.left[dir] = true
		if !slices.ContainsFunc(w.cured, func(d denial) bool { return d.sel == dir }) {
			w.cured = append(w.cured,
				denial{dir, fmt.Sprintf("%v (line %d)", leaksOf(f)[0], f.Line)})
		}
		return true
	}
	return false
}

// isCut reports whether a leak results from the shortened group for weak readers, and sets
// its code.
func (w *work) isCut(f *proof.Finding) bool {
	isHers := slices.ContainsFunc(w.readers, func(r readers.Reader) bool {
		return r.Name == f.Reader && r.Agent == veronica
	})
	if !w.cut || !isHers || w.veronica != nil {
		return false
	}
	f.Code = CodeName
	if isAnchored(f.Pattern) {
		f.Code = CodeAnchor
	}
	return true
}

// isDeniedWhole reports whether a directory was denied as a whole, or one above it.
func (w *work) isDeniedWhole(dir string) bool {
	return slices.ContainsFunc(w.shut, func(sel string) bool { return strings.HasPrefix(dir, sel) })
}

// named makes the report of a leak with a code.
func (w *work) named(f proof.Finding) Report {
	file, line := f.File, f.Line
	isAllows := f.Code == CodeDigits || f.Code == CodeIndex || f.Code == CodeName || f.File == "" // what the Allow opens
	if isAllows && f.ByFile != "" {
		file, line = f.ByFile, f.ByLine
	}
	r := NewReport(f.Code, file, line, codeText[f.Code])
	r.Selector = f.Pattern
	r.Readers = []string{f.Reader}
	r.Leaks = f.Examples
	if file == "" { // no author wrote it
		r.File, r.Hint, r.Message = w.lines()[f.Pattern], "", r.Message+", in what programs answer"
	}
	if f.File == "" || isAllows && f.ByFile != "" {
		r.Severity = diag.Notice
	}
	return r
}

// programLines returns the flags of programs by the lines that deny them, in URI form, also
// those below Allows.
func (w *work) programLines() map[string]string {
	flags := map[string]string{}
	for _, c := range w.all {
		for _, r := range c.rules {
			if r.program {
				flags[r.uri] = r.file
			}
		}
	}
	return flags
}

// codeText has the messages about rules that a reader does not understand.
var codeText = map[string]string{
	CodeAnchor:        "not every reader knows $",
	CodeDigits:        "it matches parts of escapes, too, for readers that escape names",
	CodeGlob:          "not every reader knows *",
	CodeIndex:         "Google applies it to the directory, too",
	CodeMatchedLength: "readers that count the matched text may find an Allow just as long",
	CodeName:          "some readers interpret a character of it differently",
	CodePartName:      "some readers apply the group of a robot to all robots whose names contain its name",
	CodeReader:        "a reader obeys other lines of the file, or in another order",
	CodeRootMenu:      "some readers cannot be kept from the empty selector, which requests the root menu",
}

// overBlock reports what a reader takes as denied although it is allowed. It names the
// Allow that should hold or, without one, the Disallow that the reader applies: a weak
// line, or to a reader without groups a line for others. Names with an escape, a * or a $
// that some readers also deny are not reported.
func (w *work) overBlock(f proof.Finding) (r Report, ok bool) {
	r = NewReport(CodeOverBlock, f.File, f.Line, "some readers cannot understand what it allows")
	r.Selector = f.Pattern
	r.Readers = []string{f.Reader}
	r.Victims = f.Examples
	if f.File != "" || f.Written < 1 || f.Written > len(w.sources) ||
		w.sources[f.Written-1].rule == nil {
		return r, f.File != ""
	}

	by := w.sources[f.Written-1]
	row := w.readers[slices.IndexFunc(w.readers, func(r readers.Reader) bool {
		return r.Name == f.Reader
	})]
	isWeak := by.isWeak() && by.text != by.uri && by.text != by.raw
	r.File = by.file
	r.Line = by.line
	r.Message = "some readers take it to deny more"
	if isWeak {
		r.Hint = "deny a directory: every reader knows a path that ends in a slash"
	}
	isExact := row.Groups && slices.Equal(row.Forms, []readers.Form{readers.URI})
	isSeen := isWeak && (!row.Groups || row.Agent == veronica) || by.named && !row.Groups
	return r, by.links == "" && (isExact || isSeen)
}

// handWritten reports a line of a hand-written file that a reader interprets differently.
func (w *work) handWritten(f proof.Finding) Report {
	r := NewReport(CodeHandWritten, f.File, f.Line,
		"served as it was written: some readers interpret it differently")
	r.Readers = []string{f.Reader}
	if f.Leak {
		r.Leaks = f.Examples
	} else {
		r.Victims, r.Severity = f.Examples, diag.Notice
	}
	if r.File == "" {
		r.File = w.notes[0].from[0].File
		r.Line = f.Written
	}
	return r
}
