package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// Preferences about use are taken key by key: for a name, the value of each key is that
// of the longest path that states the key. A line of the file says all that holds at its
// path, so that a reader that takes the longest path alone gets the policy.

// usageLine is a Content-Usage line. Its pattern is a literal path.
type usageLine struct {
	rule                  // its value is the dictionary
	said robots.Statement // without what states nothing
}

// usage reads a Content-Usage line: "[path] preferences". Without a path it applies to
// the directory.
func (r *reader) usage(l readers.Line) {
	r.open = false
	path, list := "/", trimSpaces(l.Value)
	onlyNo := list != l.Value // what permits something does not count where blanks are odd
	if strings.HasPrefix(list, "/") {
		path, list, _ = strings.Cut(strings.Replace(list, "\t", " ", 1), " ")
	}
	list = strings.Trim(list, " \t")
	said, err := robots.ParseUsage(list)
	if err != nil {
		return
	}

	// A path is literal.
	if i := strings.IndexAny(path, "*$"); i >= 0 {
		onlyNo, path = true, path[:i]
	}
	r.now.prefers = true
	f, ok := r.pattern(path)
	said = slices.DeleteFunc(said, func(s robots.Stated) bool {
		return s.Preference == robots.Unstated || onlyNo && s.Preference != robots.No
	})
	if !ok || r.nobody {
		return
	}
	r.note.count++
	r.now.prefs = append(r.now.prefs, &usageLine{rule{form: f, value: list, file: r.file, line: l.Number, of: r.note}, said})
}

// use is a Content-Usage line of the file.
type use struct {
	*usageLine                       // the first that is about the path
	states     map[string]*usageLine // by key: which line states it
	values     map[string]robots.Preference
	over       []changed
}

// changed is a y that changes an n of another annotation.
type changed struct {
	key     string
	yes, no *usageLine
}

// statement returns the line's preferences, sorted by key.
func (u *use) statement() (s robots.Statement) {
	for _, key := range slices.Sorted(maps.Keys(u.values)) {
		s = append(s, robots.Stated{Key: key, Preference: u.values[key]})
	}
	return s
}

// stated is a line that may count for a robot.
type stated struct {
	*usageLine
	own bool // it names the robot
}

// usesOf returns the lines for a class of robots, in the order of the file.
func usesOf(c *class, notes []*note) (list []*use) {
	var lines []stated
	for _, n := range notes {
		if c.joined && n.joined {
			for _, u := range n.refusals() {
				lines = append(lines, stated{u, true})
			}
			continue
		}
		for _, g := range n.general {
			for _, u := range g.prefs {
				lines = append(lines, stated{u, false})
			}
		}
		if c.robot != everybody {
			for _, g := range n.groupsOf(c.robot) {
				for _, u := range g.prefs {
					lines = append(lines, stated{u, true})
				}
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b stated) int { return strings.Compare(a.uri, b.uri) })

	// The paths at which a path begins stand before it.
	var above []stated
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].uri == lines[0].uri {
			n++
		}
		above = slices.DeleteFunc(above, func(s stated) bool { return !strings.HasPrefix(lines[0].uri, s.uri) })
		above = append(above, lines[:n]...)
		if u := useOf(above, lines[0].usageLine); len(u.values) > 0 {
			list = append(list, u)
		}
		lines = lines[n:]
	}
	slices.SortFunc(list, func(a, b *use) int { return compareLines(line{uri: a.uri}, line{uri: b.uri}) })
	return list
}

// useOf returns the line at a path: of all lines that hold there, shortest path first,
// the last that counts for a key. What is stated for everybody does not count beside what
// the same annotation states of the key by name, and a y not below an n by name.
func useOf(lines []stated, at *usageLine) *use {
	type named struct {
		by  *note
		key string
	}
	states := map[named]bool{}
	refuses := map[string][]*note{} // by key
	for _, s := range lines {
		if !s.own {
			continue
		}
		for _, said := range s.said {
			states[named{s.of, said.Key}] = true
			if by := refuses[said.Key]; said.Preference == robots.No && !slices.Contains(by, s.of) {
				refuses[said.Key] = append(by, s.of)
			}
		}
	}

	u := &use{usageLine: at, states: map[string]*usageLine{}, values: map[string]robots.Preference{}}
	longest := map[string]int{}
	for _, s := range lines {
		for _, said := range s.said {
			key := said.Key
			isAbove := func(n *note) bool { return strings.HasPrefix(s.of.sel, n.sel) }
			if !s.own && (states[named{s.of, key}] || said.Preference == robots.Yes && slices.ContainsFunc(refuses[key], isAbove)) {
				continue
			}
			if len(s.uri) > longest[key] || said.Preference > u.values[key] {
				longest[key], u.values[key], u.states[key] = len(s.uri), said.Preference, s.usageLine
			}
		}
	}

	// Note what changes what another annotation refuses.
	for _, key := range slices.Sorted(maps.Keys(u.values)) {
		yes := u.states[key]
		if u.values[key] != robots.Yes || yes.uri != at.uri {
			continue
		}
		for _, s := range lines {
			if s.of != yes.of && s.said.Of(key) == robots.No {
				u.over = append(u.over, changed{key, yes, s.usageLine})
			}
		}
	}
	return u
}

// refusals returns the lines of a joined directory's annotation: each n, of all groups
// but those for veronica alone.
func (n *note) refusals() (list []*usageLine) {
	for _, g := range n.joinable {
		for _, u := range g.prefs {
			if said := slices.DeleteFunc(slices.Clone(u.said), func(s robots.Stated) bool { return s.Preference != robots.No }); len(said) > 0 {
				list = append(list, &usageLine{u.rule, said})
			}
		}
	}
	return list
}
