package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
	Reader   string   // a name of [readers.All], or [Preferences]
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

// maxExamples is how many selectors a finding shows, maxCauses how many causes are
// told apart for a class.
const (
	maxExamples = 10
	maxCauses   = 100_000
)

// tally is what was found in a part of the tree for a class of robots.
type tally struct {
	selectors int
	found     map[cause]*effect
}

// cause is a reader that takes what a line of an annotation says otherwise.
type cause struct {
	leak   bool
	reader int
	source
}

// source is where a rule stands.
type source struct {
	file, dir string
	line      int
}

func (r *rule) source() source {
	if r == nil {
		return source{}
	}
	return source{r.file, r.note.dir, r.line}
}

type effect struct {
	count    int
	examples []string
	invented []string // examples that do not exist
}

// note counts n selectors, of which one is shown.
func (t *tally) note(c cause, n int, example string, exists bool) {
	e := t.effect(c)
	e.count += n
	list := &e.examples
	if !exists {
		list = &e.invented
	}
	if len(*list) < maxExamples && !slices.Contains(*list, example) {
		*list = append(*list, strings.Clone(example))
	}
}

// effect is that of a cause; of too many causes the source is lost.
func (t *tally) effect(c cause) *effect {
	if t.found[c] == nil && len(t.found) >= maxCauses {
		c.source = source{}
	}
	e := t.found[c]
	if e == nil {
		if t.found == nil {
			t.found = map[cause]*effect{}
		}
		e = &effect{}
		t.found[c] = e
	}
	return e
}

// merge adds what was found in another part.
func (t *tally) merge(o *tally) {
	t.selectors += o.selectors
	for c, e := range o.found {
		t.effect(c).merge(e)
	}
}

func (e *effect) merge(o *effect) {
	e.count += o.count
	e.examples, e.invented = union(e.examples, o.examples), union(e.invented, o.invented)
}

// union appends what is not there yet.
func union(list, more []string) []string {
	for _, s := range more {
		if len(list) < maxExamples && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// add adds the tally of a class. What befalls all robots, which come first, is not
// told of each of them. An over-block is the same though another line says it to them.
func (r *Result[D]) add(c *class, t *tally, all map[string]bool) {
	for i := range r.Rows {
		if i == len(models) || c.readers>>i&1 == 1 {
			r.Rows[i].Selectors += t.selectors
		}
	}
	for cause, e := range t.found {
		row := &r.Rows[cause.reader]
		if cause.leak {
			row.Leaks += e.count
		} else {
			row.OverBlocks += e.count
		}
		line := cause.line
		if !cause.leak {
			line = 0
		}
		same := fmt.Sprint(cause.leak, cause.reader, cause.file, line, e.count, e.examples, e.invented)
		if c.name() == "*" {
			all[same] = true
		} else if all[same] {
			continue
		}
		r.Findings = append(r.Findings, Finding{
			Leak: cause.leak, Reader: row.Reader, Robot: c.name(), File: cause.file, Line: cause.line, Dir: cause.dir,
			Count: e.count, Examples: union(slices.Clone(e.examples), e.invented),
		})
	}
}

// sort sorts the findings.
func (r *Result[D]) sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		if a.Leak != b.Leak {
			if a.Leak {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Dir, b.Dir),
			strings.Compare(a.Reader, b.Reader), strings.Compare(a.Robot, b.Robot))
	})
}
