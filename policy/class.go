package policy

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

// class is robots that all annotations treat alike. They share a group.
type class struct {
	names []string         // as they are written; "*" alone, and veronica alone
	told  map[*node]uint64 // by top-level directory (or the root) that names them: what it says of them
}

// token is one of the robots, in lower case.
func (c *class) token() string { return strings.ToLower(c.names[0]) }

// robotsOf is what top-level directories say of each robot that is named.
type robotsOf struct {
	written map[string]string           // names as they are written first, by token
	told    map[string]map[*node]uint64 // by token and top-level directory
}

// namedRobots reads all nodes that are not denied. A robot of which an annotation
// says by name what it says to all is not told anything of its own there.
func namedRobots(root *node, denied map[*node]*rule) robotsOf {
	names := robotsOf{map[string]string{}, map[string]map[*node]uint64{}}
	read := func(top, n *node) {
		if n.note == nil || len(n.note.names) == 0 || denied[n] != nil {
			return
		}
		here := maphash.String(seed, n.at.uri)
		for _, name := range n.note.names {
			token := strings.ToLower(name)
			if names.written[token] == "" {
				names.written[token] = name
			}
			rules, prefs, own := n.note.setsFor(token)
			all := n.note.sets["*"]
			if (!own || len(n.subs) == 0 && all != nil && rules.hash == all.hash && !rules.opens()) && (prefs == nil || prefs == all) {
				continue
			}
			if names.told[token] == nil {
				names.told[token] = map[*node]uint64{}
			}
			sum := here
			if own {
				sum = sum*31 + rules.hash
			}
			if prefs != nil {
				sum = sum*31 + prefs.about
			}
			names.told[token][top] += sum
		}
	}
	if root.shut(denied) != nil {
		return names // all are told the same: nothing is allowed
	}
	read(root, root)
	for _, top := range root.subs {
		if top.named > 0 {
			top.each(denied, func(n *node) { read(top, n) })
		}
	}
	return names
}

// classes puts robots that are treated alike together. Everybody comes first,
// then longer names before those that may be parts of them: readers of 1994 take
// the first group whose name is a part of their own.
func (names robotsOf) classes() []*class {
	by := map[uint64]*class{}
	list := []*class{}
	told := maps.Clone(names.told)
	for token := range names.written {
		if told[token] == nil {
			// It has no group, unless a reader of 1994 would take that of another.
			parts(token, told, func(string) { names.told[token] = nil })
		}
	}
	for token, told := range names.told {
		sum := uint64(0)
		for _, s := range told {
			sum += s
		}
		if token == veronica { // alone
			sum = ^sum
		}
		if by[sum] == nil {
			by[sum] = &class{told: told}
			list = append(list, by[sum])
		}
		by[sum].names = append(by[sum].names, names.written[token])
	}
	for _, c := range list {
		slices.SortFunc(c.names, compareNames)
	}
	return append([]*class{{names: []string{"*"}}}, longestFirst(list)...)
}

func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(strings.ToLower(a), strings.ToLower(b)))
}

// parts calls fn for every piece of a name that is a name, too, but for itself.
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

// longestFirst orders classes so that no name comes after one that is a part of it. Where
// that cannot be, the names of a class are written one by one.
func longestFirst(classes []*class) []*class {
	at := map[string]*class{} // by token
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
			rest = append(rest, &class{names: []string{name}, told: c.told})
		}
	}
	slices.SortFunc(rest, byName)
	return append(list, rest...)
}
