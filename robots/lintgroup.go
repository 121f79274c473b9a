package robots

import (
	"slices"
	"strings"
)

// groups looks at what lines mean together.
func (l *linter) groups() {
	first := map[string]int{} // where a robot was named before
	for i, g := range l.file.groups {
		group := l.file.group(i)
		if !g.agents {
			l.loose(i, group)
		} else {
			l.agents(group, first)
			l.hollow(i, group)
			l.experiment(g, group)
		}
		l.rules(group)
	}
}

// loose looks at lines that stand outside of any group.
func (l *linter) loose(i int, g Group) {
	if len(g.Rules) == 0 || l.file.dialect == GopherStrict {
		return
	}
	line := g.Rules[0].Line
	switch {
	case l.file.dialect == Standard1994 && i > 0:
		l.warn(line, "outside", "S1", "a blank line ended the record: the rule belongs to none and is ignored")
	case l.file.dialect.web():
		l.warn(line, "outside", "R8", "a rule before any User-agent line is ignored")
	default:
		l.note(line, "outside", "R8", "a rule before any User-agent line binds everyone on Gopher, but readers after RFC 9309 ignore it")
	}
}

// agents looks at the User-agent lines of a group.
func (l *linter) agents(g Group, first map[string]int) {
	for n, a := range g.Agents {
		if n > 0 {
			l.stacked(g, n)
		}
		name := strings.ToLower(a.Token)
		if line := first[name]; line > 0 && name != "" {
			l.again(a, line)
		} else {
			first[name] = a.Line
		}
	}
}

// stacked looks at a second User-agent line of a group. With other fields
// before it, it was most likely meant to begin another one.
func (l *linter) stacked(g Group, n int) {
	a, before := g.Agents[n], g.Agents[n-1]
	// Fields are in order of lines, and there may be as many as agents.
	at, _ := slices.BinarySearchFunc(g.Fields, before.Line, func(f Field, line int) int { return f.Line - line })
	for _, field := range g.Fields[at:] {
		if field.Line > a.Line {
			break
		}
		if field.Name != "sitemap" {
			l.warn(before.Line, "swallowed", "R9", "the group of %q has no rules, so it joins that of %q in line %d", before.Token, a.Token, a.Line)
			return
		}
	}
	l.note(a.Line, "stacked", "R1", "one group for several robots: some readers see only the last User-agent line")
}

func (l *linter) again(a Agent, line int) {
	switch l.file.dialect {
	case Standard1994, Extended:
		l.warn(a.Line, "duplicate", "S3", "%q was named in line %d: robots go by the first record", a.Token, line)
	default:
		l.note(a.Line, "duplicate", "R3", "%q was named in line %d: the groups are combined", a.Token, line)
	}
}

// hollow looks for groups that say nothing.
func (l *linter) hollow(i int, g Group) {
	if len(g.Rules) > 0 {
		return
	}
	line := g.Agents[0].Line
	if l.file.dialect == Standard1994 && i+1 < len(l.file.groups) && !l.file.groups[i+1].agents {
		l.warn(line, "empty-group", "S1", "a blank line ends the record before its rules")
		return
	}
	l.note(line, "empty-group", "R1", "a group without rules: its robots may fetch everything")
}

// rules looks for rules of a group that never decide.
func (l *linter) rules(g Group) {
	seen := map[string]Rule{}
	for _, r := range g.Rules {
		pattern := r.Pattern
		if l.file.dialect == RFC9309 && !isNormalPattern(pattern) {
			pattern = normalPattern(pattern)
		}
		before, found := seen[pattern]
		switch {
		case r.Pattern == "":
			if len(g.Rules) > 1 && l.file.dialect.web() {
				l.note(r.Line, "empty", "S5", "an empty pattern beside other rules has no effect")
			}
		case !found:
			seen[pattern] = r
		case before.Allow == r.Allow:
			l.warn(r.Line, "duplicate", "R5", "the same rule as in line %d", before.Line)
		case l.file.dialect == RFC9309 || l.file.dialect == Extended:
			l.overruled(before, r)
		}
	}
}

// overruled: of equal patterns Allow wins.
func (l *linter) overruled(a, b Rule) {
	if a.Allow {
		a, b = b, a
	}
	l.warn(a.Line, "never", "R5", "the Allow in line %d has the same pattern and wins", b.Line)
}

// experiment looks for groups that Robot-version makes robots ignore.
func (l *linter) experiment(g group, shown Group) {
	if g.version == experimental {
		l.warn(shown.Agents[0].Line, "experimental", "C3", "an odd version is an experiment: the group is ignored")
	}
}
