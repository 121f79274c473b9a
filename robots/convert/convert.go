// Package convert writes a robots file in another dialect, and reports the rules
// that it could not express.
//
// The codes of its diagnostics: AGENT, ALLOW, FIELD, MORE, PATTERN, PERCENT, PRECEDENCE,
// SIGNAL, SIZE, SLASH, USAGE; MORE counts those that are left out.
package convert

import (
	"fmt"
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

// maxLost bounds the diagnostics.
const maxLost = 1000

// converter writes one dialect in another.
type converter struct {
	file *robots.File
	to   readers.Dialect
	read int // bytes of groups
	out  []byte
	said map[string]bool // lines that the current group has
	lost []diag.Diagnostic
	seen map[loss]bool
}

// loss identifies a loss, reported once for all robots that it concerns.
type loss struct {
	line int
	code string
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
		to:   to,
		said: map[string]bool{},
		seen: map[loss]bool{},
	}
	c.groups()
	return c.out, c.lost
}

// ends removes the control characters of a text.
var ends = strings.NewReplacer("\r", "", "\n", "", "\t", "")

// groups writes a group for each robot that the file names, and the * group.
func (c *converter) groups() {
	own, loose := c.named()
	for _, name := range names(c.file) {
		if c.read > maxConverted {
			c.lose(name.Line, "SIZE", "groups of more than %d bytes: those from %q on are left out",
				maxConverted, name.Token)
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

// named returns the groups that bind each robot that the file names, by its name in lower
// case, and those that bind everybody besides. (Asking the file for each robot would take
// quadratic time.)
func (c *converter) named() (own map[string][]robots.Group, loose []robots.Group) {
	row := c.file.Dialect().Reader()
	own = map[string][]robots.Group{}
	for _, g := range c.file.Groups() {
		if len(g.Agents) == 0 && row.Loose && len(g.Rules)+len(g.Usages) > 0 {
			loose = append(loose, g)
		}
		if g.Version == readers.Experimental {
			continue
		}
		seen := map[string]bool{}
		for _, a := range g.Agents {
			name := strings.ToLower(a.Token)
			if !seen[name] && (len(own[name]) == 0 || !row.First) {
				own[name] = append(own[name], g)
			}
			seen[name] = true
		}
	}
	return own, loose
}

// names lists the robots of a file, and where each is named first: * first, then
// the longest, since some readers take the first name that is part of theirs.
func names(f *robots.File) []robots.Agent {
	all := []robots.Agent{{Token: "*"}}
	seen := map[string]bool{"*": true, "": true}
	for _, g := range f.Groups() {
		for _, a := range g.Agents {
			if lower := strings.ToLower(a.Token); !seen[lower] {
				seen[lower] = true
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all[1:], func(a, b robots.Agent) int {
		return len(b.Token) - len(a.Token)
	})
	return all
}

// converted is a rule with the shape of its pattern.
type converted struct {
	rule  readers.Rule
	shape shape
}

func (c *converter) group(name robots.Agent, groups []robots.Group) {
	rules := c.rules(groups)
	two := c.to == readers.Extended && slices.ContainsFunc(rules, func(r converted) bool {
		return !r.shape.plain()
	})
	c.heading(name, two)
	c.precedence(name.Line, rules, two)
	before := len(c.out)
	for _, rule := range rules {
		c.rule(rule, two)
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

// rules returns the shapes of all rules that count.
func (c *converter) rules(groups []robots.Group) []converted {
	var all []converted
	for _, g := range groups {
		allow := c.file.Dialect().Reader().Allow
		for _, r := range g.Rules {
			if r.Pattern != "" && (!r.Allow || allow) {
				all = append(all, converted{r, shapeOf(r.Pattern, c.file.Dialect(), g.Version)})
			}
		}
	}
	return all
}

func (c *converter) heading(name robots.Agent, two bool) {
	if c.to == readers.GopherStrict {
		if name.Token != "*" {
			c.lose(name.Line, "AGENT",
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

// precedence warns if some patterns become longer than others do: where the longest decides,
// another rule may then win.
func (c *converter) precedence(line int, rules []converted, two bool) {
	if !c.to.Reader().Allow {
		return
	}
	allow := func(r converted) bool { return r.rule.Allow }
	deny := func(r converted) bool { return !r.rule.Allow }
	if !slices.ContainsFunc(rules, allow) || !slices.ContainsFunc(rules, deny) {
		return
	}
	growth := func(r converted) int {
		p, _ := c.pattern(r, two)
		return len(p) - r.shape.bytes
	}
	first := growth(rules[0])
	if slices.ContainsFunc(rules, func(r converted) bool { return growth(r) != first }) {
		c.lose(line, "PRECEDENCE", "Allow and Disallow of nearly equal length may change places")
	}
}

func (c *converter) rule(r converted, two bool) {
	field := "Disallow"
	if r.rule.Allow {
		field = "Allow"
	}
	if r.rule.Allow && !c.to.Reader().Allow {
		c.lose(r.rule.Line, "ALLOW", "Allow: %q cannot be expressed", r.rule.Pattern)
		return
	}
	p, lost := c.pattern(r, two)
	if lost != "" {
		c.lose(r.rule.Line, "PATTERN", "%s: %q: %s", field, r.rule.Pattern, lost)
	}
	if c.escapes(r.rule.Pattern) {
		c.lose(r.rule.Line, "PERCENT", "%s: %q: the escapes mean other bytes, or none, now", field,
			r.rule.Pattern)
	}
	if c.file.Dialect() == readers.Veronica2 && strings.HasSuffix(r.rule.Pattern, "/") ||
		c.to == readers.Veronica2 && strings.HasSuffix(p, "/") {
		c.lose(r.rule.Line, "SLASH",
			"%s: %q covers the selector without its last slash to Veronica-2 only", field,
			r.rule.Pattern)
	}
	if p != "" {
		c.line(field, p)
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

// usage writes a preference if the dialect has Content-Usage.
func (c *converter) usage(u robots.Usage) {
	pattern := u.Pattern
	if pattern != "" {
		pattern += " "
	}
	switch {
	case c.to != readers.RFC9309 && c.to != readers.Gopher:
		c.lose(u.Line, "USAGE", "the preference %q", pattern+u.Value)
	case c.file.Dialect() == c.to || u.Pattern == "":
		c.line("Content-Usage", pattern+u.Value)
	default:
		p, lost := c.pattern(converted{shape: shapeOf(u.Pattern, c.file.Dialect(),
			readers.Version1)}, false)
		if lost != "" || strings.ContainsAny(p, " \t") || c.escapes(u.Pattern) {
			c.lose(u.Line, "USAGE", "the preference %q", pattern+u.Value)
			return
		}
		c.line("Content-Usage", p+" "+u.Value)
	}
}

// pattern writes a pattern; lost names what the dialect cannot express.
func (c *converter) pattern(r converted, two bool) (p, lost string) {
	s := r.shape
	switch {
	case c.to == readers.RFC9309:
		return s.rfc(), ""
	case two:
		return s.explicit(r.rule.Allow)
	case c.to == readers.Extended || c.to == readers.Standard1994 || c.to == readers.Gemini:
		return s.prefix()
	}
	return s.gopher()
}

// escapes reports whether the pattern has escapes that only one of the two dialects decodes,
// or, if one of them is RFC 9309, a % that begins none.
func (c *converter) escapes(p string) bool {
	raw := func(d readers.Dialect) bool { return d.Web() && d != readers.RFC9309 }
	from, to := c.file.Dialect(), c.to
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
	switch f.Name {
	case "sitemap", "robot-version":
		return
	case "crawl-delay":
		if c.to == readers.Extended {
			c.delay(f)
			return
		}
	case "visit-time", "request-rate", "comment":
	case "content-signal", "license":
		if c.to == readers.RFC9309 || c.to == readers.Gopher {
			break
		}
		c.lose(f.Line, "FIELD", "the field %q", f.Name)
		return
	default:
		c.lose(f.Line, "FIELD", "the field %q", f.Name)
		return
	}
	if c.to == readers.Standard1994 || c.to == readers.GopherStrict || c.to == readers.Gemini {
		c.lose(f.Line, "FIELD", "the field %q", f.Name)
		return
	}
	name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
	if f.Name == "content-signal" {
		name = "Content-Signal"
	}
	c.line(name, f.Value)
}

// delay writes a Crawl-delay as a rate.
func (c *converter) delay(f robots.Field) {
	d, err := readers.ParseCrawlDelay(f.Value)
	if err != nil || d <= 0 {
		c.lose(f.Line, "FIELD", "the crawl delay %q", f.Value)
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
			c.lose(l.Number, "FIELD", "the field %q", "sitemap")
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

func (c *converter) lose(line int, code, format string, args ...any) {
	if c.seen[loss{line, code}] {
		return
	}
	if len(c.lost) >= maxLost {
		if len(c.lost) == maxLost {
			c.lost = append(c.lost, diag.Diagnostic{
				Code:     "MORE",
				Severity: diag.Warning,
				Message:  "further losses omitted",
			})
		}
		return
	}
	c.seen[loss{line, code}] = true
	c.lost = append(c.lost, diag.Diagnostic{
		Line:     line,
		Code:     code,
		Severity: diag.Warning,
		Message:  fmt.Sprintf(format, args...),
	})
}
