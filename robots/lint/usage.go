package lint

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// Vocabulary is the date of the list of keys that Content-Usage lines are held
// against: that of draft-ietf-aipref-vocab.
const Vocabulary = "2026-08-19"

// usageKeys are the keys of the vocabulary. Older drafts had others, of which
// some files are full.
var (
	usageKeys = map[string]bool{"train-ai": true, "search": true}
	oldKeys   = map[string]string{"ai": "train-ai", "ai-use": "", "train-genai": "train-ai", "genai": "train-ai", "tdm": "", "bots": ""}
)

// signalKeys are the keys of Content-Signal (Cloudflare, 2025-09).
var signalKeys = map[string]bool{"search": true, "ai-input": true, "ai-train": true}

// usages looks at the Content-Usage lines of a group. The one with the longest
// path is the only one that counts.
func (l *linter) usages(g robots.Group) {
	lines := map[string]int{} // the first line of a path
	var general robots.Usage  // the first line without a path
	var withheld []string     // the keys that it denies
	for _, u := range g.Usages {
		s, ok := l.usage(u)
		if !ok {
			continue
		}
		pattern := robots.NormalPattern(u.Pattern)
		if first, again := lines[pattern]; again {
			l.notice(u.Line, "U5-DUPLICATE", "the same path as in line %d: the most restrictive value of each key holds", first)
			continue
		}
		if lines[pattern] = u.Line; pattern == "" {
			general = u
			for key := range usageKeys {
				if s.Of(key) == robots.No {
					withheld = append(withheld, key)
				}
			}
			slices.Sort(withheld)
		}
	}
	for _, u := range g.Usages {
		l.forgets(u, general, withheld)
	}
	if len(g.Usages) > 0 && len(g.Agents) > 0 && len(g.Rules) == 0 {
		l.notice(g.Usages[0].Line, "U1-USAGE-ALONE", "a group of preferences alone: its robots may fetch everything, what other groups say does not bind them")
	}
}

// usage looks at one Content-Usage line, and reports whether it is a rule.
func (l *linter) usage(u robots.Usage) (robots.Statement, bool) {
	s, err := robots.ParseUsage(u.Value)
	if err != nil {
		l.warn(u.Line, "U2-USAGE", "%q is neither a dictionary of preferences nor a path and a dictionary: the line is ignored", u.Value)
		return nil, false
	}
	for _, p := range s {
		newer, old := oldKeys[p.Key]
		switch {
		case old && newer != "":
			l.notice(u.Line, "U3-USAGE-KEY", "%q is of an older draft: the vocabulary of %s says %q", p.Key, Vocabulary, newer)
		case old:
			l.notice(u.Line, "U3-USAGE-KEY", "%q is of an older draft: the vocabulary of %s has nothing like it", p.Key, Vocabulary)
		case !usageKeys[p.Key]:
			l.notice(u.Line, "U3-USAGE-KEY", "%q is not in the vocabulary of %s", p.Key, Vocabulary)
		}
		if p.Preference == robots.Unstated {
			l.warn(u.Line, "U4-USAGE-VALUE", "the value of %q is neither y nor n: nothing is stated", p.Key)
		}
	}
	return s, true
}

// forgets warns of a line with a path below which what is withheld in general is
// not withheld any more.
func (l *linter) forgets(u, general robots.Usage, withheld []string) {
	s, err := robots.ParseUsage(u.Value)
	if err != nil || u.Pattern == "" {
		return
	}
	for _, key := range withheld {
		if s.Of(key) == robots.Unstated {
			l.warn(u.Line, "U4-USAGE-FORGETS", "below %q this line speaks alone: %s=n of line %d does not hold there", u.Pattern, key, general.Line)
		}
	}
}

// signal looks at the value of a Content-Signal line.
func (l *linter) signal(line robots.Line) {
	for pair := range strings.SplitSeq(line.Value, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case !signalKeys[key]:
			l.notice(line.Number, "SIGNAL-KEY", "%q is no signal: there are search, ai-input and ai-train", key)
		case value != "yes" && value != "no":
			l.warn(line.Number, "SIGNAL-VALUE", "%s is %q: want yes or no", key, value)
		}
	}
}

// license looks at the value of a License line (RSL 1.0).
func (l *linter) license(line robots.Line) {
	if scheme, rest, ok := strings.Cut(line.Value, "://"); !ok || scheme == "" || rest == "" {
		l.warn(line.Number, "LICENSE", "%q is no absolute URL", line.Value)
	}
}
