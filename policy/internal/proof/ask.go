package proof

import (
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// verdict holds the findings of one part. It never changes.
type verdict struct {
	findings []*Finding
	rows     []Row
	tooMany  []string
}

const maxExamples = 10

// cause is a reader that misunderstands a line for a robot.
type cause struct {
	leak   bool
	row    int
	robot  string
	source source
}

// asking is a proof of a part under way.
type asking struct {
	*part
	verdict
	list   []witness
	parsed *readers.Parsed
	found  map[cause]*Finding
	ofAll  map[answer]bool // what was found for everybody
}

// answer is one finding at one selector.
type answer struct {
	leak   bool
	row    int
	sel    string
	source source
}

// prove asks all readers about all witnesses of a part; none, if a directory of it has
// too many pairs.
func (of *part) prove() *verdict {
	a := &asking{part: of, parsed: readers.Open(of.text), found: map[cause]*Finding{}, ofAll: map[answer]bool{}}
	a.rows = make([]Row, len(of.in.Readers)+1)
	if a.list, a.tooMany = of.witnesses(); len(a.tooMany) > 0 {
		return a.result()
	}
	everybody := newPolicy(of.notes, of.programs, "*", nil)
	a.ask("*", everybody, a.takers("*", nil))
	a.prefer("*", everybody)
	policies := map[string]*policy{}
	names := slices.Sorted(maps.Keys(of.asked))
	for _, name := range names {
		policies[name] = newPolicy(of.notes, of.programs, name, of.struck[name])
	}
	for _, name := range names {
		a.ask(name, policies[name], a.takers(name, nil))
		a.prefer(name, policies[name])
		inside := "x" + name + "x"
		a.ask(inside, everybody, a.takers(inside, func(r readers.Reader) bool { return r.Lacks(readers.NeedsNames) != 0 }))
	}
	a.pairs(policies)
	for _, f := range a.found {
		a.findings = append(a.findings, f)
	}
	return a.result()
}

// result returns the verdict alone; it is kept, and the rest of the proof is not.
func (a *asking) result() *verdict {
	v := a.verdict
	return &v
}

// pairs asks for robots that are two of the virtual agents: they must not fetch
// anything denied to either. It skips readers that obey only the first group that fits.
func (a *asking) pairs(policies map[string]*policy) {
	if policies[virtual[0]] == nil {
		return
	}
	for i, x := range virtual {
		for _, y := range virtual[:i] {
			both := a.takersOf(func(r readers.Reader) []robots.Rule {
				return slices.Concat(r.Rules(a.parsed, x), r.Rules(a.parsed, y))
			}, func(r readers.Reader) bool { return r.Agent == "" && !r.First })
			for _, name := range []string{x, y} {
				for i := range a.list {
					w := &a.list[i]
					if by := policies[name].decide(w.form); by != nil && !by.allow {
						a.about(y+"+"+x, w, by, both)
					}
				}
			}
		}
	}
}

// taker stands for readers that take the file alike for a robot, and compare alike.
type taker struct {
	readers.Reader
	matcher *readers.Matcher
	key     uint64 // of the matcher
	rows    []int
	last    string // the last form asked; allowed is the answer
	allowed bool
	same    *taker // one before it with the same rules
}

// neverAsked is no form: a request cannot contain it.
const neverAsked = "\n"

// takers returns how readers take the file for a robot. may, if not nil, selects among
// them. A reader for one robot alone is asked for that robot, or for everybody if the
// part does not name it.
func (a *asking) takers(robot string, may func(readers.Reader) bool) []*taker {
	owned := slices.ContainsFunc(a.in.Readers, func(r readers.Reader) bool { return r.Agent == robot && robot != "" })
	return a.takersOf(func(r readers.Reader) []robots.Rule { return r.Rules(a.parsed, robot) }, func(r readers.Reader) bool {
		named := has(a.asked, r.Agent)
		switch {
		case r.Agent != "":
			return r.Agent == robot || robot == "*" && !named
		case owned:
			return false
		}
		return may == nil || may(r)
	})
}

func (a *asking) takersOf(rules func(readers.Reader) []robots.Rule, may func(readers.Reader) bool) (list []*taker) {
	byKey := map[uint64]*taker{}
	for i, r := range a.in.Readers {
		if !may(r) {
			continue
		}
		t := &taker{Reader: r, matcher: r.Matcher(rules(r)), rows: []int{i}, last: neverAsked}
		key := t.matcher.Key()
		t.key = key
		alike := slices.IndexFunc(list, func(o *taker) bool {
			return o.key == key && slices.Equal(o.Forms, r.Forms) && o.Typed == r.Typed && o.Web == r.Web && o.Bare == r.Bare
		})
		if alike >= 0 {
			list[alike].rows = append(list[alike].rows, i)
			continue
		}
		if t.same = byKey[key]; t.same == nil {
			t.same, byKey[key] = t, t
		}
		list = append(list, t)
	}
	return list
}

// allows reports whether the reader may fetch a spelling.
func (t *taker) allows(typ byte, spelling string) bool {
	var buf [6]string
	forms, always := t.Compared(buf[:0], typ, spelling)
	if always {
		return true
	}
	m := t.same
	for _, form := range forms {
		if m.last != form {
			m.last, m.allowed = form, m.matcher.Permits(form)
		}
		if !m.allowed {
			return false
		}
	}
	return true
}

// ask asks for a robot about all witnesses.
func (a *asking) ask(robot string, p *policy, list []*taker) {
	if len(list) == 0 {
		return
	}
	for i := range a.list {
		w := &a.list[i]
		a.about(robot, w, p.decide(w.form), list)
	}
}

// about asks about a witness in every spelling, or only in the canonical one if it is
// allowed.
func (a *asking) about(robot string, w *witness, by *policyRule, list []*taker) {
	denied, typ := by != nil && !by.allow, byte('0')
	if w.dir {
		typ = '1'
	}
	for i, spelling := range w.spellings() {
		if !denied && (i > 0 || w.odd) {
			break
		}
		for _, t := range list {
			if spelling != "" && spelling[0] == '/' || t.Bare && !(t.Web && spelling == "") {
				if t.allows(typ, spelling) == denied && !(i > 0 && a.isClosed(w, i, spelling)) {
					a.note(robot, denied, by, spelling, t.rows)
				}
				for _, row := range t.rows {
					a.rows[row].Selectors++
				}
			}
		}
	}
}

// spellings returns the selectors that the server answers alike; the canonical one
// comes first.
func (w *witness) spellings() []string {
	switch {
	case w.sel == "/":
		return []string{"/", ""}
	case w.dir:
		n := len(w.sel) - 1
		return []string{w.sel, w.sel[:n], w.sel[1:], w.sel[1:n]}
	}
	return []string{w.sel, w.sel[1:]}
}

// isClosed reports whether the server answers a spelling with a pointer only. It asks
// once.
func (a *asking) isClosed(w *witness, i int, spelling string) bool {
	if a.in.Closed != nil && !w.asked[i] {
		w.asked[i], w.closed[i] = true, a.in.Closed(w.sel, spelling)
	}
	return w.closed[i]
}

// note records that some readers misunderstand a selector. It does not repeat a finding
// about everybody for each robot.
func (a *asking) note(robot string, leak bool, by *policyRule, sel string, rows []int) {
	var from source
	if by != nil {
		from = by.source
	}
	for _, row := range rows {
		one := answer{leak, row, sel, from}
		if a.ofAll[one] {
			continue
		}
		if robot == "*" {
			a.ofAll[one] = true
		}
		name := Preferences
		if row < len(a.in.Readers) {
			name = a.in.Readers[row].Name
		}
		if leak {
			a.rows[row].Leaks++
		} else {
			a.rows[row].OverBlocks++
		}
		c := cause{leak, row, robot, from}
		f := a.found[c]
		if f == nil {
			f = &Finding{Leak: leak, Reader: name, Robot: robot, File: from.file, Line: from.line, Dir: from.dir}
			a.found[c] = f
		}
		if f.Count++; len(f.Examples) < maxExamples {
			f.Examples = append(f.Examples, sel)
		}
	}
}

// prefer compares the preferences of the annotations and of the file for each witness.
func (a *asking) prefer(robot string, p *policy) {
	if slices.ContainsFunc(a.in.Readers, func(r readers.Reader) bool { return r.Agent == robot }) || len(p.states) == 0 && !strings.Contains(strings.ToLower(string(a.text)), "content-usage") {
		return
	}
	var text []byte
	for l := range robots.Parse(robots.RFC9309, a.text).Lines() {
		if l.Kind == readers.KindAllow || l.Kind == readers.KindDisallow {
			l.Text = "Disallow:\n"
		}
		text = append(text, l.Text...)
	}
	rules := robots.Parse(robots.RFC9309, text).Agent(robot)
	if robot != "*" && !a.named[robot] && len(p.states) > 0 && !slices.ContainsFunc(rules.Groups(), func(g robots.Group) bool { return len(g.Usages) > 0 }) {
		return // a group for readers who know no preferences, and nobody's name
	}
	row := []int{len(a.in.Readers)}
	for i := range a.list {
		w := &a.list[i]
		a.rows[row[0]].Selectors++
		want, got := p.prefers(w.form), rules.Usage(w.form)
		for key, by := range want {
			switch wanted := by.states.Of(key); {
			case wanted == got.Of(key):
			case wanted == robots.No:
				a.note(robot, true, by, w.sel, row)
			default:
				a.note(robot, false, by, w.sel, row)
			}
		}
		for _, s := range got {
			if want[s.Key] == nil && s.Preference != robots.Unstated {
				a.note(robot, s.Preference == robots.Yes, nil, w.sel, row)
			}
		}
	}
}
