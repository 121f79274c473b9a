package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// SignalsToUsage writes the Content-Signal lines of a file, which speak for the
// whole site, as Content-Usage lines, which speak for a group: one in each. All
// other lines stay as they are. lost reports what cannot be expressed.
func SignalsToUsage(f *robots.File) (out []byte, lost []diag.Diagnostic) {
	r := rewriter{drop: map[int]bool{}, behind: map[int]string{}}
	var site robots.Statement
	for l := range f.Lines() {
		if l.Kind != readers.KindField || !strings.EqualFold(l.Field, "content-signal") {
			continue
		}
		r.drop[l.Number] = true
		usage, missing := usageOf(l.Value)
		site = site.Combine(usage)
		for _, pair := range missing {
			r.lose(l.Number, "the signal %q: Content-Usage has no word for it", pair)
		}
	}
	everybody := false
	for _, g := range f.Groups() {
		if n := len(g.Agents); n > 0 && site != nil {
			r.behind[g.Agents[n-1].Line] = "Content-Usage: " + site.String() + "\n"
			everybody = everybody || slices.ContainsFunc(g.Agents, func(a robots.Agent) bool {
				return a.Token == "*"
			})
		}
	}
	out = r.file(f)
	if site != nil && !everybody {
		if n := len(out); n > 0 && out[n-1] != '\n' {
			out = append(out, '\n')
		}
		out = fmt.Appendf(out, "\nUser-agent: *\nContent-Usage: %s\nAllow: /\n", site)
	}
	return out, r.lost
}

// usageOf translates the value of a Content-Signal line to Content-Usage:
// "search=yes, ai-train=no" is "search=y, train-ai=n". lost lists the pairs that
// Content-Usage has no words for.
func usageOf(signal string) (usage robots.Statement, lost []string) {
	for _, s := range readers.ParseSignals(signal) {
		if !s.IsValid() || s.Category.Key == "" {
			lost = append(lost, s.Text)
			continue
		}
		preference := robots.No
		if s.Value == "yes" {
			preference = robots.Yes
		}
		usage = usage.Combine(robots.Statement{{Key: s.Category.Key, Preference: preference}})
	}
	return usage, lost
}

// UsageToSignals writes what the Content-Usage lines of the * group state of the
// whole site as one Content-Signal line. All other lines stay as they are. lost
// reports the rest: preferences for single paths, for single robots, and for uses
// that Content-Signal has no word for.
func UsageToSignals(f *robots.File) (out []byte, lost []diag.Diagnostic) {
	r := rewriter{drop: map[int]bool{}, behind: map[int]string{}}
	var site robots.Statement
	place := 0
	for _, g := range f.Groups() {
		everybody := slices.ContainsFunc(g.Agents, func(a robots.Agent) bool {
			return a.Token == "*"
		})
		if everybody && place == 0 {
			place = g.Agents[len(g.Agents)-1].Line
		}
		for _, u := range g.Usages {
			r.drop[u.Line] = true
			s, err := robots.ParseUsage(u.Value)
			switch {
			case err != nil:
				r.lose(u.Line, "%q: it does not parse, so it says nothing", u.Value)
			case u.Pattern != "":
				r.lose(u.Line, "%q of %q: a signal is about the whole site", u.Value, u.Pattern)
			case !everybody:
				r.lose(u.Line, "%q to %q alone: a signal is for every robot", u.Value, agentsOf(g))
			default:
				site = site.Combine(s)
				_, missing := signalOf(s)
				missing = append(missing, readers.UnknownKeys(u.Value)...)
				for _, pair := range missing[:min(len(missing), 5)] {
					r.lose(u.Line, "the preference %q: Content-Signal has no word for it", pair)
				}
			}
		}
	}
	if signal, _ := signalOf(site); signal != "" {
		r.behind[place] = "Content-Signal: " + signal + "\n"
	}
	return r.file(f), r.lost
}

// rewriter copies a file without some lines, and inserts others after lines.
type rewriter struct {
	drop   map[int]bool
	behind map[int]string
	lost   []diag.Diagnostic
}

func (r *rewriter) lose(line int, format string, args ...any) {
	r.lost = append(r.lost, diag.Diagnostic{
		Code:     "SIGNAL",
		Severity: diag.Warning,
		Line:     line,
		Message:  fmt.Sprintf(format, args...),
	})
}

func agentsOf(g robots.Group) string {
	var all []string
	for _, a := range g.Agents {
		all = append(all, a.Token)
	}
	return strings.Join(all, ", ")
}

// signalOf is the inverse of [usageOf].
func signalOf(usage robots.Statement) (signal string, lost []string) {
	var all []string
	for _, c := range readers.Categories() {
		switch p := usage.Of(c.Key); {
		case c.Key == "" || p == robots.Unstated:
		case c.Signal == "":
			lost = append(lost, c.Key+"="+p.String())
		case p == robots.Yes:
			all = append(all, c.Signal+"=yes")
		default:
			all = append(all, c.Signal+"=no")
		}
	}
	return strings.Join(all, ", "), lost
}

func (r *rewriter) file(f *robots.File) []byte {
	var out []byte
	for l := range f.Lines() {
		if !r.drop[l.Number] {
			out = appendVisible(out, l.Text)
		}
		if text := r.behind[l.Number]; text != "" {
			if n := len(out); n > 0 && out[n-1] != '\n' && out[n-1] != '\r' {
				out = append(out, '\n')
			}
			out = append(out, text...)
		}
	}
	return out
}

// appendVisible appends a line with its control characters percent-escaped, which does not
// change a pattern.
func appendVisible(out []byte, line string) []byte {
	if !selector.HasControl(line) {
		return append(out, line...)
	}
	for n := 0; len(line) > 0; line = line[n:] {
		_, n = utf8.DecodeRuneInString(line)
		if !selector.HasControl(ends.Replace(line[:n])) {
			out = append(out, line[:n]...)
			continue
		}
		for _, c := range []byte(line[:n]) {
			out = selector.AppendPercent(out, c)
		}
	}
	return out
}
