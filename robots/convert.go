package robots

import (
	"fmt"
	"slices"
	"strings"
)

// maxConverted bounds what Convert reads, in octets: a group for many robots is
// read once for each, since each gets a group of its own.
const maxConverted = 8 * DefaultLimit

// converter writes one dialect in another.
type converter struct {
	file *File
	to   Dialect
	read int // octets of groups
	out  []byte
	lost []Diagnostic
	seen map[loss]bool
}

// loss is what is reported once, however many robots it concerns.
type loss struct {
	line int
	code string
}

// Convert writes a file in another dialect, in the shape that all known readers
// share: one User-agent line a group, the * group first. It also tells what
// could not be said. Comments are not kept. To the same dialect, and of a nil
// File, it is a copy.
//
// What is written denies no less than before, unless a diagnostic has the code
// slash, precedence or percent. Robots that the file does not name may fare otherwise,
// since 1994 and Extended look for names inside of names.
func Convert(f *File, to Dialect) (out []byte, lost []Diagnostic) {
	if f == nil || f.dialect == to {
		return f.AppendTo(nil), nil
	}
	c := converter{file: f, to: to, seen: map[loss]bool{}}
	switch {
	case to == IRCv3:
		c.token()
	case f.dialect == IRCv3:
		c.fromToken()
	default:
		c.groups()
	}
	return c.out, c.lost
}

