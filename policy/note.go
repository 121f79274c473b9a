package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/lint"
	"github.com/gophd/gophd/robots/readers"
)

// These are the bounds of one annotation. Beyond a bound its directory is denied,
// because the part that would be lost may deny something.
const (
	maxAnnotation = 500 << 10 // bytes
	maxRules      = 1000
	maxGlobs      = 600 // patterns with a * before their end
)

// robotsFile is the name in the root that is always allowed (RFC 9309, 2.2.2) and
// answered. It takes no part in the policy.
const robotsFile = "robots.txt"

// note is the parsed annotations of one directory.
type note struct {
	sel      string       // of the directory
	from     []Annotation // what was read
	at       form         // the directory, without the slash at its end
	top      string       // the first name of the selector, in URI form; "" for the root
	shut     *rule        // not nil: the directory is denied as a whole
	names    bool         // it names a robot other than veronica
	joined   bool         // its top-level directory is joined (see share.go)
	general  []*group     // the groups for everybody
	named    []naming     // the robots that are named, in the order of their numbers
	sets     []set
	joinable []*group // the groups for everybody, and those that name a robot other than veronica
	rules    []*rule
	count    int // of rules and preferences
	size     int // about how many bytes its rules for everybody take in the file
	fields   []siteField
	reports  []Report
}

// names numbers the robots that annotations name.
type names struct {
	of     map[string]int32 // by token
	robots []named
}

// named is a robot that some annotation names.
type named struct {
	token   string   // in lower case
	written []string // the name as it was written first; then what readers take for it
}

// add returns the number of a robot. full is its name with blanks, or empty.
func (all *names) add(token, full string) int32 {
	lower := strings.ToLower(token)
	i, ok := all.of[lower]
	if !ok {
		i = int32(len(all.robots))
		all.of[lower] = i
		all.robots = append(all.robots, named{lower, []string{token}})
	}
	r := &all.robots[i]
	if full != "" && !slices.ContainsFunc(r.written, func(w string) bool {
		return strings.EqualFold(w, full)
	}) {
		r.written = append(r.written, full)
	}
	return i
}

// everybody is in place of the number of a robot that no annotation names.
const everybody int32 = -1

// naming is a robot and the set of groups that name it.
type naming struct{ robot, set int32 }

// set holds the groups of an annotation that name a robot. Sets with equal lines share a
// number, which is 0 if they have none.
type set struct {
	groups []*group
	number int
	size   int // about how many bytes their rules take in the file
}

// group is a group of an annotation: its rules and preferences for some robots.
type group struct {
	file    string
	line    int // of its first User-agent; 0: there is none
	rules   []*rule
	prefs   []*usageLine
	says    bool // it has an Allow, Disallow or Final, even an empty one
	prefers bool // it has a Content-Usage line, even for a path that no request can have
}

// rule is a line of an annotation, or one that follows from the policy. Its pattern
// includes the directory.
type rule struct {
	form
	allow bool
	final bool
	value string // as written; of a rule without an author, the reason for it
	file  string
	line  int    // 0: the annotation as a whole
	of    *note  // the directory that the rule belongs to
	below *rule  // the Allow below which it is carried, or nil
	whole bool   // it denies a directory as a whole, or an alias
	links string // of an alias: the directory that robots read in its place

	program bool // it denies what a program answers
}

// top is the top-level directory whose annotations a rule belongs to, in URI form; ""
// for the root.
func (r *rule) top() string { return r.of.top }

// place returns where a rule was written.
func (r *rule) place() string {
	if r.line == 0 {
		return r.file
	}
	return fmt.Sprintf("%s:%d", r.file, r.line)
}

// setOf returns the groups that name a robot.
func (n *note) setOf(robot int32) set {
	at, found := slices.BinarySearchFunc(n.named, robot, func(a naming, robot int32) int {
		return cmp.Compare(a.robot, robot)
	})
	if !found {
		return set{}
	}
	return n.sets[n.named[at].set]
}

// groupsOf returns the groups that name a robot.
func (n *note) groupsOf(robot int32) []*group { return n.setOf(robot).groups }

// rulesFor returns the rules that count for a robot: its own, or else the general ones.
func (n *note) rulesFor(robot int32) (rules []*rule, own bool) {
	list := n.groupsOf(robot)
	if own = slices.ContainsFunc(list, func(g *group) bool { return g.says }); !own {
		list = n.general
	}
	if len(list) == 1 {
		return list[0].rules, own
	}
	for _, s := range list {
		rules = append(rules, s.rules...)
	}
	return rules, own
}

// reader reads the annotations of one directory.
type reader struct {
	note    *note
	file    string
	open    bool   // the next User-agent line joins the group
	strict  bool   // no Allow counts
	now     *group // the group that lines belong to
	nobody  bool   // its User-agent lines name nobody
	counted [2]int // rules and globs of this file

	everybody []string // the robots that lines for everybody are for; nil: everybody

	names  *names
	clean  map[string]bool    // texts without findings of package lint
	groups map[int32][]*group // that name a robot
}

