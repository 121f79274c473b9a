package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
)

// Directories are joined if the file is too large because they name many robots: whatever
// one of them states for one of the robots that they name holds for all of these robots,
// except what permits something. These robots then share a group. No robot gains, and what
// other directories state stays as it is.

// joinedRules returns the rules of the joined directories for a robot that they name.
func joinedRules(notes []*note, programs []program) (list []*rule) {
	root := notes[0]
	for len(notes) > 0 {
		n := 1
		for n < len(notes) && notes[n].top == notes[0].top {
			n++
		}
		if notes[0].joined {
			list = append(list, joinedTop(root, notes[:n], programs)...)
		}
		notes = notes[n:]
	}
	return list
}

// joinedTop returns the rules of the annotations of one joined directory: every Disallow,
// and what stands below its Allows for any of its robots, without what another covers.
func joinedTop(root *note, notes []*note, programs []program) []*rule {
	var list []*rule
	allows := false
	for _, n := range notes {
		if n.shut != nil {
			continue
		}
		for _, g := range n.joinable {
			for _, r := range g.rules {
				allows = allows || r.allow
				if !r.allow {
					list = append(list, r)
				}
			}
		}
	}
	if allows {
		list = append(list, carriedOf(root, notes, programs)...)
	}

	// Leave out what another line covers, unless an Allow of the root may come between.
	var opening []*rule
	for _, r := range root.rules {
		if r.allow {
			opening = append(opening, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *rule) int { return cmp.Compare(len(a.uri), len(b.uri)) })
	literal := map[string]bool{}
	var kept, globs []*rule
	for _, r := range list {
		isCovered := slices.ContainsFunc(globs, func(o *rule) bool { return covers(o.uri, r.uri) })
		for i := range len(r.uri) {
			isCovered = isCovered || literal[r.uri[:i+1]]
		}
		if isCovered && !slices.ContainsFunc(opening, func(a *rule) bool { return meets(a.uri, r.uri) }) {
			continue
		}
		kept = append(kept, r)
		if isLiteral(r.uri) {
			literal[r.uri] = true
		} else {
			globs = append(globs, r)
		}
	}
	return kept
}

// carriedOf returns what stands below the Allows of a directory's annotations, for all
// robots that the annotations or the root name, and for everybody.
func carriedOf(root *note, notes []*note, programs []program) (list []*rule) {
	all := append([]*note{root}, notes...)
	robots := map[int32]bool{everybody: true}
	for _, n := range all {
		for _, a := range n.named {
			robots[a.robot] = true
		}
	}
	done := map[string]bool{} // by the sets that name a robot
	for _, robot := range slices.Sorted(maps.Keys(robots)) {
		key := ""
		for _, n := range all {
			key += fmt.Sprintf("%p;", n.groupsOf(robot))
		}
		if done[key] {
			continue
		}
		done[key] = true
		c := compose(&class{robot: robot}, all, programs, nil)
		for _, r := range c.rules {
			if r.below != nil && r.below.of != root {
				list = append(list, r)
			}
		}
	}
	return list
}

// joinReports tells the annotations of joined directories which of their lines hold for
// more robots, and which count no more.
func (w *work) joinReports() (list []Report) {
	for _, n := range w.live() {
		if !n.joined {
			continue
		}
		for _, g := range n.joinable {
			isNamed := !slices.Contains(n.general, g)
			for _, r := range g.rules {
				switch {
				case !r.allow:
					list = append(list, NewReport(CodeJoined, r.file, r.line, "robots.txt would be too large, so this Disallow holds for all robots that "+w.joinedWhere()+" name"))
				case isNamed:
					list = append(list, NewReport(CodeJoined, r.file, r.line, "robots.txt would be too large, so this Allow does not count for the robots that its group names"))
				default:
					list = append(list, NewReport(CodeJoined, r.file, r.line, "robots.txt would be too large, so this Allow does not count for robots that "+w.joinedWhere()+" name"))
				}
			}
			if isNamed && g.says && len(g.rules) == 0 {
				list = append(list, NewReport(CodeJoined, n.from[0].File, g.line, "robots.txt would be too large, so this group opens nothing, and other lines hold for its robots"))
			}
			for _, u := range g.prefs {
				if strings.Contains(u.said.String(), "=y") {
					list = append(list, NewReport(CodeJoined, u.file, u.line, "robots.txt would be too large, so this y does not count for robots that "+w.joinedWhere()+" name"))
				}
			}
		}
	}
	return list
}

// joinedWhere names the joined directories.
func (w *work) joinedWhere() string {
	if len(w.joined) == 1 {
		return w.joined[0]
	}
	return fmt.Sprintf("%s and %s", w.joined[0], diag.Count(len(w.joined)-1, "other directory", "other directories"))
}
