package lint

import (
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// usages checks the Content-Usage lines of a group. Of the lines that match a path only the
// one with the longest path counts.
func (l *linter) usages(g robots.Group) {
	lines := map[string]int{} // the first line of a path
	general := 0              // the first line without a path
	var withheld []string     // the keys that it denies
	stated := map[int]robots.Statement{}
	for _, u := range g.Usages {
		s, ok := l.usage(u)
		if !ok {
			continue
		}
		stated[u.Line] = s
		pattern := readers.NormalPattern(u.Pattern)
		first, again := lines[pattern]
		switch {
		case again:
			l.Notice(u.Line, "U5-DUPLICATE",
				"the same path as in line %d: the most restrictive value of each key holds", first)
			continue
		case pattern == "":
			general = u.Line
			for _, p := range s {
				if p.Preference == robots.No {
					withheld = append(withheld, p.Key)
				}
			}
		}
		lines[pattern] = u.Line
	}
	if l.dir != "" {
		return // in an annotation other lines apply, too
	}

	// A line with a path that does not repeat an n of the line without one opens it there.
	for _, u := range g.Usages {
		for _, key := range withheld {
			if s, ok := stated[u.Line]; ok && u.Pattern != "" && s.Of(key) == robots.Unstated {
				l.Warn(u.Line, "U4-USAGE-FORGETS",
					"below %q only this line counts: %s=n of line %d does not hold there",
					u.Pattern, key, general)
			}
		}
	}
	if len(g.Usages) > 0 && len(g.Agents) > 0 && len(g.Rules) == 0 {
		l.Notice(g.Usages[0].Line, "U1-USAGE-ALONE",
			"a group with preferences and no rule: its robots may fetch everything, and no other group binds them")
	}
}

// usage checks one Content-Usage line. It returns false if the line states nothing.
func (l *linter) usage(u robots.Usage) (robots.Statement, bool) {
	s, err := robots.ParseUsage(u.Value)
	if err != nil {
		l.Error(u.Line, "U2-USAGE",
			"%q is neither a dictionary of preferences nor a path and a dictionary: the line is ignored", u.Value)
		return nil, false
	}
	if at := strings.IndexAny(u.Pattern, "*$"); l.dir != "" && at >= 0 {
		l.Error(u.Line, "U2-USAGE",
			"a path of Content-Usage has no * and no $: an n counts for %q, a y does not",
			u.Pattern[:at])
	}
	l.unaskable(u.Line, u.Pattern)
	if unknown := readers.UnknownKeys(u.Value); len(unknown) > 0 {
		l.Notice(u.Line, "U3-USAGE-KEY",
			"not in the vocabulary of %s, so robots ignore it: %.200s", readers.VocabularyChecked,
			strings.Join(unknown, ", "))
	}
	for _, p := range s {
		switch c, _ := readers.CategoryOf(p.Key); {
		case c.Instead != "":
			l.Notice(u.Line, "U3-USAGE-KEY", "%q is of an older draft: write %q, as since %s",
				p.Key, c.Instead, c.Until)
		case c.Until != "":
			l.Notice(u.Line, "U3-USAGE-KEY",
				"%q is of an older draft; the draft of %s has nothing like it", p.Key, c.Until)
		}
		if p.Preference == robots.Unstated {
			l.Warn(u.Line, "U4-USAGE-VALUE",
				"the value of %q is neither y nor n: nothing is stated", p.Key)
		}
	}
	return s, true
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
			l.Notice(line.Number, "SIGNAL-KEY", "%q is no signal: there are %s", s.Key,
				strings.Join(keys, ", "))
		case !s.IsValid():
			l.Warn(line.Number, "SIGNAL-VALUE", "%s is %q: want %s", s.Key, s.Value,
				strings.Join(s.Category.Values, " or "))
		}
	}
}