// readNote reads the annotations of a directory.
func readNote(from []Annotation, names *names, clean map[string]bool) *note {
	sel := from[0].Dir
	n := &note{sel: sel, from: from, at: directory(sel)}
	n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")
	r := reader{
		note:   n,
		names:  names,
		clean:  clean,
		groups: map[int32][]*group{},
	}
	for _, a := range from {
		reports := n.reports
		r.file, r.strict, r.everybody, r.open, r.counted = a.File, a.strict, a.everybody,
			false, [2]int{}
		switch {
		case a.Err != nil:
			n.deny(a.File, CodeUnreadable, fmt.Sprintf("it cannot be read: %v", a.Err))
		case len(a.Data) > maxAnnotation:
			n.deny(a.File, CodeTooLarge, "it has more than 500 KiB")
		default:
			r.read(a.Data)
		}
		if n.shut != nil {
			return n
		}
		if a.everybody != nil { // a copy of what has been reported
			n.reports = reports
		}
	}
	n.size = sizeOf(n.general)
	r.number()
	n.joinable = slices.Clone(n.general)
	for _, a := range n.named {
		if names.robots[a.robot].token == veronica {
			continue
		}
		n.names = true
		for _, g := range n.sets[a.set].groups {
			if g.line > 0 && !slices.Contains(n.joinable, g) {
				n.joinable = append(n.joinable, g)
			}
		}
	}
	slices.SortStableFunc(n.fields, func(a, b siteField) int {
		return strings.Compare(a.name, b.name)
	})
	return n
}

// number makes the sets of the groups that name robots, and numbers them.
func (r *reader) number() {
	texts := map[*group]string{} // the lines of the groups
	numbers := map[string]int{"": 0}
	known := map[string]int32{} // sets, by the addresses of their groups
	for _, robot := range slices.Sorted(maps.Keys(r.groups)) {
		groups := r.groups[robot]
		var key []byte
		for _, g := range groups {
			key = fmt.Appendf(key, "%s:%d;", g.file, g.line)
		}
		at, ok := known[string(key)]
		if !ok {
			says, prefers := "", ""
			for _, g := range groups {
				if texts[g] == "" {
					texts[g] = g.text()
				}
				if g.says {
					says += texts[g]
				}
				if g.prefers {
					prefers += texts[g]
				}
			}
			text := ""
			if says != "" || prefers != "" {
				text = says + "\n\n" + prefers
			}
			if _, ok := numbers[text]; !ok {
				numbers[text] = len(numbers)
			}
			at = int32(len(r.note.sets))
			known[string(key)] = at
			size := r.note.size
			if says != "" {
				size = sizeOf(groups)
			}
			r.note.sets = append(r.note.sets, set{groups, numbers[text], size})
		}
		r.note.named = append(r.note.named, naming{robot, at})
	}
}

