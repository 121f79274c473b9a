package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// note is what the annotations of one directory say.
type note struct {
	shut   *rule              // not nil: the whole directory is denied, whatever else is said
	agents map[string][]*rule // by product token in lower case, "*" among them; nil rules: all allowed
	groups map[string]string  // the name of a group, by what it says
	order  []string           // the tokens in the order they first stand in, without rules too
	sets   map[string]string  // which groups speak for a token: equal ones have equal rules
	fields []siteField
	notes  []Report
}

// What one directory may say is bounded: one that says more is denied, so that
// nobody else pays for it.
const (
	maxRules    = 10_000
	maxAgents   = 256 // robots that are named
	maxOpinions = 32  // ways in which they are treated
	maxToken    = 64  // octets of a name

	// maxPieces bounds the comparisons below a directory other than the root:
	// pieces of patterns with stars, for every resource.
	maxPieces = 16 << 20
)

// readNote reads the annotations of the directory; root is whether site-wide
// fields count there.
func readNote(annotations []*Annotation, root bool) *note {
	n := &note{agents: map[string][]*rule{}, sets: map[string]string{}, groups: map[string]string{}}
	for _, a := range annotations {
		switch {
		case a.Err != nil:
			n.shutBy(a, CodeUnreadable, fmt.Sprintf("it cannot be read: %v", a.Err))
		case len(a.Data) > maxAnnotation:
			n.shutBy(a, CodeTooLarge, "it has more than 500 KiB")
		default:
			n.read(a, root)
		}
	}
	return n
}

// shutBy denies the whole directory on account of an annotation.
func (n *note) shutBy(a *Annotation, code, why string) {
	n.shut = &rule{file: a.File, value: why}
	n.agents, n.order, n.sets = map[string][]*rule{}, nil, map[string]string{}
	n.report(a, code, 0, "the directory is denied: "+why)
}

// pieces counts what the patterns with stars have to be compared for.
func (n *note) pieces() int {
	count := 0
	for _, rules := range n.agents {
		for _, r := range rules {
			if len(r.pattern.pieces) > 1 {
				count += len(r.pattern.pieces)
			}
		}
	}
	return count
}

// costly gives the note of a directory in which there is too much to compare.
func (n *note) costly(a *Annotation) *note {
	shut := *n
	shut.notes = slices.Clone(n.notes)
	shut.shutBy(a, CodeTooLarge, "it has too many patterns with * for as many files")
	return &shut
}

func (n *note) report(a *Annotation, code string, line int, message string) {
	n.notes = append(n.notes, NewReport(code, a.File, line, message))
}

func (n *note) read(a *Annotation, root bool) {
	f := robots.Parse(robots.RFC9309, a.Data)
	for l := range f.Lines() {
		n.check(a, l, root)
	}
	rules := 0
	for _, g := range f.Groups() {
		rules += len(g.Rules)
		if rules > maxRules || len(n.order) > maxAgents {
			break
		}
		n.swallowed(a, g)
		n.group(a, g)
	}
	if rules > maxRules || len(n.order) > maxAgents || n.opinions() > maxOpinions {
		n.shutBy(a, CodeTooLarge, fmt.Sprintf("it has more than %d rules, names more than %d robots, or treats them in more than %d ways", maxRules, maxAgents, maxOpinions))
	}
}

// swallowed reports User-agent lines with fields but no rules before the next
// one: to RFC 9309 they all begin one group (R9).
func (n *note) swallowed(a *Annotation, g robots.Group) {
	fields := g.Fields
	for i, next := range g.Agents[min(1, len(g.Agents)):] {
		this := g.Agents[i]
		for len(fields) > 0 && (fields[0].Line < this.Line || fields[0].Name == "sitemap") {
			fields = fields[1:]
		}
		if len(fields) > 0 && fields[0].Line < next.Line {
			n.report(a, CodeGroupSwallowed, this.Line, fmt.Sprintf("the group of %q has no rules, so it joins that of %q in line %d", this.Token, next.Token, next.Line))
		}
	}
}

// opinions counts the ways in which robots are treated.
func (n *note) opinions() int {
	ways := map[string]bool{}
	for _, set := range n.sets {
		ways[set] = true
	}
	return len(ways)
}

// group adds the rules of a group to those of every robot it names. A group
// whose only rule is an empty Disallow still speaks for its robots, one without
// any does not.
func (n *note) group(a *Annotation, g robots.Group) {
	rules, id := rulesOf(a, g.Rules), n.groupID(g)
	for _, token := range tokens(g) {
		if _, ok := n.sets[token]; !ok {
			n.order, n.sets[token] = append(n.order, token), ""
		}
		if len(g.Rules) > 0 && !strings.HasSuffix(n.sets[token], id) {
			n.sets[token] += id
			n.agents[token] = append(n.agents[token], rules...)
		}
	}
}

// groupID names a group; groups with the same rules have the same name.
func (n *note) groupID(g robots.Group) string {
	var key strings.Builder
	for _, r := range g.Rules {
		key.WriteString(fieldOf(r.Allow) + r.Pattern + "\n")
	}
	id, ok := n.groups[key.String()]
	if !ok {
		id = fmt.Sprintf("%d ", len(n.groups))
		n.groups[key.String()] = id
	}
	return id
}

// tokens gives the robots a group is for. Rules before any User-agent are for
// all.
func tokens(g robots.Group) []string {
	if len(g.Agents) == 0 {
		return []string{"*"}
	}
	var list []string
	for _, a := range g.Agents {
		if a.Token == "*" || isToken(a.Token) {
			list = append(list, strings.ToLower(a.Token))
		}
	}
	return list
}

// isToken reports whether a name may be written as that of a group.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if isWord := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-_.", c) >= 0; !isWord {
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

func rulesOf(a *Annotation, lines []robots.Rule) []*rule {
	var rules []*rule
	for _, l := range lines {
		if l.Pattern == "" {
			continue
		}
		rules = append(rules, &rule{
			allow: l.Allow, pattern: newPattern(l.Pattern), file: a.File, line: l.Line, value: l.Pattern,
		})
	}
	return rules
}

// rulesFor gives what the directory says to a robot: its own rules, or else
// those for all.
func (n *note) rulesFor(token string) []*rule {
	if own, ok := n.agents[token]; ok {
		return own
	}
	return n.agents["*"]
}

// check reports a line without effect, and keeps site-wide fields.
func (n *note) check(a *Annotation, l robots.Line, root bool) {
	if l.Forgiven {
		n.report(a, CodeSyntax, l.Number, fmt.Sprintf("it counts as %s, but is misspelt or has no colon: %.60q", l.Kind, l.Field))
	}
	switch l.Kind {
	case robots.KindMalformed:
		n.report(a, CodeSyntax, l.Number, fmt.Sprintf("no field name and colon: %.60q", strings.TrimRight(l.Text, "\r\n")))
	case robots.KindAgent:
		if t, _, _ := strings.Cut(l.Value, "/"); l.Value != "*" && !isToken(strings.Fields(t + " ?")[0]) {
			n.report(a, CodeAgentName, l.Number, fmt.Sprintf("not the name of a robot: %.60q", l.Value))
		}
	case robots.KindField:
		n.field(a, l, root)
	}
}
