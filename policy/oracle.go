package policy

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// oracle is the policy a second time, for the proof: each annotation on the way
// to a resource is asked for itself, by the matcher of package robots, and the
// longest pattern decides.
type oracle struct {
	index *index
	token string
	rules map[oracleKey]*robots.Rules // shared by all robots
}

type oracleKey struct {
	note  *note
	token string
}

func newOracle(x *index) oracle {
	return oracle{index: x, rules: map[oracleKey]*robots.Rules{}}
}

// view is the annotations on the way to a directory.
type view []opinion

// opinion is what one of them says.
type opinion struct {
	note  *note
	rules *robots.Rules // nil: it says nothing to this robot

	start int // where the selector goes on below its directory
	size  int // octets of the directory's selector, as it is compared
}

// enter adds the annotation of a directory, if it has one.
func (o oracle) enter(d *Dir, sel string, above view) view {
	n := o.index.notes[d]
	if n == nil {
		return above
	}
	op := opinion{note: n, start: len(sel) - 1, size: comparedSize(sel[:len(sel)-1])}
	if n.shut == nil {
		op.rules = o.rulesOf(n)
	}
	return append(above[:len(above):len(above)], op)
}

// rulesOf reads an annotation as a robots.txt. It is nil if nothing in it is for
// this robot.
func (o oracle) rulesOf(n *note) *robots.Rules {
	key := oracleKey{n, o.token}
	if _, ok := n.agents[o.token]; !ok {
		key.token = "*"
	}
	rules, ok := o.rules[key]
	if !ok {
		rules = asRobotsFile(n.agents[key.token])
		o.rules[key] = rules
	}
	return rules
}

func asRobotsFile(list []*rule) *robots.Rules {
	if len(list) == 0 {
		return nil
	}
	text := []byte("User-agent: *\n")
	for _, r := range list {
		text = append(text, fieldOf(r.allow)...)
		if r.value[0] != '/' && r.value[0] != '*' {
			text = append(text, '/')
		}
		text = append(append(text, r.value...), '\n')
	}
	return robots.Parse(robots.RFC9309, text).Agent("*")
}

// names reports whether some annotation names the robot.
func (v view) names(token string) bool {
	return slices.ContainsFunc(v, func(op opinion) bool { _, ok := op.note.agents[token]; return ok })
}

// denies reports whether the policy denies a resource, given by its canonical
// selector.
func (v view) denies(sel string) bool {
	denied, size := false, -1
	for _, op := range v {
		if op.note.shut != nil {
			return true
		}
		if op.rules == nil {
			continue
		}
		d := op.rules.Decide(below(sel[op.start:]))
		if n := op.size + len(d.Pattern); d.Rule.Line > 0 && (n > size || n == size && d.Allowed) {
			denied, size = !d.Allowed, n
		}
	}
	return denied
}

// below spells a selector so that it is not taken for the robots.txt of a site,
// which is always allowed, where it is that of a directory.
func below(sel string) string {
	if sel == "/robots.txt" {
		return "/robots%2Etxt"
	}
	return sel
}

// comparedSize is how many octets a selector has when it is compared (R6).
func comparedSize(sel string) int {
	size := 0
	for i := 0; i < len(sel); i++ {
		c, coded := sel[i], false
		if c == '%' {
			if v, ok := escaped(sel[i:]); ok {
				c, coded, i = v, true, i+2
			}
		}
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
		if letter || !coded && strings.IndexByte(":/?[]@!&'()+,;=%", c) >= 0 {
			size++
		} else {
			size += 3
		}
	}
	return size
}
