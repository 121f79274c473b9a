// Package convert writes a robots file in another dialect, and reports the rules
// that it could not express.
//
// The codes of its diagnostics: AGENT, ALLOW, FIELD, MORE, PATTERN, PERCENT, PRECEDENCE,
// SIGNAL, SIZE, SLASH, USAGE; MORE counts those that are left out.
package convert

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// maxConverted bounds what File reads, in bytes: a group for many robots is
// read once for each, since each gets a group of its own.
const maxConverted = 8 * robots.DefaultLimit

// converter writes one dialect in another.
type converter struct {
	file *robots.File
	from readers.Reader
	to   readers.Dialect
	read int // bytes of groups
	out  []byte
	said map[string]bool // lines that the current group has
	lost diag.List
}

// File writes a file in another dialect, in the shape that all known readers
// share: one User-agent line a group, the * group first. It also reports
// what could not be expressed. Comments are not kept. If the dialect is the same,
// or f is nil, out is a copy, unless f has control characters: out never has any
// except tabs and line ends.
//
// The result denies no less than f, unless a diagnostic has the code SLASH,
// PRECEDENCE or PERCENT. Robots that the file does not name may fare otherwise,
// since 1994 and Extended look for names inside of names.
func File(f *robots.File, to readers.Dialect) (out []byte, lost []diag.Diagnostic) {
	if f == nil || f.Dialect() == to {
		text := f.AppendTo(nil)
		if !selector.HasControl(ends.Replace(string(text))) {
			return text, nil
		}
	}
	c := converter{
		file: f,
		from: f.Dialect().Reader(),
		to:   to,
		said: map[string]bool{},
	}
	c.groups()
	return c.out, c.lost.All()
}

// ends removes the control characters of a text.
var ends = strings.NewReplacer("\r", "", "\n", "", "\t", "")

// groups writes a group for each robot that the file names, and the * group: * first, then
// the longest name, since some readers take the first name that is part of theirs. (Asking the
// file for each robot would take quadratic time.)
func (c *converter) groups() {
	// List the robots, where each is named first, and the groups that bind it.
	all := []robots.Agent{{Token: "*"}}
	own := map[string][]robots.Group{"*": nil, "": nil} // by the name in lower case
	var loose []robots.Group                            // that bind everybody besides
	for _, g := range c.file.Groups() {
		if len(g.Agents) == 0 && c.from.Loose && len(g.Rules)+len(g.Usages) > 0 {
			loose = append(loose, g)
		}
		seen := map[string]bool{}
		for _, a := range g.Agents {
			name := strings.ToLower(a.Token)
			groups, known := own[name]
			if !known {
				all = append(all, a)
				own[name] = nil
			}
			if g.Version != readers.Experimental && !seen[name] &&
				(len(groups) == 0 || !c.from.First) {
				own[name] = append(groups, g)
			}
			seen[name] = true
		}
	}
	slices.SortStableFunc(all[1:], func(a, b robots.Agent) int {
		return len(b.Token) - len(a.Token)
	})

	// Write a group for each.
	for _, name := range all {
		if c.read > maxConverted {
			c.lost.Warn(name.Line, "SIZE",
				"groups of more than %d bytes: those from %q on are left out", maxConverted,
				name.Token)
			return
		}
		groups := own[strings.ToLower(name.Token)]
		if name.Token == "*" || len(groups) == 0 { // named by an experiment alone: other groups bind it
			groups = c.file.Agent(name.Token).Groups()
			c.read += c.file.Size()
		} else {
			groups = slices.Concat(loose, groups)
		}
		if len(groups) > 0 {
			c.group(name, groups)
		}
	}
	c.sitemaps()
}

// converted is a rule with its pattern in the other dialect.
type converted struct {
	rule    readers.Rule
	shape   shape
	pattern string
	lost    string // what of the pattern the dialect cannot express
}

func (c *converter) group(name robots.Agent, groups []robots.Group) {
	// Find the rules that count, and whether they need a set of Extended 2.0.
	var rules []converted
	two := false
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Pattern == "" || r.Allow && !c.from.Allow {
				continue
			}
			s := shapeOf(r.Pattern, c.from.Dialect, g.Version)
			rules = append(rules, converted{rule: r, shape: s})
			two = two || c.to == readers.Extended && !s.plain()
		}
	}

	// Patterns that grow unequally may change places where the longest decides.
	allow, deny, uneven := false, false, false
	for i := range rules {
		r := &rules[i]
		r.pattern, r.lost = c.pattern(r.shape, r.rule.Allow, two)
		allow = allow || r.rule.Allow
		deny = deny || !r.rule.Allow
		uneven = uneven || len(r.pattern)-r.shape.bytes != len(rules[0].pattern)-rules[0].shape.bytes
	}
	if c.to.Reader().Allow && allow && deny && uneven {
		c.lost.Warn(name.Line, "PRECEDENCE",
			"Allow and Disallow of nearly equal length may change places")
	}

	// Write them.
	c.heading(name, two)
	before := len(c.out)
	for _, r := range rules {
		c.rule(r)
	}
	if len(c.out) == before {
		c.open()
	}
	for _, g := range groups {
		c.read += size(g)
		for _, u := range g.Usages {
			c.usage(u)
		}
		for _, field := range g.Fields {
			c.field(field)
		}
	}
}

func (c *converter) heading(name robots.Agent, two bool) {
	if c.to == readers.GopherStrict {
		if name.Token != "*" {
			c.lost.Warn(name.Line, "AGENT",
				"a strict robot takes the rules for %q as rules for all", name.Token)
		}
		return
	}
	if len(c.out) > 0 {
		c.out = append(c.out, '\n')
	}
	clear(c.said)
	c.line("User-agent", name.Token)
	if two {
		c.line("Robot-version", "2.0")
	}
}

