package robots

// The Content-Usage lines that apply to a path (draft-ietf-aipref-attach). The lines for a robot
// are parsed at its first decision, into an index of the same kind as its rules.

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// The vocabulary of preferences; see there.
type (
	Category   = readers.Category
	Signal     = readers.Signal
	Preference = readers.Preference
	Stated     = readers.Stated
	Statement  = readers.Statement
)

// The preferences.
const (
	Unstated = readers.Unstated
	Yes      = readers.Yes // y: the use is allowed
	No       = readers.No  // n: it is not
)

// ParseUsage reads the dictionary of a Content-Usage line; see [readers.ParseUsage].
func ParseUsage(value string) (Statement, error) {
	return readers.ParseUsage(value)
}

// usageIndex finds what the Content-Usage lines of a robot state, by path.
type usageIndex struct {
	matcher *readers.Matcher // Ref is a place in stated
	stated  []Statement      // by all lines with one path together
	general Statement        // by lines without a path
}

// splitUsage takes a Content-Usage line apart: a path begins with "/" and ends at a blank.
func splitUsage(text string) (path, value string) {
	if !strings.HasPrefix(text, "/") {
		return "", text
	}
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.Trim(text[end:], " \t\n\v\f\r")
}

// compileUsage makes the index of the robot's Content-Usage lines.
func (r *Rules) compileUsage() *usageIndex {
	f := r.file
	x := &usageIndex{}
	places := map[string]int{} // in x.stated, by path in normal form
	var rules []readers.MatchRule
	for _, g := range r.Groups() {
		for _, u := range g.Usages {
			stated, err := ParseUsage(u.Value)
			if err != nil {
				continue
			}
			for i := range stated {
				stated[i].Line = u.Line
			}
			path := u.Pattern
			if path == "" {
				x.general = x.general.Combine(stated)
				continue
			}

			if f.reader.Escapes == readers.Letter {
				path = readers.NormalPattern(path)
			}
			at, known := places[path]
			if !known {
				at = len(x.stated)
				places[path] = at
				for _, pattern := range f.reader.Patterns(Rule{Pattern: path}) {
					rules = append(rules, readers.MatchRule{Pattern: pattern, Ref: at})
				}
				x.stated = append(x.stated, nil)
			}
			x.stated[at] = x.stated[at].Combine(stated)
		}
	}
	x.matcher = f.reader.NewMatcher(rules)
	return x
}

// Usage is as [File.Usage], for the robot of these rules.
func (r *Rules) Usage(path string) Statement {
	if r == nil || r.file == nil || !r.Allowed(path) {
		return nil
	}
	if r.file.reader.Web {
		path = readers.PathOf(path)
	}
	x := r.usage.Load()
	if x == nil {
		x = r.compileUsage()
		if r.file.reserve(len(x.stated)) {
			r.usage.Store(x)
		}
	}

	// The longest paths that match, or else what is stated of all paths.
	all, size := slices.Clone(x.general), 0
	for _, m := range x.matcher.Matching(r.file.reader.Forms[0].Of(path)) {
		switch {
		case m.Size > size:
			all, size = slices.Clone(x.stated[m.Ref]), m.Size
		case m.Size == size:
			all = all.Combine(x.stated[m.Ref])
		}
	}
	return all
}
