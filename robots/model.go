package robots

import (
	"slices"
	"strings"
)

// A Model is how a program in use reads a robots file that lies on a Gopher
// server. It is told by what it compares: which lines bind it ([Reading.Rules]),
// what it makes of a pattern ([Model.Patterns]) and of a selector (Forms). A
// selector is denied if one of its forms is: of all patterns that match the form
// the one with the largest Size decides, Allow on a tie.
//
// The models are tested against decisions of the programs themselves, in
// testdata/programs.json.
type Model struct {
	Name  string // short, for tables
	Note  string // which program, and what it does
	Agent string // the one robot that reads so; "" if any may
	Forms []Form // at least one
	Typed bool   // each form also with the item type before it: "/0/p" and "0/p"
	Web   bool   // selectors are paths: the empty one is "/"

	dialect Dialect
	read    func(r *Reading, d Dialect, agent string) []Rule
	pattern func(value string, allow bool) []Pattern
	first   bool // the first rule that matches decides; its patterns have no stars
}

// Models lists the readers that are known: a strict Gopher robot, Veronica-2,
// RFC 9309 by the letter and as Google compares (each with the selector escaped
// as a URI first, and as it is), the standard of 1994, CPython's first match,
// Gemini's Kennedy, and gopher-mcp.
func Models() []Model { return slices.Clone(models) }

var models = []Model{
	{Name: "gopher-strict", Note: "Robots and Gopher (2019) by the letter: every Disallow line binds every robot",
		Forms: []Form{Raw}, dialect: GopherStrict, read: everyDenial, pattern: globs},
	{Name: "veronica2", Note: "Veronica-2, as its author documents it: Disallow only, /path/ also covers /path",
		Agent: "veronica", Forms: []Form{Raw}, dialect: Veronica2, read: denials, pattern: veronica},
	{Name: "rfc9309", Note: "RFC 9309 by the letter, selectors escaped as a URI first",
		Forms: []Form{URI}, Web: true, dialect: RFC9309, read: bound, pattern: letter},
	{Name: "rfc9309-raw", Note: "RFC 9309 by the letter, selectors as they are",
		Forms: []Form{Normal}, Web: true, dialect: RFC9309, read: bound, pattern: letter},
	{Name: "google", Note: "google/robotstxt@22b355f, selectors escaped as a URI first",
		Forms: []Form{URI}, Web: true, dialect: RFC9309, read: bound, pattern: google},
	{Name: "google-raw", Note: "google/robotstxt@22b355f, of selectors only bytes from 0x80 escaped",
		Forms: []Form{High}, Web: true, dialect: RFC9309, read: bound, pattern: google},
	{Name: "1994", Note: "A Standard for Robot Exclusion: prefixes only, records end at blank lines",
		Forms: []Form{Raw}, dialect: Standard1994, read: denials, pattern: prefix},
	{Name: "first-match", Note: "CPython 3.11 urllib.robotparser: prefixes only, the first that matches decides",
		Forms: []Form{Quoted}, Web: true, dialect: RFC9309, read: cpython, pattern: quoted, first: true},
	{Name: "gemini", Note: "Kennedy: prefixes only, its own group and the * group together",
		Forms: []Form{Raw}, dialect: RFC9309, read: together, pattern: trimmed},
	{Name: "gopher-mcp", Note: "cameronrye/gopher-mcp@43f5afc: Disallow only, with * and $; selectors with their item type and decoded, too",
		Agent: "gopher-mcp", Forms: []Form{Raw, Decoded}, Typed: true, Web: true, dialect: RFC9309, read: gopherMCP, pattern: eitherWay},
}

// First reports whether the first rule that matches decides, not the largest.
// Patterns of such a model have one piece.
func (m Model) First() bool { return m.first }

// Patterns returns what the reader compares for a value of Allow or Disallow; none
// if the line has no effect.
func (m Model) Patterns(r Rule) []Pattern { return m.pattern(r.Pattern, r.Allow) }

// Rules returns the rules that bind the named robot to one reader, in file order.
// To a reader with an Agent of its own the name is that.
func (r *Reading) Rules(m Model, agent string) []Rule {
	if m.Agent != "" {
		agent = m.Agent
	}
	return m.read(r, m.dialect, agent)
}

// Read takes a robots file for the named robot, and returns what the reader then
// makes of selectors: true if it may fetch. It takes selectors that end in a slash
// for menus, and others for texts. A question takes time in proportion to the
// rules. The function may be called by many goroutines at once.
func (m Model) Read(data []byte, agent string) func(selector string) bool {
	allows := m.ReadTyped(data, agent)
	return func(selector string) bool {
		if selector == "" || strings.HasSuffix(selector, "/") {
			return allows('1', selector)
		}
		return allows('0', selector)
	}
}

// ReadTyped is [Model.Read] for a caller that knows the item type.
func (m Model) ReadTyped(data []byte, agent string) func(typ byte, selector string) bool {
	type rule struct {
		Pattern
		allow bool
	}
	var rules []rule
	for i, r := range NewReading(data).Rules(m, agent) {
		for _, p := range m.Patterns(r) {
			if m.first {
				p.Size = -i
			}
			rules = append(rules, rule{p, r.Allow})
		}
	}
	denied := func(form string) bool {
		var best *rule
		for i := range rules {
			r := &rules[i]
			better := best == nil || r.Size > best.Size || r.Size == best.Size && r.allow && !best.allow
			if better && r.Match(form) {
				best = r
			}
		}
		return best != nil && !best.allow
	}
	return func(typ byte, selector string) bool {
		if m.Web {
			selector = pathOf(selector)
			if selector == "/robots.txt" {
				return true
			}
		}
		return !slices.ContainsFunc(m.spelt(string(typ), selector), denied)
	}
}

// spelt returns everything that the reader compares for a selector.
func (m Model) spelt(typ, selector string) []string {
	if !m.Typed {
		return []string{string(m.Forms[0].Append(nil, selector))}
	}
	selector = "/" + strings.TrimPrefix(selector, "/")
	var list []string
	for _, f := range m.Forms {
		for _, s := range []string{selector, "/" + typ + selector, typ + selector} {
			list = append(list, string(f.Append(nil, s)))
		}
	}
	return list
}