// text returns the lines of a group, sorted: equal for groups with the same meaning.
func (g *group) text() string {
	lines := []string{fmt.Sprintln(g.says, g.prefers)}
	for _, r := range g.rules {
		final := ""
		if r.final {
			final = "Final "
		}
		lines = append(lines, final+field(r.allow)+r.uri)
	}
	for _, u := range g.prefs {
		lines = append(lines, u.uri+" "+u.said.String())
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// deny denies the directory as a whole on account of an annotation.
func (n *note) deny(file, code, why string) {
	*n = note{
		sel:     n.sel,
		from:    n.from,
		at:      n.at,
		top:     n.top,
		shut:    n.denied(file, why),
		reports: n.reports,
	}
	n.size = len("Disallow: \n") + len(n.shut.uri)
	n.reports = append(n.reports, deniedReport(n.sel, code, file, why))
}

// deniedReport is the report about a directory that is denied as a whole.
func deniedReport(sel, code, file, why string) Report {
	what := "the directory"
	switch sel {
	case "/":
		what = "the whole site"
	case homes:
		what = "every directory of the root that begins with ~"
	}
	return NewReport(code, file, 0, what+" is denied: "+why)
}

// denied is the rule for a directory that is denied as a whole.
func (n *note) denied(file, why string) *rule {
	at := n.at
	if n.sel != homes {
		at = at.join(form{uri: "/", raw: "/", weak: "/"})
	}
	return &rule{form: at, value: why, file: file, of: n, whole: true}
}

func (r *reader) report(code string, line int, format string, args ...any) {
	r.note.reports = append(r.note.reports,
		NewReport(code, r.file, line, fmt.Sprintf(format, args...)))
}

func (r *reader) read(data []byte) {
	r.begin(0)
	r.joinAll()
	for l := range lint.Lines(data) {
		switch {
		case l.Kind == readers.KindAgent:
			r.agent(l)
		case l.Kind == readers.KindDisallow:
			r.rule(l, rule{})
		case l.Kind == readers.KindAllow:
			r.rule(l, rule{allow: true})
		case l.Kind == readers.KindUsage:
			r.usage(l)
		case l.Kind == readers.KindField && strings.EqualFold(l.Field, "Final"):
			r.rule(l, rule{final: true})
		case l.Kind == readers.KindField:
			r.field(l)
		}
	}
	if why := r.tooMuch(); why != "" {
		r.note.deny(r.file, CodeTooLarge, why)
		return
	}
	if r.clean[string(data)] { // many homes have the same one
		return
	}
	list := lint.Annotation(r.note.sel, data)
	for _, d := range list {
		d.File = r.file
		r.note.reports = append(r.note.reports, reportOf(d))
	}
	r.clean[string(data)] = len(list) == 0
}

// tooMuch describes the bound that the file exceeds, or returns "".
func (r *reader) tooMuch() string {
	for i, of := range []struct {
		most int
		what string
	}{{maxRules, "rules"}, {maxGlobs, "patterns with a * before their end"}} {
		if r.counted[i] > of.most {
			return fmt.Sprintf("it has %d %s; the bound is %d", r.counted[i], of.what, of.most)
		}
	}
	return ""
}

// agent reads a User-agent line. Consecutive lines name the robots of one group.
func (r *reader) agent(l readers.Line) {
	if !r.open {
		r.begin(l.Number)
		r.open, r.nobody = true, true
	}
	for _, robot := range r.namesOf(l.Value) {
		r.nobody = false
		if robot == everybody {
			r.joinAll()
		} else {
			r.join(robot)
		}
	}
}

// begin begins a group.
func (r *reader) begin(line int) {
	r.now = &group{file: r.file, line: line}
	r.nobody = false
}

// joinAll applies the lines that follow to everybody.
func (r *reader) joinAll() {
	if r.everybody == nil {
		r.join(everybody)
	}
	for _, token := range r.everybody {
		r.join(r.names.add(token, ""))
	}
}

// join applies the lines that follow to a robot, too.
func (r *reader) join(robot int32) {
	list := &r.note.general
	if robot != everybody {
		groups := r.groups[robot]
		list = &groups
		defer func() { r.groups[robot] = groups }()
	}
	if !slices.Contains(*list, r.now) {
		*list = append(*list, r.now)
	}
}

// namesOf returns the robots that a line names. "*" means everybody. A word that does
// not begin with a product token names no robot. A name with a blank is the robot of its
// first word.
func (r *reader) namesOf(value string) (list []int32) {
	if readers.ProductToken(value) == "*" {
		return []int32{everybody}
	}
	for word := range strings.SplitSeq(value, ",") {
		switch token := readers.ProductToken(word); token {
		case "":
		case "*":
			list = append(list, everybody)
		default:
			full := ""
			parts := strings.Fields(word)
			if len(parts) > 1 && !slices.ContainsFunc(parts, func(w string) bool {
				return readers.ProductToken(w) != w
			}) {
				full = strings.Join(parts, " ")
			}
			list = append(list, r.names.add(token, full))
		}
	}
	return list
}

// pattern reads a pattern or path; ok is false if no request can match it. Beyond a
// bound, patterns are counted and not kept.
func (r *reader) pattern(value string) (f form, ok bool) {
	if r.counted[0]++; hasInnerStar(value) {
		r.counted[1]++
	}
	if r.counted[0] > maxRules || r.counted[1] > maxGlobs {
		return form{}, false
	}
	return patternOf(value, r.note.at)
}

// rule reads an Allow, a Disallow or a Final line.
func (r *reader) rule(l readers.Line, rule rule) {
	value := l.Value
	if value == "" && rule.final {
		r.report(CodeFinal, l.Number, "Final needs a path")
		return
	}
	r.open, r.now.says = false, true
	if value == "" {
		return
	}
	if rule.allow && r.strict {
		report := NewReport(CodeOverruled, r.file, l.Number,
			"it does not count: the trees for Gopher and Gemini have different annotations, and what one of them denies is denied")
		report.Hint = "write the same .robots into both trees"
		r.note.reports = append(r.note.reports, report)
		return
	}
	if r.nobody && !rule.allow {
		r.report(CodeLost, l.Number, "the name is no product token, so the rule keeps no robot out")
	}
	f, ok := r.pattern(value)
	if !ok || r.nobody {
		return
	}
	rule.form, rule.value, rule.file, rule.line, rule.of = f, value, r.file, l.Number, r.note
	if rule.final && !isFinal(strings.TrimPrefix(f.uri, r.note.at.uri)) {
		r.report(CodeFinal, l.Number,
			"Final takes a path, or /* and what follows: this is a Disallow alone")
		rule.final = false
	}
	r.note.count++
	r.note.rules = append(r.note.rules, &rule)
	r.now.rules = append(r.now.rules, &rule)
}

// isFinal reports whether a pattern may stand in a Final line: a literal path, or /* and
// more.
func isFinal(uri string) bool {
	path := strings.TrimSuffix(uri, "$")
	rest, glob := strings.CutPrefix(path, "/*")
	return !strings.Contains(path, "*") || glob && strings.Trim(rest, "*") != ""
}
