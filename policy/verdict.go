package policy

import (
	"slices"
	"strings"
)

// verdict is the policy of a directory and of all below for one class of robots.
// If all of it is allowed, or all denied, nothing below is written down.
type verdict struct {
	dir    *Dir
	kind   kind
	menu   *rule      // that denies the menu; of a denied directory, any rule that denies in it
	unborn *rule      // that denies a name which does not exist yet
	files  []*rule    // that deny them; parallel to dir.Files
	dirs   []*verdict // parallel to dir.Dirs
}

type kind uint8

const (
	allowed kind = iota
	denied
	mixed
)

// allAllowed is the verdict on everything that no rule denies.
var allAllowed = &verdict{}

// judge walks the tree with the policy of one robot.
type judge struct {
	index  *index
	tokens []string // the robot; a resource is denied if it is denied to one of these
	report func(Report)

	shut    map[*Dir]*rule
	pierced map[*Dir]bool // a directory in shut is in it, or is it

	kept, prev *kept // prev: nil if nothing may be taken over
	reports    int
}

// unbornName stands for a name that does not exist yet. No pattern can name it:
// no request line can carry it.
const unbornName = "\x01"

// tree gives the verdict on the whole tree.
func (j *judge) tree(root *Dir) *verdict {
	return j.dir(root, []byte("/"), "/", make([]state, len(j.tokens)))
}

// dir gives the verdict on d, whose selector is sel and, in normal form, norm.
// above is the state in the directory above it, for each token.
func (j *judge) dir(d *Dir, norm []byte, sel string, above []state) *verdict {
	if !j.index.noted[d] {
		return j.look(d, norm, sel, above)
	}
	if j.pierced[d] {
		return j.look(d, norm, sel, above)
	}
	if v := j.prev.verdict(d, norm, above); v != nil {
		j.kept.keepBelow(d, j.prev)
		return v
	}
	at, reports := string(norm), j.reports
	v := j.look(d, norm, sel, above)
	if j.reports == reports {
		j.kept.verdicts[d] = judged{at, above, v}
	}
	return v
}

// look is dir, for what is not known from before.
func (j *judge) look(d *Dir, norm []byte, sel string, above []state) *verdict {
	states := make([]state, len(above))
	quiet := !j.index.noted[d]
	for i := range above {
		own, shut := j.index.rules(d, j.tokens[i])
		if shut == nil {
			shut = j.shut[d]
		}
		if shut != nil {
			return &verdict{kind: denied, menu: shut}
		}
		states[i] = above[i].below(norm, own)
		quiet = quiet && len(states[i].live) == 0
	}
	if quiet {
		return uniform(states)
	}
	return j.children(d, norm, sel, states).settle(sel)
}

// uniform is the verdict where no rule can match anything any more.
func uniform(states []state) *verdict {
	for _, s := range states {
		if s.denies() {
			return &verdict{kind: denied, menu: s.by}
		}
	}
	return allAllowed
}

func (j *judge) children(d *Dir, norm []byte, sel string, states []state) *verdict {
	v := &verdict{
		dir: d, kind: mixed,
		menu:   denial(states, nil, norm),
		unborn: denial(states, nil, append(norm, unbornName...)),
		files:  make([]*rule, len(d.Files)),
		dirs:   make([]*verdict, len(d.Dirs)),
	}
	found := finders(states, norm, len(d.Files))
	for i, name := range d.Files {
		if !skipped(sel, name) {
			v.files[i] = denial(states, found, appendNormal(norm, name))
		}
	}
	for i, sub := range d.Dirs {
		if v.dirs[i] = allAllowed; speakable(sub.Name) {
			below := append(appendNormal(norm, sub.Name), '/')
			v.dirs[i] = j.dir(sub, below, sel+sub.Name+"/", states)
		}
	}
	j.collide(v, sel)
	return v
}

// denial gives a rule that denies sel to one of the robots. For names in a
// directory there may be finders.
func denial(states []state, found []*finder, sel []byte) *rule {
	for i := range states {
		var by *rule
		if found != nil && found[i] != nil {
			by = found[i].decide(sel)
		} else {
			by = states[i].decide(sel)
		}
		if by != nil && !by.allow {
			return by
		}
	}
	return nil
}

// settle finds out whether the directory is all allowed or all denied.
func (v *verdict) settle(sel string) *verdict {
	some, all := v.menu != nil, v.menu != nil
	for i, f := range v.files {
		if skipped(sel, v.dir.Files[i]) {
			continue
		}
		some, all = some || f != nil, all && f != nil
	}
	for i, d := range v.dirs {
		if !speakable(v.dir.Dirs[i].Name) {
			continue
		}
		some, all = some || d.kind != allowed, all && d.kind == denied
	}
	switch {
	case !some:
		return allAllowed
	case all:
		return &verdict{kind: denied, menu: v.menu}
	}
	return v
}

// collide treats names that are one to a reader which decodes percent escapes:
// unless all of them are allowed, all are denied.
func (j *judge) collide(v *verdict, sel string) {
	names := v.names()
	if !slices.ContainsFunc(names, func(n entry) bool { return strings.Contains(n.name, "%") }) {
		return
	}
	same := map[string][]entry{}
	for _, n := range names {
		form := normal(n.name)
		same[form] = append(same[form], n)
	}
	for _, n := range names {
		list := same[normal(n.name)]
		if len(list) < 2 || list[0] != n {
			continue
		}
		if by := v.anyDenied(list); by != nil {
			v.denyAll(list, by)
			j.reports++
			j.report(collision(list, by, sel))
		}
	}
}

func (v *verdict) anyDenied(list []entry) *rule {
	for _, n := range list {
		if by := v.denial(n); by != nil {
			return by
		}
	}
	return nil
}

func (v *verdict) denyAll(list []entry, by *rule) {
	for _, n := range list {
		if n.dir {
			v.dirs[n.i] = &verdict{kind: denied, menu: by}
		} else {
			v.files[n.i] = by
		}
	}
}

func collision(list []entry, by *rule, sel string) Report {
	r := NewReport(CodeNameCollision, by.file, by.line, "names that are one to readers which decode percent escapes are denied together")
	r.Selector = sel + list[0].name
	for _, n := range list {
		r.Victims = append(r.Victims, sel+n.name)
	}
	return r
}

// entry is a file or a directory in a verdict.
type entry struct {
	name string
	dir  bool
	i    int // in dir.Files or dir.Dirs
}

// names lists the entries that can be asked for, files first.
func (v *verdict) names() []entry {
	list := make([]entry, 0, len(v.files)+len(v.dirs))
	for i, name := range v.dir.Files {
		if speakable(name) {
			list = append(list, entry{name, false, i})
		}
	}
	for i, d := range v.dir.Dirs {
		if speakable(d.Name) {
			list = append(list, entry{d.Name, true, i})
		}
	}
	return list
}

// kind of an entry.
func (v *verdict) kindOf(n entry) kind {
	switch {
	case n.dir:
		return v.dirs[n.i].kind
	case v.files[n.i] != nil:
		return denied
	}
	return allowed
}

// denial gives a rule that denies the entry, or something in it.
func (v *verdict) denial(n entry) *rule {
	if !n.dir {
		return v.files[n.i]
	}
	d := v.dirs[n.i]
	if d.kind != mixed || d.menu != nil {
		return d.menu
	}
	return d.anyDenied(d.names())
}
