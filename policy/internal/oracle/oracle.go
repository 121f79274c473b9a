// Package oracle computes the policy a second time, sentence by sentence and by brute
// force, to test the compiler and the proof. It shares no code with them, and draws the
// annotations of tests.
package oracle

import (
	"slices"
	"strings"
)

// Note is an annotation, with the same fields as policy.Annotation.
type Note struct {
	Dir  string // canonical selector of its directory, with both slashes
	File string
	Data []byte
	Err  error
}

// Verdict is the decision about a robot and a selector, and the line that decides. If
// Line is 0, File names the annotation of a directory denied as a whole; if File is
// empty, too, a program answers, or (if Allowed) no rule matches.
type Verdict struct {
	Allowed bool
	File    string
	Line    int
	Pattern string // of the rule that decides, below its directory
}

// Policy is the combined policy of all annotations.
type Policy struct {
	sheets   []sheet // of the directories, those above first
	programs []string
	shut     []Note
}

// New reads annotations. Shut lists directories that are denied as a whole.
func New(notes []Note, programs, shut []string) *Policy {
	p := &Policy{programs: programs}
	for _, dir := range shut {
		n := Note{Dir: dir}
		for _, o := range notes {
			if o.Dir == dir {
				n.File = o.File
			}
		}
		p.shut = append(p.shut, n)
	}
	for _, n := range notes {
		if n.Err != nil {
			p.shut = append(p.shut, n)
		}
	}
	slices.SortStableFunc(p.shut, func(a, b Note) int { return strings.Compare(a.Dir, b.Dir) })
	p.sheets = []sheet{{dir: "/", groups: []group{{star: true}}}}
	for _, n := range notes {
		if p.shutAt(n.Dir) != nil {
			continue
		}
		groups := parse(n)
		if i := slices.IndexFunc(p.sheets, func(s sheet) bool { return s.dir == n.Dir }); i >= 0 {
			p.sheets[i].groups = append(p.sheets[i].groups, groups...)
		} else {
			p.sheets = append(p.sheets, sheet{n.Dir, groups})
		}
	}
	slices.SortStableFunc(p.sheets, func(a, b sheet) int { return strings.Compare(a.dir, b.dir) })
	return p
}

// shutAt returns the directory denied as a whole that a selector is or lies in.
func (p *Policy) shutAt(sel string) *Note {
	for i, n := range p.shut {
		if strings.HasPrefix(sel, n.Dir) {
			return &p.shut[i]
		}
	}
	return nil
}

