// Package proof compares a robots.txt with the annotations that it was made of.
//
// It reads the bytes of the annotations itself, works out the policy, and asks models
// of readers ([readers.Reader]) about witnesses: selectors made from the patterns of
// both sides alone. It knows no tree, and shares no code with the compiler.
//
//	annotations ─ note.go: rules ─ policy.go: what counts for a robot ─┐
//	patterns of both ─ names.go: witnesses ────────────────────────────┼─ ask.go: findings
//	robots.txt ─ file.go: lines about a part ─ readers: what each takes ┘
//
// The findings about a top-level directory depend on the root's rules, the directory's
// rules and the lines about it. Several directories are proven together (part.go).
// While these inputs are unchanged, the findings of an earlier proof are reused.
package proof

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Input is a file with its sources.
type Input struct {
	Notes    []Note
	Programs []string         // as the compiler takes them
	Shut     []string         // directories that are denied as a whole
	File     []byte           // the robots.txt
	Readers  []readers.Reader // nil: readers.All()

	// Closed reports whether a spelling of a canonical selector is answered with a
	// pointer only. If nil, none is.
	Closed func(canonical, spelling string) bool
}

// Finding is a line that a reader does not take as the annotations mean it.
type Finding struct {
	Leak     bool   // denied, but taken as allowed; else the reverse
	Reader   string // the name of a row, or [Preferences]
	Robot    string // "*" for all that nobody names; of several treated alike the first; two virtual agents with a "+"
	File     string // of the rule that decides; "" if none does, or a program's
	Line     int    // in it; 0: the annotation as a whole
	Dir      string // of the annotation; "" if there is none
	Count    int
	Examples []string // up to ten, as they are asked
}

// Row counts the findings about one reader.
type Row struct {
	Reader     string
	Selectors  int // questions, for all robots together
	Leaks      int
	OverBlocks int
}

// Preferences is the name of the row and of the findings about Content-Usage. In a leak
// the file permits more than the annotations; in an over-block it states something
// else.
const Preferences = "preferences"

// Result is the result of a proof. It never changes.
type Result struct {
	Findings []Finding // leaks first, then by file, line, reader and robot
	Rows     []Row     // one for each reader, then Preferences
	TooMany  []string  // top-level directories with more than [MaxPairs] pairs of patterns

	found []*Finding  // of the parts
	notes []*noteText // in the order of their directories
	parts map[uint64]*verdict
}

// MaxPairs bounds the pairs of patterns that are compared in a top-level directory.
const MaxPairs = 100_000

// Check compares in.File with the annotations. It reuses the findings of prev about
// unchanged parts; the result is the same without them. prev may be in use
// concurrently.
func Check(in Input, prev *Result) *Result {
	if in.Readers == nil {
		in.Readers = readers.All()
	}
	if prev == nil {
		prev = &Result{}
	}
	r := &Result{parts: map[uint64]*verdict{}}
	for _, row := range in.Readers {
		r.Rows = append(r.Rows, Row{Reader: row.Name})
	}
	r.Rows = append(r.Rows, Row{Reader: Preferences})
	for _, p := range newProver(in, prev, r).parts {
		key := p.key()
		v := prev.parts[key]
		if v == nil {
			v = p.prove()
		}
		r.parts[key] = v
		r.add(v)
	}
	r.sort()
	return r
}

// annotations reads the notes, and takes unchanged ones from prev. The annotations of
// directories above come before those below.
func (r *Result) annotations(in Input, prev *Result) (list []*annotation) {
	order := func(a, b Note) int { return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.File, b.File)) }
	if !slices.IsSortedFunc(in.Notes, order) {
		in.Notes = slices.Clone(in.Notes)
		slices.SortFunc(in.Notes, order)
	}
	shut := map[string]bool{} // whether an annotation stands for it
	for _, dir := range in.Shut {
		shut[dir] = false
	}
	for _, n := range in.Notes {
		if n.Err != nil {
			shut[n.Dir] = false
		}
	}
	at := func(dir string) *annotation {
		if len(list) == 0 || list[len(list)-1].dir != dir {
			list = append(list, &annotation{dir: dir})
		}
		return list[len(list)-1]
	}
	if len(in.Notes) == 0 || in.Notes[0].Dir != "/" {
		at("/")
	}
	before := prev.notes
	for _, n := range in.Notes {
		if dir, denied := within(n.Dir, shut); denied {
			a := at(dir)
			if a.denied, shut[dir] = true, true; a.shut == "" || n.Dir == dir {
				a.shut = n.File
			}
			continue
		}
		for len(before) > 0 && order(before[0].Note, n) < 0 {
			before = before[1:]
		}
		var t *noteText
		if len(before) > 0 && order(before[0].Note, n) == 0 && bytes.Equal(before[0].Data, n.Data) {
			t = before[0]
		} else {
			t = readNote(n)
		}
		r.notes = append(r.notes, t)
		a := at(n.Dir)
		a.notes = append(a.notes, t)
	}
	for dir, stands := range shut {
		if dir == "/" {
			list[0].denied = true
		} else if _, above := within(strings.TrimSuffix(dir, "/"), shut); !above && !stands {
			list = append(list, &annotation{dir: dir, denied: true})
		}
	}
	slices.SortStableFunc(list, func(a, b *annotation) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// within returns the highest of some directories that a selector lies in.
func within(sel string, dirs map[string]bool) (dir string, ok bool) {
	if len(dirs) == 0 {
		return "", false
	}
	for i := range len(sel) {
		if sel[i] == '/' {
			if _, ok := dirs[sel[:i+1]]; ok {
				return sel[:i+1], true
			}
		}
	}
	return "", false
}

// add adds the findings about a part.
func (r *Result) add(v *verdict) {
	for i := range v.rows {
		r.Rows[i].Selectors += v.rows[i].Selectors
		r.Rows[i].Leaks += v.rows[i].Leaks
		r.Rows[i].OverBlocks += v.rows[i].OverBlocks
	}
	r.found = append(r.found, v.findings...)
	r.TooMany = append(r.TooMany, v.tooMany...)
}

// sort merges findings about the same line, reader and robot, and orders them.
func (r *Result) sort() {
	order := func(a, b *Finding) int {
		if a.Leak != b.Leak {
			if a.Leak {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Dir, b.Dir),
			strings.Compare(a.Reader, b.Reader), strings.Compare(a.Robot, b.Robot))
	}
	slices.SortFunc(r.found, func(a, b *Finding) int { return cmp.Or(order(a, b), slices.Compare(a.Examples, b.Examples)) })
	for _, f := range r.found {
		if n := len(r.Findings) - 1; n >= 0 && order(&r.Findings[n], f) == 0 {
			of := &r.Findings[n]
			of.Count += f.Count
			of.Examples = slices.Concat(of.Examples, f.Examples)
			of.Examples = of.Examples[:min(len(of.Examples), maxExamples)]
			continue
		}
		r.Findings = append(r.Findings, *f)
	}
	r.found = nil
	slices.Sort(r.TooMany)
}
