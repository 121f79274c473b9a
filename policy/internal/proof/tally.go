package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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

// summary is the tallies of all classes.
type summary struct {
	selectors []int // by reader
	found     map[cause]map[*class]*effect
}

func newSummary() *summary {
	return &summary{selectors: make([]int, len(models)+1), found: map[cause]map[*class]*effect{}}
}

// add adds the tally of a class.
func (s *summary) add(c *class, t *tally) {
	for i := range s.selectors {
		if i == len(models) || c.readers>>i&1 == 1 {
			s.selectors[i] += t.selectors
		}
	}
	for cause, e := range t.found {
		if s.found[cause] == nil {
			s.found[cause] = map[*class]*effect{}
		}
		s.found[cause][c] = e
	}
}

func (s *summary) rows() []Row {
	rows := make([]Row, len(s.selectors))
	for i := range rows {
		rows[i] = Row{Reader: readerName(i), Selectors: s.selectors[i]}
	}
	for c, classes := range s.found {
		for _, e := range classes {
			if c.leak {
				rows[c.reader].Leaks += e.count
			} else {
				rows[c.reader].OverBlocks += e.count
			}
		}
	}
	return rows
}

func readerName(i int) string {
	if i == len(models) {
		return Preferences
	}
	return models[i].Name
}

// findings returns each once: what befalls all robots is not told of each of them. An
// over-block is the same though another line of the file says it to them.
func (s *summary) findings() []Finding {
	var list []Finding
	all := map[string]bool{}
	same := func(c cause, e *effect) string {
		if !c.leak {
			c.line = 0
		}
		return fmt.Sprint(c, e.count, e.examples, e.invented)
	}
	for c, classes := range s.found {
		for class, e := range classes {
			if class.name() == "*" {
				all[same(c, e)] = true
				list = append(list, c.finding(class, e))
			}
		}
	}
	for c, classes := range s.found {
		for class, e := range classes {
			if class.name() != "*" && !all[same(c, e)] {
				list = append(list, c.finding(class, e))
			}
		}
	}
	slices.SortFunc(list, func(a, b Finding) int {
		leak := 0
		if a.Leak != b.Leak {
			if leak = 1; a.Leak {
				leak = -1
			}
		}
		return cmp.Or(leak, strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Dir, b.Dir),
			strings.Compare(a.Reader, b.Reader), strings.Compare(a.Robot, b.Robot))
	})
	return list
}

func (c cause) finding(class *class, e *effect) Finding {
	f := Finding{Leak: c.leak, Reader: readerName(c.reader), Robot: class.name(), Robots: len(class.names), Count: e.count}
	f.Examples = union(slices.Clone(e.examples), e.invented)
	f.File, f.Line, f.Dir = c.file, c.line, c.dir
	return f
}
