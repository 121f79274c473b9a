package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// group checks the lines of one group together.
func (l *linter) group(i int, g robots.Group) {
	if len(g.Agents) == 0 {
		l.outside(i, g)
	} else {
		l.agents(g)
		l.empty(i, g)
		l.purposes(g)
		if g.Version == readers.Experimental {
			l.Warn(g.Agents[0].Line, "C3-EXPERIMENTAL",
				"an odd version marks an experiment: the group is ignored")
		}
	}
	l.rules(g)
	l.usages(g)
}

// outside reports rules before the first User-agent line, or after a blank line that ended a
// record.
func (l *linter) outside(i int, g robots.Group) {
	if len(g.Rules) == 0 || l.dir != "" || l.dialect == readers.GopherStrict {
		return
	}
	line := g.Rules[0].Line
	switch {
	case l.dialect == readers.Standard1994 && i > 0:
		l.Warn(line, "S1-OUTSIDE",
			"a blank line ended the record: the rule belongs to none and is ignored")
	case l.dialect.Web():
		l.Warn(line, "R8-OUTSIDE", "a rule before any User-agent line is ignored")
	default:
		l.Notice(line, "R8-OUTSIDE",
			"a rule before any User-agent line binds everyone on Gopher, but readers that follow RFC 9309 ignore it")
	}
}

// agents checks the User-agent lines of a group.
func (l *linter) agents(g robots.Group) {
	whole := map[string]bool{} // names with a line of their own
	for _, a := range g.Agents {
		whole[strings.ToLower(a.Token)] = whole[strings.ToLower(a.Token)] || l.cut[a.Line] == ""
	}
	for n, a := range g.Agents {
		if n > 0 {
			l.stacked(g, n)
		}
		name := strings.ToLower(a.Token)
		if value := l.cut[a.Line]; value != "" && whole[name] {
			continue // for readers that compare all of it
		} else if value != "" {
			l.Notice(a.Line, "R3-AGENT", "only %q of %q is compared", a.Token, value)
		}
		if line := l.named[name]; line > 0 && name != "" {
			l.duplicate(a, line)
		} else {
			l.unreached(a)
			l.named[name] = a.Line
		}
	}
}

// unreached warns of a record behind one whose name is a part of its own: robots that take
// the first record that fits (1994 and Extended) never reach it.
func (l *linter) unreached(a robots.Agent) {
	if l.dialect.Reader().Names != readers.Part || len(l.named) > diag.MaxFound {
		return
	}
	name := strings.ToLower(a.Token)
	part, line := "", 0
	for earlier, at := range l.named {
		if earlier != "*" && earlier != "" && strings.Contains(name, earlier) &&
			(line == 0 || at < line) {
			part, line = earlier, at
		}
	}
	if line > 0 {
		l.Warn(a.Line, "S3-UNREACHED",
			"a robot that goes by the first record that fits never reaches %q: %q in line %d is a part of the name; put this record first", a.Token, part, line)
	}
}

// stacked warns of a User-agent line that joins the group before it, although other fields or
// a blank line separate the two: it was most likely meant to begin a group.
func (l *linter) stacked(g robots.Group, n int) {
	a, before := g.Agents[n], g.Agents[n-1]
	// Fields are in order of lines, and there may be as many as agents.
	isApart := l.apart[a.Line]
	at, _ := slices.BinarySearchFunc(g.Fields, before.Line, func(f robots.Field, line int) int {
		return f.Line - line
	})
	for _, field := range g.Fields[at:] {
		if isApart || field.Line > a.Line {
			break
		}
		isApart = field.Name != "sitemap"
	}
	if !isApart {
		return
	}

	// It is an error if that denies everything to every robot.
	message := fmt.Sprintf("the group of %q has no rules, so it joins %q in line %d", before.Token,
		a.Token, a.Line)
	joined := robots.Group{Agents: g.Agents[:n]}
	if !joined.IsForAll() || !slices.ContainsFunc(g.Rules, func(r readers.Rule) bool {
		return !r.Allow && r.Pattern == "/"
	}) {
		l.Warn(before.Line, "R9-SWALLOWED", "%s", message)
		return
	}
	closed := "the whole site"
	if len(l.dir) > 1 {
		closed = strings.Trim(l.dir, "/")
	}
	l.Error(before.Line, "R9-SWALLOWED", "%s: this closes %s to every robot", message, closed)
}

// purposes reports names of purposes, such as search, in place of a robot's.
func (l *linter) purposes(g robots.Group) {
	if l.dialect.Reader().Names != readers.Token {
		return
	}
	denies := slices.ContainsFunc(g.Rules, func(r readers.Rule) bool {
		return !r.Allow && r.Pattern != ""
	})
	for _, a := range g.Agents {
		name := strings.ToLower(a.Token)
		isUse := slices.ContainsFunc(readers.Categories(), func(c readers.Category) bool {
			return (name == c.Key || name == c.Signal) && c.Key != "" && c.Until == ""
		})
		switch {
		case !isUse && !slices.Contains(robots.VirtualAgents(), name):
		case !denies && len(g.Rules) > 0:
			l.Warn(a.Line, "PURPOSE",
				"%q is a purpose, not a robot: robots with it obey the group of their name, or of *, too, so this group opens nothing to them", a.Token)
		case isUse:
			l.Notice(a.Line, "PURPOSE",
				"%q is a purpose, not a robot: robots that know purpose tokens obey this group besides their own; to others it says nothing", a.Token)
		}
	}
}

