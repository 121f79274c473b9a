package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// A leak that the proof finds has a reason if it follows from the rule and the reader
// alone that no file could tell the reader better, or from the name, or from an Allow
// that the reader takes for more than it says. What has none is a fault of the
// compiler.

// The readers that cannot be told some things, by their names in readers.All.
var (
	withoutStar = []string{"1994", "first-match", "gemini"}
	asGopher    = []string{"gopher-strict", "veronica2"}
	asRaw       = []string{"gopher-mcp", "rfc9309-raw", "google-raw"}
	unescaped   = slices.Concat(withoutStar, asRaw)
)

// explain reports a leak with the reason of each example; it returns none if one has no
// reason.
func (w *work) explain(f proof.Finding) (list []Report) {
	g, rules := w.groupOf(f.Robot), w.rulesOf(f)
	for _, sel := range f.Examples {
		r, ok := w.byRule(g, rules, f.Reader, sel)
		if !ok {
			r, ok = w.byAllow(f.Reader, sel)
		}
		if !ok {
			r, ok = byName(f, sel)
		}
		if !ok {
			return nil
		}
		r.Readers, r.Leaks = union(r.Readers, []string{f.Reader}), []string{sel}
		list = append(list, r)
	}
	return list
}

// byRule reports that a reader cannot be told one of the rules, and who cannot be told it
// for the same reason.
func (w *work) byRule(g *group, rules []*rule, reader, sel string) (Report, bool) {
	for _, r := range rules {
		for i := g.from(r.uri); i < len(g.entries) && g.entries[i].uri == r.uri; i++ {
			if report, ok := w.untold(g, &g.entries[i], reader, sel); ok {
				return report, true
			}
		}
	}
	return Report{}, false
}

// untold reports that a reader cannot be told what an entry denies.
func (w *work) untold(g *group, e *entry, reader, sel string) (report Report, ok bool) {
	code, message := w.reason(g, e, reader, sel)
	if code == "" || e.allow || e.dropped {
		return report, false
	}
	report = NewReport(code, e.file, e.line, message)
	if report.Selector = e.uri; e.file == "" { // nobody's line
		report.Severity, report.Hint = diag.Notice, ""
		report.Message += ": " + e.value + " is what programs answer"
	}
	if g != w.groups[0] {
		report.Message += " (for " + strings.Join(g.names, ", ") + ")"
	}
	for _, m := range readers.All() { // which names to come may let in, too
		if same, _ := w.reason(g, e, m.Name, "/"); same == code && (m.Agent == "" || w.groupOf(m.Agent) == g) {
			report.Readers = append(report.Readers, m.Name)
		}
	}
	return report, true
}

// opened reports entries of which an Allow may open some names to a reader that goes by
// the first rule that it understands. To find such a name the proof would have to put
// each Allow and each pattern together.
func (w *work) opened(g *group) (list []Report) {
	for i := range g.entries {
		e := &g.entries[i]
		if r, ok := w.untold(g, e, "first-match", "/"); ok && g.opensBelow(headOf(e.uri), e.uri) {
			list = append(list, r)
		}
	}
	return list
}

// opensBelow reports whether a literal Allow that begins with head may open something
// that a pattern matches.
func (g *group) opensBelow(head, uri string) bool {
	const most = 1000 // entries that are looked at: what has more is reported
	for n, o := range g.entries[g.from(head):] {
		switch {
		case !strings.HasPrefix(o.uri, head):
			return false
		case n == most || o.allow && !o.dropped && isLiteral(o.uri) && mayMeet(o.uri, uri):
			return true
		}
	}
	return false
}

// rulesOf returns the rules of the line that a finding is about: one with an escape has
// two meanings, and what programs answer has no line.
func (w *work) rulesOf(f proof.Finding) []*rule {
	n := w.c.nodes.find(f.Dir)
	switch {
	case n != nil && w.denied[n] != nil:
		return []*rule{w.denied[n]}
	case f.File == "" || n == nil || n.note == nil:
		return w.programs
	case n.note.shut != nil:
		return []*rule{n.note.shut}
	}
	return slices.DeleteFunc(slices.Clone(n.note.lines), func(r *rule) bool { return r.file != f.File || r.line != f.Line })
}

// groupOf returns the group that a robot takes.
func (w *work) groupOf(token string) *group {
	if g := w.named[token]; g != nil {
		return g
	}
	return w.groups[0]
}

// from is the place of the first entry that does not come before a pattern.
func (g *group) from(uri string) int {
	i, _ := slices.BinarySearchFunc(g.entries, uri, func(e entry, uri string) int { return compareHeads(e.uri, uri) })
	return i
}