func (c *converter) rule(r converted) {
	field := "Disallow"
	if r.rule.Allow {
		field = "Allow"
	}
	add := func(code, why string) {
		c.lost.Warn(r.rule.Line, code, "%s: %q%s", field, r.rule.Pattern, why)
	}
	if r.rule.Allow && !c.to.Reader().Allow {
		add("ALLOW", " cannot be expressed")
		return
	}
	if r.lost != "" {
		add("PATTERN", ": "+r.lost)
	}
	if c.escapes(r.rule.Pattern) {
		add("PERCENT", ": the escapes mean other bytes, or none, now")
	}
	if c.from.Dialect == readers.Veronica2 && strings.HasSuffix(r.rule.Pattern, "/") ||
		c.to == readers.Veronica2 && strings.HasSuffix(r.pattern, "/") {
		add("SLASH", " covers the selector without its last slash to Veronica-2 only")
	}
	if r.pattern != "" {
		c.line(field, r.pattern)
	}
}

// open writes a group that allows everything.
func (c *converter) open() {
	switch c.to {
	case readers.GopherStrict:
	case readers.Standard1994, readers.Gemini:
		c.line("Disallow", "")
	default:
		c.line("Allow", "/")
	}
}

// size estimates the bytes of a group.
func size(g robots.Group) int {
	const line = len("Disallow: ")
	n := line * (len(g.Agents) + len(g.Usages))
	for _, r := range g.Rules {
		n += line + len(r.Pattern)
	}
	for _, f := range g.Fields {
		n += line + len(f.Value)
	}
	return n
}

// usage writes a preference if the dialect has Content-Usage, and can say for which path.
func (c *converter) usage(u robots.Usage) {
	said := strings.TrimSpace(u.Pattern + " " + u.Value)
	written := said
	known := c.to == readers.RFC9309 || c.to == readers.Gopher
	if known && c.from.Dialect != c.to && u.Pattern != "" {
		p, lost := c.pattern(shapeOf(u.Pattern, c.from.Dialect, readers.Version1), false, false)
		known = lost == "" && !strings.ContainsAny(p, " \t") && !c.escapes(u.Pattern)
		written = p + " " + u.Value
	}
	if !known {
		c.lost.Warn(u.Line, "USAGE", "the preference %q", said)
		return
	}
	c.line("Content-Usage", written)
}

// pattern writes a pattern; lost names what the dialect cannot express.
func (c *converter) pattern(s shape, allow, two bool) (p, lost string) {
	switch {
	case c.to == readers.RFC9309:
		return s.rfc(), ""
	case two:
		return s.explicit(allow)
	case c.to == readers.Extended || c.to == readers.Standard1994 || c.to == readers.Gemini:
		return s.prefix()
	}
	return s.gopher()
}

// escapes reports whether the pattern has escapes that only one of the two dialects decodes,
// or, if one of them is RFC 9309, a % that begins none.
func (c *converter) escapes(p string) bool {
	raw := func(d readers.Dialect) bool { return d.Web() && d != readers.RFC9309 }
	from, to := c.from.Dialect, c.to
	switch {
	case raw(from) && raw(to), !from.Web() && !to.Web():
		return false
	case (from == readers.RFC9309 || to == readers.RFC9309) &&
		strings.Contains(selector.Decoded(strings.ReplaceAll(p, "%25", "")), "%"):
		return true
	case from == readers.RFC9309 && to.Web():
		return false
	case from == readers.RFC9309: // %2F is no slash there
		return readers.NormalPath(selector.Decoded(p)) != readers.NormalPath(p)
	}
	return selector.Decoded(p) != p
}

// field writes a field if the dialect has it.
func (c *converter) field(f robots.Field) {
	isWritten := false
	switch f.Name {
	case "sitemap", "robot-version":
		return
	case "content-signal", "license":
		isWritten = c.to == readers.RFC9309 || c.to == readers.Gopher
	case "crawl-delay", "visit-time", "request-rate", "comment":
		isWritten = c.to != readers.Standard1994 && c.to != readers.GopherStrict &&
			c.to != readers.Gemini
	}
	switch {
	case !isWritten:
		c.lost.Warn(f.Line, "FIELD", "the field %q", f.Name)
	case f.Name == "crawl-delay" && c.to == readers.Extended:
		c.delay(f)
	case f.Name == "content-signal":
		c.line("Content-Signal", f.Value)
	default:
		c.line(strings.ToUpper(f.Name[:1])+f.Name[1:], f.Value)
	}
}

// delay writes a Crawl-delay as a rate.
func (c *converter) delay(f robots.Field) {
	d, err := readers.ParseCrawlDelay(f.Value)
	if err != nil || d <= 0 {
		c.lost.Warn(f.Line, "FIELD", "the crawl delay %q", f.Value)
		return
	}
	c.line("Request-rate", readers.Rate{Documents: 1, Per: d}.String())
}

// sitemaps writes the Sitemap lines, which belong to no group.
func (c *converter) sitemaps() {
	for l := range c.file.Lines() {
		switch {
		case l.Kind != readers.KindField || !strings.EqualFold(l.Field, "sitemap") || l.Value == "":
		case c.to == readers.RFC9309 || c.to == readers.Gopher || c.to == readers.Veronica2:
			c.line("Sitemap", l.Value)
		default:
			c.lost.Warn(l.Number, "FIELD", "the field %q", "sitemap")
		}
	}
}

// line writes a line, once in a group.
func (c *converter) line(field, value string) {
	line := field + ": " + string(selector.AppendClean(nil, value)) + "\n"
	if !c.said[line] {
		c.said[line] = true
		c.out = append(c.out, line...)
	}
}