// duplicate reports a robot that a group above names, too.
func (l *linter) duplicate(a robots.Agent, line int) {
	switch l.dialect {
	case readers.Standard1994, readers.Extended:
		l.Warn(a.Line, "S3-DUPLICATE",
			"%q was named in line %d: robots go by the first record", a.Token, line)
	default:
		l.Notice(a.Line, "R3-DUPLICATE",
			"%q was named in line %d: the groups are combined", a.Token, line)
	}
}

// empty reports a group without rules.
func (l *linter) empty(i int, g robots.Group) {
	if len(g.Rules)+len(g.Usages) > 0 {
		return
	}
	line := g.Agents[0].Line
	if l.dir != "" {
		if len(g.Fields) == 0 {
			l.Notice(line, "R1-EMPTY-GROUP",
				"a group without rules: its robots go by the lines for everybody")
		}
		return
	}
	if l.dialect == readers.Standard1994 && i+1 < len(l.groups) &&
		len(l.groups[i+1].Agents) == 0 {
		l.Warn(line, "S1-EMPTY-GROUP", "a blank line ends the record before its rules")
		return
	}
	l.Notice(line, "R1-EMPTY-GROUP", "a group without rules: its robots may fetch everything")
}

// rules reports the rules of a group that never decide.
func (l *linter) rules(g robots.Group) {
	normal := func(pattern string) string { return pattern }
	if l.dialect == readers.RFC9309 {
		normal = readers.NormalPattern
	}
	type said struct {
		pattern string
		allow   bool
	}
	seen := map[said]readers.Rule{}
	for _, r := range g.Rules {
		pattern := normal(r.Pattern)
		same, twice := seen[said{pattern, r.Allow}]
		other, both := seen[said{pattern, !r.Allow}]
		switch {
		case r.Pattern == "":
			if len(g.Rules) > 1 && l.dialect.Web() {
				l.Notice(r.Line, "S5-EMPTY", "an empty pattern beside other rules has no effect")
			}
			continue
		case twice && (hasRaw(same.Pattern) != hasRaw(r.Pattern)): // one is for readers that escape nothing
		case twice && same.Pattern != r.Pattern:
			l.Notice(r.Line, "R5-DUPLICATE",
				"the same rule as in line %d, to readers that compare escapes", same.Line)
		case twice:
			l.Warn(r.Line, "R5-DUPLICATE", "the same rule as in line %d", same.Line)
		case both && (l.dialect == readers.RFC9309 || l.dialect == readers.Extended):
			_, end := seen[said{pattern + "$", false}]
			l.overruled(other, r, end)
		}
		if !twice {
			seen[said{pattern, r.Allow}] = r
		}
	}
	l.everything(g)
	for _, r := range g.Rules {
		// A file for Gopher may state each rule without its slash, too.
		if _, twin := seen[said{normal("/" + r.Pattern), r.Allow}]; l.noPath(r.Pattern) &&
			!twin && l.dir == "" {
			l.Warn(r.Line, "R5-NEVER",
				"the pattern %q can match nothing: paths begin with a slash", r.Pattern)
		}
	}
}

// hasRaw reports whether a pattern has bytes that readers escape before they compare.
func hasRaw(pattern string) bool {
	return !readers.Plain(strings.NewReplacer("%", "", "*", "", "$", "").Replace(pattern))
}

// everything reports an Allow and a Disallow that both match every path: only the longer one
// has an effect, or the Allow if they are equally long.
func (l *linter) everything(g robots.Group) {
	if l.dialect != readers.RFC9309 {
		return
	}
	var open, shut readers.Rule
	for _, r := range g.Rules {
		if strings.Trim(strings.TrimPrefix(r.Pattern, "/"), "*") == "" && r.Pattern != "" {
			best := &shut
			if r.Allow {
				best = &open
			}
			if len(r.Pattern) > len(best.Pattern) {
				*best = r
			}
		}
	}
	switch {
	case open.Line == 0 || shut.Line == 0 || open.Pattern == shut.Pattern: // the same pattern is reported elsewhere
	case len(open.Pattern) >= len(shut.Pattern):
		l.Warn(shut.Line, "R5-NEVER",
			"Disallow: %s has no effect: Allow: %s in line %d covers every path, too, and wins",
			shut.Pattern, open.Pattern, open.Line)
	default:
		l.Warn(open.Line, "R5-NEVER",
			"Allow: %s has no effect: Disallow: %s in line %d covers every path, too, and is longer", open.Pattern, shut.Pattern, shut.Line)
	}
}

// noPath reports whether a pattern matches no path, since it begins with neither a slash nor
// a star.
func (l *linter) noPath(pattern string) bool {
	return l.dialect.Web() && pattern != "" && pattern[0] != '/' && pattern[0] != '*'
}

// overruled reports a Disallow with the pattern of an Allow, which wins. If the pattern with
// $ is denied as well, the Disallow is for readers that know neither Allow nor $.
func (l *linter) overruled(a, b readers.Rule, end bool) {
	if a.Allow {
		a, b = b, a
	}
	if end {
		l.Notice(a.Line, "R5-NEVER",
			"the Allow in line %d has the same pattern and wins, with readers that know Allow", b.Line)
		return
	}
	l.Warn(a.Line, "R5-NEVER", "the Allow in line %d has the same pattern and wins", b.Line)
}