// Robots lists the robots that annotations name, in lower case.
func (p *Policy) Robots() (list []string) {
	for _, s := range p.sheets {
		for _, g := range s.groups {
			list = append(list, g.names...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Virtual are the kinds of robots that Gemini's companion specification names.
var Virtual = []string{"archiver", "indexer", "researcher", "webproxy"}

// Rules holds the rules that count for one robot.
type Rules struct {
	policy *Policy
	list   []*rule
}

// For returns the rules for a robot, given in lower case; "*" stands for robots that no
// annotation names.
func (p *Policy) For(robot string) Rules {
	named := func(v string) bool { return slices.Contains(p.Robots(), v) }
	if !slices.Contains(Virtual, robot) || !slices.ContainsFunc(Virtual, named) {
		return Rules{p, p.rules(robot)}
	}
	lists := map[string][]*rule{}
	for _, v := range Virtual {
		lists[v] = p.rules(v)
	}
	for struck := true; struck; {
		gone := map[[2]string][]*rule{}
		for _, x := range Virtual {
			for _, y := range Virtual {
				for _, a := range lists[x] {
					if x != y && a.allow && slices.ContainsFunc(lists[y], func(d *rule) bool { return !d.allow && a.undoes(d, lists[y], false) }) {
						gone[[2]string{x, y}] = append(gone[[2]string{x, y}], a)
					}
				}
			}
		}
		struck = false
		for pair, list := range gone {
			for _, robot := range pair {
				kept := slices.DeleteFunc(slices.Clone(lists[robot]), func(r *rule) bool {
					return r.allow && slices.ContainsFunc(list, func(a *rule) bool { return a.file == r.file && a.line == r.line })
				})
				struck = struck || len(kept) < len(lists[robot])
				lists[robot] = kept
			}
		}
	}
	return Rules{p, lists[robot]}
}

// rules returns the rules for a robot, before virtual agents strike each other's.
func (p *Policy) rules(robot string) (kept []*rule) {
	var guards []*rule // denials that an Allow further down must not undo
	for _, s := range p.sheets {
		own, list := s.count(robot, func(r *rule) bool { return r.usage == nil })
		var carried []*rule
		for _, a := range list {
			if a.text == "" || !a.allow {
				continue
			}
			more, struck := []*rule(nil), false
			for _, d := range guards {
				if d.dir == s.dir || !strings.HasPrefix(s.dir, d.dir) || own && !d.final || !a.undoes(d, kept, true) {
					continue
				}
				rest, ok := remains(d.text, a.text)
				struck = struck || !ok || strings.ContainsAny(a.text, "*$")
				for _, r := range rest {
					inside := !strings.HasSuffix(a.text, "/") && !strings.Contains("/*$", r[:1]) // of a name
					struck = struck || inside
					more = append(more, &rule{text: a.text + r, dir: a.dir, file: d.file, line: d.line})
				}
			}
			if !struck {
				kept, carried = append(kept, a), append(carried, more...)
			}
		}
		for _, d := range list {
			if d.text != "" && !d.allow {
				kept = append(kept, d)
				if own || d.final {
					guards = append(guards, d)
				}
			}
		}
		kept = append(kept, carried...)
	}
	return append(kept, p.answers(kept)...)
}

// answers returns the rules that deny programs.
func (p *Policy) answers(kept []*rule) (lines []*rule) {
	for _, program := range p.programs {
		head, tail, star := strings.Cut(program, "*")
		text := Escape(head)
		if star {
			text += "*" + Escape(tail)
		}
		for _, end := range []string{"$", "/", "%3F"} {
			if strings.HasSuffix(program, "/") && end != "$" {
				continue // the menu of a directory, and nothing below it
			}
			d := &rule{text: text + end, dir: "/"}
			dropped := false
			for _, a := range kept {
				dropped = dropped || a.allow && speaks(a.text, program) && covers(a.text, d.text)
			}
			if dropped {
				continue
			}
			lines = append(lines, d)
			for _, a := range kept {
				if !a.allow || speaks(a.text, program) || len(a.text) < len(d.text) || strings.HasSuffix(a.text, "$") || !a.meets(d) {
					continue
				}
				rest, _ := remains(d.text, a.text)
				if head, tail, star := strings.Cut(d.text, "*"); star && strings.HasPrefix(a.text, head) {
					if i := strings.LastIndexByte(a.text, '*'); i >= 0 {
						rest, _ = remains("*"+tail, a.text[i+1:])
					}
				}
				for _, r := range rest {
					lines = append(lines, &rule{text: a.text + r, dir: a.dir})
				}
			}
		}
	}
	return lines
}

// speaks reports whether a pattern has a program's own path, or ends in its extension.
func speaks(text, program string) bool {
	if strings.HasSuffix(program, "/") {
		return strings.TrimSuffix(text, "$") == Escape(program)
	}
	for _, end := range []string{"$", "/", "%3F", "", "/$", "%3F$"} {
		body, ok := strings.CutSuffix(text, end)
		if ext, isExt := strings.CutPrefix(program, "/*"); ok && (body == Escape(program) || isExt && strings.HasSuffix(body, Escape(ext))) {
			return true
		}
		tail, isUsers := strings.CutPrefix(program, "/~*")
		if user, its := strings.CutSuffix(body, Escape(tail)); ok && isUsers && its && (user == "/~*" || strings.HasPrefix(user, "/~") && len(user) > 2 && !strings.ContainsAny(user[1:], "/*")) {
			return true
		}
	}
	return false
}

// Decide returns whether the robot may fetch a canonical selector.
func (r Rules) Decide(sel string) Verdict {
	if n := r.policy.shutAt(sel); n != nil {
		return Verdict{File: n.File, Pattern: n.Dir}
	}
	uri := Escape(sel)
	var best *rule
	for _, o := range r.list {
		if (best == nil || len(o.text) > len(best.text) || len(o.text) == len(best.text) && o.allow && !best.allow) && Match(o.text, uri) {
			best = o
		}
	}
	if best == nil {
		return Verdict{Allowed: true}
	}
	return Verdict{best.allow, best.file, best.line, best.text}
}

// Preferences returns the value (y or n) of each key for a canonical selector.
func (p *Policy) Preferences(robot, sel string) map[string]string {
	states, longest, named := map[string]string{}, map[string]int{}, map[string]bool{}
	for _, s := range p.sheets {
		own, list := s.count(robot, func(r *rule) bool { return r.usage != nil })
		for _, r := range list {
			for key, value := range r.usage {
				size := len(r.text)
				if value != "y" && value != "n" || !own && named[key] || size == 0 || !Match(r.text, Escape(sel)) {
					continue
				}
				if size > longest[key] || size == longest[key] && value == "n" {
					states[key], longest[key] = value, size
				}
				named[key] = named[key] || own
			}
		}
	}
	return states
}

// undoes reports whether an Allow may open something that a Disallow above denies. It
// may not if an Allow in kept covers it; with sameDir, only Allows of the Disallow's
// own annotation count.
func (r *rule) undoes(d *rule, kept []*rule, sameDir bool) bool {
	return len(r.text) >= len(d.text) && r.meets(d) && !slices.ContainsFunc(kept, func(c *rule) bool {
		return c.allow && (c.dir == d.dir || !sameDir) && len(c.text) >= len(d.text) && covers(c.text, r.text)
	})
}

func (r *rule) meets(o *rule) bool {
	_, ok := Meet(r.text, o.text)
	return ok
}