// reason says why a reader cannot be told that an entry denies a selector: "" if it can.
func (w *work) reason(g *group, e *entry, reader, sel string) (code, message string) {
	_, isPrefix := e.prefix()
	glob := strings.Contains(e.uri, "*") && !isPrefix
	is := func(readers []string) bool { return slices.Contains(readers, reader) }
	cannot := is(unescaped)
	if is(asGopher) {
		// Of a rule for one robot they see no weak form, nor of one that is not for
		// Veronica where she has a group; and without its slash some say too much.
		alone := g.token() != veronica && (g != w.groups[0] || w.groupOf(veronica) != g)
		weak, slashed := e.isWeak(), isSlashed(e.weakText())
		cannot = weak && (alone || slashed) || alone && slashed
	}
	switch {
	case !cannot:
	case e.odd || strings.HasPrefix(e.raw, "/ "):
		return CodeName, "the name cannot be written for all readers"
	case is(asRaw):
	case glob && e.isWeak():
		return CodeGlob, "not every reader knows * and $"
	case glob:
		return CodeGlob, "not every reader knows *"
	case e.isWeak() && !e.tie:
		return CodeAnchor, "not every reader knows $"
	}
	if (is(unescaped) || is(asGopher)) && !strings.HasPrefix(sel, "/") && matches(e.uri, "/") {
		return CodeRootMenu, "not every reader can be told of selectors without a slash, such as the empty one"
	}
	return "", ""
}

// byName reports a name that holds syntax, to a reader that does not escape it as it
// should: to readers that take selectors as they are "a:b" is a URL, "a?b" a query, and
// "%41" an A.
func byName(f proof.Finding, sel string) (Report, bool) {
	r := NewReport(CodeName, f.File, f.Line, "readers that do not escape names do not understand all that it denies")
	r.Severity = diag.Notice
	switch {
	case slices.Contains(asGopher, f.Reader): // to them these alone are syntax
		return r, strings.ContainsAny(sel, "*#$")
	case slices.Contains(unescaped, f.Reader):
		return r, strings.Trim(sel, plainName) != ""
	}
	return r, false
}

const plainName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"

// byAllow reports an Allow that says more to a reader than to others: Google takes one of
// an index.html for its directory, too, and readers that take selectors as they are one
// of a name for that which is spelt as its escapes.
func (w *work) byAllow(reader, sel string) (Report, bool) {
	sel = "/" + strings.TrimPrefix(sel, "/")
	spelt, _ := unescape(sel)
	for _, g := range w.groups {
		for i := range g.entries {
			e := &g.entries[i]
			if !e.allow || e.dropped {
				continue
			}
			if spelt != sel && slices.Contains(unescaped, reader) && matches(e.uri, escape(spelt)) {
				return NewReport(CodeEscaped, e.file, e.line, "it opens a name that is spelt with the escapes, too"), true
			}
			if reader == "first-match" && opensFirst(e, sel) {
				return NewReport(CodeEscaped, e.file, e.line, "CPython's reader goes by the first rule that matches, and drops a blank, # ? or ; at an end, though they are escaped"), true
			}
			if dir, ok := indexOf(e.uri); ok && strings.HasPrefix(reader, "google") && matches(dir+"$", strings.TrimSuffix(escape(sel), "/")+"/") {
				return NewReport(CodeIndex, e.file, e.line, "Google takes it for the directory, too"), true
			}
		}
	}
	return Report{}, false
}

// opensFirst reports whether an Allow matches a selector as CPython's reader takes
// it, which goes by the first rule that matches and drops a blank at the beginning
// and # ? ; with nothing behind.
func opensFirst(e *entry, sel string) bool {
	i := slices.IndexFunc(readers.All(), func(m readers.Reader) bool { return m.Choice == readers.FirstMatch })
	m := readers.All()[i]
	form := string(readers.Quoted.Append(nil, sel))
	return slices.ContainsFunc([]string{e.uri, e.raw, e.uri[1:]}, func(text string) bool {
		return strings.HasPrefix(strings.TrimPrefix(form, "/"), strings.TrimPrefix(m.Patterns(robots.Rule{Pattern: text})[0].Pieces[0], "/"))
	})
}

// indexOf returns the directory that an Allow of its index.html opens to Google: of
// everything behind the last slash that begins so.
func indexOf(uri string) (dir string, ok bool) {
	dir = uri[:strings.LastIndexByte(uri, '/')+1]
	return dir, strings.HasPrefix(uri[len(dir):], "index.htm")
}

// notices tells of rules that hold, but perhaps not as their author thinks.
func (g *group) notices() (list []Report) {
	opens := slices.ContainsFunc(g.entries, func(e entry) bool { return e.allow && !e.dropped })
	for i := range g.entries {
		e := &g.entries[i]
		if by := g.overruled(e); by != nil {
			r := NewReport(CodeOverruled, e.file, e.line, fmt.Sprintf("%s:%d allows some of what it denies", by.file, by.line))
			r.Selector = by.uri
			list = append(list, r)
		}
		if opens && !e.allow && !e.dropped && e.uri == "/" {
			r := NewReport(CodeVeronicaHost, e.file, e.line, "Veronica-2 leaves out hosts that deny /")
			r.Selector = e.uri
			list = append(list, r)
		}
	}
	return list
}

// overruled returns an Allow of an annotation below that opens some of what a rule
// of the root denies to all.
func (g *group) overruled(e *entry) *rule {
	if e.allow || e.owner != "" || e.strong || e.pad > 0 || g.names[0] != "*" || !isLiteral(e.uri) {
		return nil
	}
	for _, o := range g.entries[g.from(e.uri):] {
		if !strings.HasPrefix(o.uri, e.uri) {
			break
		}
		if o.allow && !o.dropped && o.owner != "" {
			return o.rule
		}
	}
	return nil
}
