package convert

import (
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
	var l diag.List
	isSignal := func(line readers.Line) bool {
		return line.Kind == readers.KindField && strings.EqualFold(line.Field, "content-signal")
	}
	var site robots.Statement
	for line := range f.Lines() {
		if !isSignal(line) {
			continue
		}
		for _, s := range readers.ParseSignals(line.Value) {
			if !s.IsValid() || s.Category.Key == "" {
				l.Warn(line.Number, "SIGNAL", "the signal %q: Content-Usage has no word for it",
					s.Text)
				continue
			}
			preference := robots.No
			if s.Value == "yes" {
				preference = robots.Yes
			}
			site = site.Combine(robots.Statement{{Key: s.Category.Key, Preference: preference}})
		}
	}
	if site == nil {
		return rewrite(f, isSignal, nil, ""), l.All()
	}

	usage := "Content-Usage: " + site.String() + "\n"
	places := map[int]bool{}
	everybody := false
	for _, g := range f.Groups() {
		if n := len(g.Agents); n > 0 {
			places[g.Agents[n-1].Line] = true
			everybody = everybody || g.IsForAll()
		}
	}
	out = rewrite(f, isSignal, places, usage)
	if !everybody {
		out = append(endLine(out), "\nUser-agent: *\n"+usage+"Allow: /\n"...)
	}
	return out, l.All()
}

// UsageToSignals writes what the Content-Usage lines of the * group state of the
// whole site as one Content-Signal line. All other lines stay as they are. lost
// reports the rest: preferences for single paths, for single robots, and for uses
// that Content-Signal has no word for.
func UsageToSignals(f *robots.File) (out []byte, lost []diag.Diagnostic) {
	var l diag.List
	var site robots.Statement
	places := map[int]bool{}
	for _, g := range f.Groups() {
		everybody := g.IsForAll()
		if everybody && len(places) == 0 {
			places[g.Agents[len(g.Agents)-1].Line] = true
		}
		for _, u := range g.Usages {
			s, err := robots.ParseUsage(u.Value)
			switch {
			case err != nil:
				l.Warn(u.Line, "SIGNAL", "%q: it does not parse, so it says nothing", u.Value)
			case u.Pattern != "":
				l.Warn(u.Line, "SIGNAL", "%q of %q: a signal is about the whole site", u.Value,
					u.Pattern)
			case !everybody:
				l.Warn(u.Line, "SIGNAL", "%q to %q alone: a signal is for every robot", u.Value,
					agentsOf(g))
			default:
				site = site.Combine(s)
				_, missing := signalOf(s)
				missing = append(missing, readers.UnknownKeys(u.Value)...)
				for _, pair := range missing[:min(len(missing), 5)] {
					l.Warn(u.Line, "SIGNAL", "the preference %q: Content-Signal has no word for it",
						pair)
				}
			}
		}
	}
	signal, _ := signalOf(site)
	if signal == "" {
		clear(places)
	}
	isUsage := func(line readers.Line) bool { return line.Kind == readers.KindUsage }
	return rewrite(f, isUsage, places, "Content-Signal: "+signal+"\n"), l.All()
}

func agentsOf(g robots.Group) string {
	var all []string
	for _, a := range g.Agents {
		all = append(all, a.Token)
	}
	return strings.Join(all, ", ")
}

// signalOf translates preferences to the value of a Content-Signal line. lost lists those
// that it has no words for.
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

// rewrite copies a file without some lines, and inserts a text behind others, by their number.
// Control characters are percent-escaped, which does not change a pattern.
func rewrite(f *robots.File, drop func(readers.Line) bool, places map[int]bool,
	text string) (out []byte) {
	for line := range f.Lines() {
		rest := line.Text
		if drop(line) {
			rest = ""
		}
		for n := 0; len(rest) > 0; rest = rest[n:] {
			_, n = utf8.DecodeRuneInString(rest)
			if !selector.HasControl(ends.Replace(rest[:n])) {
				out = append(out, rest[:n]...)
				continue
			}
			for _, c := range []byte(rest[:n]) {
				out = selector.AppendPercent(out, c)
			}
		}
		if places[line.Number] {
			out = append(endLine(out), text...)
		}
	}
	return out
}

// endLine ends the last line of a text.
func endLine(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] != '\n' && text[n-1] != '\r' {
		return append(text, '\n')
	}
	return text
}
