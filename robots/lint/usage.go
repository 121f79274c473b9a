package lint

import (
	"net/url"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// usages checks the Content-Usage lines of a group. Of the lines that match a path only the
// one with the longest path counts.
func (l *linter) usages(g robots.Group) {
	lines := map[string]int{} // the first line of a path
	var general robots.Usage  // the first line without a path
	var withheld []string     // the keys that it denies
	for _, u := range g.Usages {
		s, ok := l.usage(u)
		if !ok {
			continue
		}
		pattern := readers.NormalPattern(u.Pattern)
		if first, again := lines[pattern]; again {
			l.notice(u.Line, "U5-DUPLICATE",
				"the same path as in line %d: the most restrictive value of each key holds", first)
			continue
		}
		if lines[pattern] = u.Line; pattern == "" {
			general = u
			for _, stated := range s {
				if stated.Preference == robots.No {
					withheld = append(withheld, stated.Key)
				}
			}
		}
	}
	if l.dir != "" {
		return // in an annotation other lines apply, too
	}
	for _, u := range g.Usages {
		l.forgets(u, general, withheld)
	}
	if len(g.Usages) > 0 && len(g.Agents) > 0 && len(g.Rules) == 0 {
		l.notice(g.Usages[0].Line, "U1-USAGE-ALONE",
			"a group with preferences and no rule: its robots may fetch everything, and no other group binds them")
	}
}

// usage checks one Content-Usage line. It returns false if the line states nothing.
func (l *linter) usage(u robots.Usage) (robots.Statement, bool) {
	s, err := robots.ParseUsage(u.Value)
	if err != nil {
		l.fault(u.Line, "U2-USAGE",
			"%q is neither a dictionary of preferences nor a path and a dictionary: the line is ignored", u.Value)
		return nil, false
	}
	if at := strings.IndexAny(u.Pattern, "*$"); l.dir != "" && at >= 0 {
		l.fault(u.Line, "U2-USAGE",
			"a path of Content-Usage has no * and no $: an n counts for %q, a y does not",
			u.Pattern[:at])
	}
	l.unaskable(u.Line, u.Pattern)
	switch unknown := readers.UnknownKeys(u.Value); len(unknown) {
	case 0:
	case 1:
		l.notice(u.Line, "U3-USAGE-KEY", "%q is not in the vocabulary of %s: robots ignore it",
			unknown[0], readers.VocabularyChecked)
	default:
		l.notice(u.Line, "U3-USAGE-KEY",
			"%q and %d more are not in the vocabulary of %s: robots ignore them", unknown[0],
			len(unknown)-1, readers.VocabularyChecked)
	}
	for _, p := range s {
		switch c, _ := readers.CategoryOf(p.Key); {
		case c.Instead != "":
			l.notice(u.Line, "U3-USAGE-KEY", "%q is of an older draft: write %q, as since %s",
				p.Key, c.Instead, c.Until)
		case c.Until != "":
			l.notice(u.Line, "U3-USAGE-KEY",
				"%q is of an older draft; the draft of %s has nothing like it", p.Key, c.Until)
		}
		if p.Preference == robots.Unstated {
			l.warn(u.Line, "U4-USAGE-VALUE",
				"the value of %q is neither y nor n: nothing is stated", p.Key)
		}
	}
	return s, true
}

// forgets warns if a line with a path does not repeat an n of the line without a path: the n
// does not apply below the path.
func (l *linter) forgets(u, general robots.Usage, withheld []string) {
	s, err := robots.ParseUsage(u.Value)
	if err != nil || u.Pattern == "" {
		return
	}
	for _, key := range withheld {
		if s.Of(key) == robots.Unstated {
			l.warn(u.Line, "U4-USAGE-FORGETS",
				"below %q only this line counts: %s=n of line %d does not hold there", u.Pattern,
				key, general.Line)
		}
	}
}

// signal checks the value of a Content-Signal line.
func (l *linter) signal(line readers.Line) {
	var keys []string
	for _, c := range readers.Categories() {
		if c.Signal != "" {
			keys = append(keys, c.Signal)
		}
	}
	for _, s := range readers.ParseSignals(line.Value) {
		switch {
		case s.Category.Signal == "":
			l.notice(line.Number, "SIGNAL-KEY", "%q is no signal: there are %s", s.Key,
				strings.Join(keys, ", "))
		case !s.IsValid():
			l.warn(line.Number, "SIGNAL-VALUE", "%s is %q: want %s", s.Key, s.Value,
				strings.Join(s.Category.Values, " or "))
		}
	}
}

// license checks the value of a License line (RSL 1.0).
func (l *linter) license(line readers.Line) {
	if u, err := url.Parse(line.Value); err != nil || !u.IsAbs() {
		l.warn(line.Number, "LICENSE", "%q is no absolute URL", line.Value)
	}
}