func (c *converter) lose(line int, code, format string, args ...any) {
	if c.seen[loss{line, code}] {
		return
	}
	c.seen[loss{line, code}] = true
	c.lost = append(c.lost, Diagnostic{Line: line, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *converter) line(field, value string) {
	c.out = fmt.Appendf(c.out, "%s: %s\n", field, value)
}

// groups writes a group for each robot that the file names, and the * group.
func (c *converter) groups() {
	f := c.file
	for _, name := range f.names() {
		if c.read > maxConverted {
			c.lose(name.Line, "size", "groups of more than %d octets: those from %q on are left out", maxConverted, name.Token)
			return
		}
		rules := f.Agent(name.Token)
		if len(rules.groups) > 0 {
			c.group(name, rules)
		}
	}
	c.sitemaps()
}

// sitemaps keeps the lines that belong to no group.
func (c *converter) sitemaps() {
	for l := range c.file.Lines() {
		switch {
		case l.Kind != KindField || !strings.EqualFold(l.Field, "sitemap") || l.Value == "":
		case c.to == RFC9309 || c.to == Gopher || c.to == Veronica2:
			c.line("Sitemap", l.Value)
		default:
			c.lose(l.Number, "field", "the field %q", "sitemap")
		}
	}
}

// names lists the robots of a file, and where each is named first: * first, then
// the longest, since some readers take the first name that is part of theirs.
func (f *File) names() []Agent {
	names := []Agent{{Token: "*"}}
	seen := map[string]bool{"*": true}
	for _, r := range f.records {
		if r.kind() != KindAgent {
			continue
		}
		name := token(f.value(r))
		if f.dialect == Standard1994 || f.dialect == Extended {
			name = recordName(f.value(r))
		}
		if lower := strings.ToLower(name); name != "" && !seen[lower] {
			seen[lower] = true
			names = append(names, Agent{name, int(r.line)})
		}
	}
	slices.SortStableFunc(names[1:], func(a, b Agent) int { return len(b.Token) - len(a.Token) })
	return names
}

// converted is a rule on its way.
type converted struct {
	rule  Rule
	shape shape
}

func (c *converter) group(name Agent, r *Rules) {
	rules := c.rules(r)
	two := c.to == Extended && slices.ContainsFunc(rules, func(r converted) bool { return !r.shape.plain() })
	c.heading(name, two)
	c.precedence(name.Line, rules, two)
	before := len(c.out)
	for _, rule := range rules {
		c.rule(rule, two)
	}
	if len(c.out) == before {
		c.open()
	}
	for _, g := range r.groups {
		c.read += c.file.groupEnd(int(g)) - int(c.file.groups[g].pos)
		for _, field := range c.file.groupFields(int(g)) {
			c.field(field)
		}
	}
}

func (c *converter) heading(name Agent, two bool) {
	if c.to == GopherStrict {
		if name.Token != "*" {
			c.lose(name.Line, "agent", "a strict robot takes what is said to %q as said to all", name.Token)
		}
		return
	}
	if len(c.out) > 0 {
		c.out = append(c.out, '\n')
	}
	c.line("User-agent", name.Token)
	if two {
		c.line("Robot-version", "2.0")
	}
}

// rules gives the shapes of all rules that count.
func (c *converter) rules(r *Rules) []converted {
	f := c.file
	var all []converted
	for _, g := range r.groups {
		style := f.dialect.style(f.groups[g].version)
		for _, rec := range f.members(int(g)) {
			rule := f.rule(rec)
			if rec.kind() == KindAgent || rule.Pattern == "" || rule.Allow && !style.allow {
				continue
			}
			all = append(all, converted{rule, shapeOf(rule.Pattern, style, f.dialect.web())})
		}
	}
	return all
}

// precedence warns of patterns that grow or shrink unequally, where the longest
// decides between Allow and Disallow: the order may change.
func (c *converter) precedence(line int, rules []converted, two bool) {
	if !c.to.style(version1).allow {
		return
	}
	allow := func(r converted) bool { return r.rule.Allow }
	deny := func(r converted) bool { return !r.rule.Allow }
	if !slices.ContainsFunc(rules, allow) || !slices.ContainsFunc(rules, deny) {
		return
	}
	growth := func(r converted) int {
		p, _ := c.pattern(r, two)
		return len(p) - r.shape.octets
	}
	first := growth(rules[0])
	if slices.ContainsFunc(rules, func(r converted) bool { return growth(r) != first }) {
		c.lose(line, "precedence", "Allow and Disallow of nearly equal length may change places")
	}
}

// open writes a group that allows everything.
func (c *converter) open() {
	switch c.to {
	case GopherStrict:
	case Standard1994:
		c.line("Disallow", "")
	default:
		c.line("Allow", "/")
	}
}

func (c *converter) rule(r converted, two bool) {
	field := "Disallow"
	if r.rule.Allow {
		field = "Allow"
	}
	if r.rule.Allow && !c.to.style(version1).allow {
		c.lose(r.rule.Line, "allow", "Allow: %q cannot be said", r.rule.Pattern)
		return
	}
	p, lost := c.pattern(r, two)
	if lost != "" {
		c.lose(r.rule.Line, "pattern", "%s: %q: %s", field, r.rule.Pattern, lost)
	}
	if c.escapes(r.rule.Pattern) {
		c.lose(r.rule.Line, "percent", "%s: %q: the escapes mean other octets, or none, now", field, r.rule.Pattern)
	}
	if c.file.dialect == Veronica2 && strings.HasSuffix(r.rule.Pattern, "/") || c.to == Veronica2 && strings.HasSuffix(p, "/") {
		c.lose(r.rule.Line, "slash", "%s: %q covers the selector without its last slash to Veronica-2 only", field, r.rule.Pattern)
	}
	if p != "" {
		c.line(field, p)
	}
}

// pattern writes a pattern, and says what is lost of it.
func (c *converter) pattern(r converted, two bool) (p, lost string) {
	s := r.shape
	switch {
	case c.to == RFC9309:
		return s.rfc(), ""
	case two:
		return s.explicit(r.rule.Allow)
	case c.to == Extended || c.to == Standard1994:
		return s.prefix()
	}
	return s.gopher()
}

// escapes reports whether the pattern has escapes that one of the two dialects
// decodes and the other does not, or to RFC 9309 the beginning of any escape.
func (c *converter) escapes(p string) bool {
	raw := func(d Dialect) bool { return d == Standard1994 || d == Extended }
	from, to := c.file.dialect, c.to
	switch {
	case raw(from) && raw(to), !from.web() && !to.web():
		return false
	case (from == RFC9309 || to == RFC9309) && strings.Contains(decode(strings.ReplaceAll(p, "%25", "")), "%"):
		return true
	case from == RFC9309 && to.web():
		return false
	case from == RFC9309: // %2F is no slash there
		return string(appendNormal(nil, decode(p))) != string(appendNormal(nil, p))
	}
	return decode(p) != p
}

// field keeps what the dialect has a place for.
func (c *converter) field(f Field) {
	switch f.Name {
	case "sitemap", "robot-version":
		return
	case "crawl-delay":
		if c.to == Extended {
			c.delay(f)
			return
		}
	case "visit-time", "request-rate", "comment":
	default:
		c.lose(f.Line, "field", "the field %q", f.Name)
		return
	}
	if c.to == Standard1994 || c.to == GopherStrict {
		c.lose(f.Line, "field", "the field %q", f.Name)
		return
	}
	name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
	c.line(name, f.Value)
}

// delay writes a Crawl-delay as the rate it stands for.
func (c *converter) delay(f Field) {
	d, err := ParseCrawlDelay(f.Value)
	if err != nil || d <= 0 {
		c.lose(f.Line, "field", "the crawl delay %q", f.Value)
		return
	}
	c.line("Request-rate", Rate{Documents: 1, Per: d}.String())
}
