package policy

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// BothTrees joins the annotations of two trees that are served under the same selectors, one
// to clients of Gopher, the other to clients of Gemini. If they differ, a robot is denied what
// either tree denies to it, and no Allow counts, which is reported ([CodeOverruled]).
func BothTrees(gopher, gemini []Annotation) []Annotation {
	same := func(a, b Annotation) bool {
		return a.Dir == b.Dir && path.Base(a.File) == path.Base(b.File) && bytes.Equal(a.Data, b.Data) && a.Err == nil && b.Err == nil
	}
	switch {
	case len(gemini) == 0 || slices.EqualFunc(gopher, gemini, same):
		return gopher
	case len(gopher) == 0:
		return gemini
	}
	list := slices.Concat(gopher, gemini)
	for i := range list {
		list[i].strict = true
	}

	// In a directory, rules for a robot replace those for everybody. Those of the other tree
	// go on counting for it: they are given once more, for such robots alone.
	for _, pair := range [][2][]Annotation{{gopher, gemini}, {gemini, gopher}} {
		others := map[string][]string{} // robots with rules of their own in the other tree, by directory
		for _, a := range pair[1] {
			others[a.Dir] = append(others[a.Dir], robotsWithRules(a)...)
		}
		own := map[string][]string{}
		for _, a := range pair[0] {
			own[a.Dir] = append(own[a.Dir], robotsWithRules(a)...)
		}
		for _, a := range pair[0] {
			a.everybody = slices.DeleteFunc(slices.Clone(others[a.Dir]), func(robot string) bool {
				return slices.ContainsFunc(own[a.Dir], func(name string) bool { return strings.EqualFold(name, robot) })
			})
			if len(a.everybody) > 0 {
				a.strict = true
				list = append(list, a)
			}
		}
	}
	return list
}

// robotsWithRules returns the robots for which an annotation has rules of their own.
func robotsWithRules(a Annotation) (robots []string) {
	var all names
	all.of = map[string]int32{}
	n := readNote([]Annotation{a}, &all, map[string]bool{string(a.Data): true})
	for _, robot := range n.named {
		if slices.ContainsFunc(n.sets[robot.set].groups, func(g *group) bool { return g.says }) {
			robots = append(robots, all.robots[robot.robot].written[0])
		}
	}
	return robots
}
