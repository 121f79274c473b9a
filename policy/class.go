package policy

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// class is a set of robots that all annotations treat alike. They share a group.
type class struct {
	token  string   // of one of them; "*" for everybody
	robot  int32    // its number
	names  []string // as they are written
	by     []*note  // the annotations that name them, without joined ones
	more   int      // about how many bytes their rules take beyond those for everybody
	struck []strike // Allows that do not count for them
	joined bool     // what joined directories state applies to all of them (see share.go)
}

// virtual are the robots of Gemini that one program may be several of. It obeys the groups
// of all of them.
var virtual = robots.VirtualAgents()

// treated is how annotations treat a robot.
type treated struct {
	key    treatment
	by     []*note
	more   int // about how many bytes their rules for it take beyond those for everybody
	named  bool
	joined bool
}

// hasGroup reports whether an annotation states something about the robot.
func (t *treated) hasGroup() bool { return t.key != 0 || t.joined }

// treatment is equal for robots that the same annotations treat alike: a hash of these,
// with a seed that no author can know.
type treatment uint64

var treatmentSeed = maphash.MakeSeed()

// treatmentOf returns the treatment by one set of one annotation. Those of several add up.
func treatmentOf(note, number int) treatment {
	return treatment(maphash.Comparable(treatmentSeed, [2]int{note, number}))
}

// classesOf groups the robots that are treated alike. Everybody comes first.
func classesOf(notes []*note, names *names) []*class {
	robots := make([]treated, len(names.robots))
	for i, n := range notes {
		by := make([]treatment, len(n.sets))
		for j, set := range n.sets {
			by[j] = treatmentOf(i, set.number)
		}
		for _, a := range n.named {
			r := &robots[a.robot]
			r.named = true
			set := &n.sets[a.set]
			switch {
			case set.number == 0:
			case n.joined && names.robots[a.robot].token != veronica:
				r.joined = true
			default:
				r.key += by[a.set]
				r.by = append(r.by, n)
				r.more += set.size - n.size
			}
		}
	}
	isVirtual := func(token string) bool {
		i, ok := names.of[token]
		return ok && robots[i].hasGroup()
	}
	if slices.ContainsFunc(virtual, isVirtual) {
		for _, token := range virtual { // each gets a group, even one with the lines of *
			i := names.add(token, "")
			if int(i) == len(robots) {
				robots = append(robots, treated{})
			}
			robots[i].named = true
			robots[i].key += treatmentOf(-1, 0)
		}
	}

	type key struct {
		treatment
		isJoined, isVeronica bool
	}
	by := map[key]*class{}
	list := []*class{{token: "*", robot: everybody, names: []string{"*"}}}
	for i := range robots {
		r, name := &robots[i], names.robots[i]
		// A robot without lines of its own needs a group only if readers of 1994 would
		// otherwise apply the group of a name that is a part of its own.
		hasPart := false
		if r.named && !r.hasGroup() {
			parts(name.token, names.of, func(part string) {
				hasPart = hasPart || robots[names.of[part]].hasGroup()
			})
		}
		if !r.named || !r.hasGroup() && !hasPart {
			continue
		}
		k := key{r.key, r.joined, name.token == veronica}
		c := by[k]
		if c == nil {
			c = &class{
				token:  name.token,
				robot:  int32(i),
				by:     r.by,
				more:   r.more,
				joined: r.joined,
			}
			by[k] = c
			list = append(list, c)
		}
		c.names = append(c.names, name.written...)
		if name.token < c.token {
			c.token, c.robot = name.token, int32(i)
		}
	}
	for _, c := range list {
		slices.SortFunc(c.names, compareNames)
	}
	slices.SortFunc(list[1:], func(a, b *class) int { return compareNames(a.names[0], b.names[0]) })
	return list
}

func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)),
		strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
}

// maxParts is the length up to which all parts of a name are looked up. Names of that
// length are rare: a longer one is compared with each of the others.
const maxParts = 256

// parts calls fn once for every proper part of a name that is itself one of names.
func parts[T any](name string, names map[string]T, fn func(part string)) {
	name = strings.ToLower(name)
	if len(name) > maxParts {
		for part := range names {
			if len(part) < len(name) && strings.Contains(name, part) {
				fn(part)
			}
		}
		return
	}
	var seen map[string]bool
	for from := range name {
		for to := from + 1; to <= len(name); to++ {
			part := name[from:to]
			if _, ok := names[part]; !ok || len(part) == len(name) || seen[part] {
				continue
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			seen[part] = true
			fn(part)
		}
	}
}

// Readers of 1994 take the first group whose name is a part of their own, so a name must
// precede any part of it that is treated otherwise. The groups are written one at a time. A name
// is free once every name that contains it, of another group, is written. Next comes the group
// with the most names of those whose names are all free; if there is none, the free names of the
// group that has the most of them, and the rest of it later.

// stack is a group of which names are still to be written.
type stack struct {
	section *section
	names   []string // in order
	blocked int      // names that are not free
}

// stacked orders the sections behind the first one, and splits those that cannot be
// written in one piece.
func stacked(sections []section) []section {
	owner := map[string]*stack{} // by name in lower case
	var stacks []*stack
	for i := range sections[1:] {
		s := &stack{section: &sections[i+1], names: slices.Clone(sections[i+1].names)}
		slices.SortFunc(s.names, compareNames)
		stacks = append(stacks, s)
		for _, name := range s.names {
			owner[strings.ToLower(name)] = s
		}
	}
	slices.SortFunc(stacks, func(a, b *stack) int { return compareNames(a.names[0], b.names[0]) })
	longer := map[string]int{} // for each name, how many that contain it are not yet written
	for name, s := range owner {
		parts(name, owner, func(part string) {
			if owner[part] != s {
				longer[part]++
			}
		})
	}
	isBlocked := func(name string) bool { return longer[strings.ToLower(name)] > 0 }
	for _, s := range stacks {
		for _, name := range s.names {
			if isBlocked(name) {
				s.blocked++
			}
		}
	}

	list := sections[:1:1]
	for len(stacks) > 0 {
		next := stacks[0]
		for _, s := range stacks {
			if s.before(next) {
				next = s
			}
		}
		written := *next.section
		written.names = slices.DeleteFunc(slices.Clone(next.names), isBlocked)
		next.names = slices.DeleteFunc(next.names, func(name string) bool {
			return !isBlocked(name)
		})
		if len(next.names) == 0 {
			stacks = slices.DeleteFunc(stacks, func(s *stack) bool { return s == next })
		}
		list = append(list, written)
		for _, name := range written.names {
			parts(name, owner, func(part string) {
				o := owner[part]
				if o == next {
					return
				}
				if longer[part]--; longer[part] == 0 {
					o.blocked--
				}
			})
		}
	}
	return list
}

// before reports whether a stack is written before another that would come first.
func (s *stack) before(other *stack) bool {
	if (s.blocked == 0) != (other.blocked == 0) {
		return s.blocked == 0
	}
	return len(s.names)-s.blocked > len(other.names)-other.blocked
}
