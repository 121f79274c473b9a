package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// class is a set of robots that all annotations treat alike. They share a group.
type class struct {
	token string   // of one of them; "*" for everybody
	names []string // as they are written
	by    []*note  // the annotations that make the group necessary (see causes)
	said  []string // how the annotations that name them treat them
}

// virtual are the robots of Gemini's companion specification. A robot of several kinds
// obeys the groups of all of them.
var virtual = []string{"archiver", "indexer", "researcher", "webproxy"}

// isKind reports whether virtual agents are among the robots of a class.
func (c *class) isKind() bool {
	return slices.ContainsFunc(c.names, func(name string) bool { return slices.Contains(virtual, strings.ToLower(name)) })
}

// namedRobot is a robot that some annotation names.
type namedRobot struct {
	written []string // its name first; then what readers take for it
	by      []*note  // the annotations that treat it otherwise than the rest
	said    []string // by which groups, of each; all together tell classes apart
}

// classesOf groups the robots that are treated alike. Everybody comes first, then
// longer names before names that may be parts of them: readers of 1994 take the first
// group whose name is a part of their own.
func classesOf(notes []*note) []*class {
	robots := robotsIn(notes)
	if slices.ContainsFunc(virtual, func(token string) bool { return robots[token] != nil && robots[token].said != nil }) {
		for _, token := range virtual {
			r := robots.add(token, token)
			r.said = append(r.said, " ") // it has a group, if only one like that for everybody
		}
	}
	by := map[string]*class{}
	var list []*class
	for token, r := range robots {
		// A robot that nothing is said about has a group only if readers of 1994 would
		// take another one's.
		if r.said == nil && !robots.has(token, func(part *namedRobot) bool { return part.said != nil }) {
			continue
		}
		key := strings.Join(r.said, "")
		if token == veronica { // alone
			key = veronica
		}
		if by[key] == nil {
			by[key] = &class{token: token, by: r.by, said: r.said}
			list = append(list, by[key])
		}
		by[key].names = append(by[key].names, r.written...)
		by[key].token = min(by[key].token, token)
	}
	for _, c := range list {
		slices.SortFunc(c.names, compareNames)
		c.names = slices.Compact(c.names)
	}
	causes(list)
	return append([]*class{{token: "*", names: []string{"*"}}}, longestFirst(list)...)
}

// causes leaves of each class the annotations without which its robots would share the
// group of another class. Where many paste one list of names, and a few have rules of
// their own for some of these robots, the groups of those robots are there because of
// the few.
func causes(list []*class) {
	first := map[string][]*class{} // by the first that is said of them
	for _, c := range list {
		if len(c.said) > 0 && c.token != veronica {
			first[c.said[0]] = append(first[c.said[0]], c)
		}
	}
	by := make([][]*note, len(list))
	for i, c := range list {
		like := &class{}
		for at, said := range c.said {
			for _, o := range first[said] {
				if len(o.by) > len(like.by) && len(o.by) < len(c.by) && c.token != veronica && isPart(o.said, c.said[at:]) {
					like = o
				}
			}
		}
		rest := like.by
		by[i] = slices.DeleteFunc(slices.Clone(c.by), func(n *note) bool {
			common := len(rest) > 0 && rest[0] == n
			if common {
				rest = rest[1:]
			}
			return common
		})
	}
	for i, c := range list {
		c.by = by[i]
	}
}

// isPart reports whether a list is another one with some of its strings left out.
func isPart(list, of []string) bool {
	for _, s := range of {
		if len(list) > 0 && list[0] == s {
			list = list[1:]
		}
	}
	return len(list) == 0
}

type robotSet map[string]*namedRobot // by token

func robotsIn(notes []*note) robotSet {
	robots := robotSet{}
	for i, n := range notes {
		for _, name := range n.names {
			r := robots.add(name.token, name.written)
			if name.full != "" && !slices.Contains(r.written, name.full) {
				r.written = append(r.written, name.full)
			}
			if len(r.by) > 0 && r.by[len(r.by)-1] == n {
				continue
			}
			rules, own := n.groupsOf(name.token, func(s *group) bool { return s.says })
			prefs, prefers := n.groupsOf(name.token, func(s *group) bool { return s.prefers })
			if !own && !prefers {
				continue
			}
			r.by = append(r.by, n)
			key := append(strconv.AppendInt(nil, int64(i), 10), ';')
			if own {
				key = appendNumbers(key, rules)
			}
			key = append(key, ';')
			if prefers {
				key = appendNumbers(key, prefs)
			}
			r.said = append(r.said, string(append(key, ';')))
		}
	}
	return robots
}

func appendNumbers(key []byte, list []*group) []byte {
	for _, s := range list {
		key = append(strconv.AppendInt(key, int64(s.number), 10), ',')
	}
	return key
}

func (robots robotSet) add(token, written string) *namedRobot {
	r := robots[token]
	if r == nil {
		r = &namedRobot{written: []string{written}}
		robots[token] = r
	}
	return r
}

// has reports whether a part of a name is another robot's name for which ok holds.
func (robots robotSet) has(token string, ok func(*namedRobot) bool) (found bool) {
	parts(token, robots, func(part string) { found = found || ok(robots[part]) })
	return found
}

func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
}

// parts calls fn for every proper part of a name that is a name, too.
func parts[T any](name string, names map[string]T, fn func(part string)) {
	name = strings.ToLower(name)
	for from := range name {
		for to := from + 1; to <= len(name); to++ {
			part := name[from:to]
			if _, ok := names[part]; ok && len(part) < len(name) {
				fn(part)
			}
		}
	}
}

// longestFirst orders classes so that no name comes after a part of it. If that is
// impossible, the names of a class are written one by one.
func longestFirst(classes []*class) []*class {
	at := map[string]*class{} // by name in lower case
	for _, c := range classes {
		for _, name := range c.names {
			at[strings.ToLower(name)] = c
		}
	}
	before := map[*class]int{} // how many names must be written before it
	count := func(c *class, n int) {
		for _, name := range c.names {
			parts(name, at, func(part string) {
				if at[part] != c {
					before[at[part]] += n
				}
			})
		}
	}
	for _, c := range classes {
		count(c, 1)
	}
	byName := func(a, b *class) int { return compareNames(a.names[0], b.names[0]) }
	slices.SortFunc(classes, byName)
	var list, rest []*class
	for len(classes) > 0 {
		i := slices.IndexFunc(classes, func(c *class) bool { return before[c] == 0 })
		if i < 0 { // the rest is a circle
			break
		}
		count(classes[i], -1)
		list, classes = append(list, classes[i]), slices.Delete(classes, i, i+1)
	}
	for _, c := range classes {
		for _, name := range c.names {
			rest = append(rest, &class{token: c.token, names: []string{name}, by: c.by})
		}
	}
	slices.SortFunc(rest, byName)
	return append(list, rest...)
}
