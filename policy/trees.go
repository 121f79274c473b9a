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
		return a.Dir == b.Dir && path.Base(a.File) == path.Base(b.File) &&
			bytes.Equal(a.Data, b.Data) && a.Err == nil && b.Err == nil
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
	named := [2]map[string][]string{robotsByDir(gopher), robotsByDir(gemini)}
	for i, tree := range [][]Annotation{gopher, gemini} {
		for _, a := range tree {
			own, others := named[i][a.Dir], named[1-i][a.Dir]
			a.strict = true
			a.everybody = slices.DeleteFunc(slices.Clone(others), func(robot string) bool {
				return slices.ContainsFunc(own, func(name string) bool {
					return strings.EqualFold(name, robot)
				})
			})
			if len(a.everybody) > 0 {
				list = append(list, a)
			}
		}
	}
	return list
}

// robotsByDir returns the robots for which annotations have rules of their own, by directory.
func robotsByDir(list []Annotation) map[string][]string {
	robots := map[string][]string{}
	for _, a := range list {
		all := names{of: map[string]int32{}}
		n := readNote([]Annotation{a}, &all, map[string]bool{string(a.Data): true}) // without lint
		for _, robot := range n.named {
			if slices.ContainsFunc(n.sets[robot.set].groups, func(g *group) bool {
				return g.says
			}) {
				robots[a.Dir] = append(robots[a.Dir], all.robots[robot.robot].written[0])
			}
		}
	}
	return robots
}
