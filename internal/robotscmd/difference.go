package robotscmd

import (
	"strings"

	"github.com/gophd/gophd/diag"
)

// difference lists the lines of one robots.txt that the other lacks (-), and the
// reverse (+), group by group. Order in a group is left out of it: it is no part
// of what is said, and gophd sorts. Lines are quoted for a terminal.
func difference(served, ours string) []string {
	a, agents := groupLines(served, nil)
	b, agents := groupLines(ours, agents)
	list := []string{"--- served", "+++ -root"}
	for _, agent := range distinct(agents) {
		minus, plus := missing("-", a[agent], b[agent]), missing("+", b[agent], a[agent])
		if len(minus)+len(plus) > 0 {
			list = append(list, "@@ "+diag.Printable(agent)+" @@")
			list = append(append(list, minus...), plus...)
		}
	}
	if len(list) == 2 {
		list = append(list, "the same lines in another order, or with other line ends")
	}
	return list
}

// groupLines sorts the lines by the User-agent line above them, and adds those
// lines to a list.
func groupLines(file string, agents []string) (map[string][]string, []string) {
	groups := map[string][]string{}
	agent := "before any User-agent"
	for line := range strings.SplitSeq(file, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if field, _, ok := strings.Cut(line, ":"); ok && strings.EqualFold(field, "User-agent") {
			agent = line
		}
		if line == "" {
			continue
		}
		if groups[agent] == nil {
			agents = append(agents, agent)
		}
		groups[agent] = append(groups[agent], line)
	}
	return groups, agents
}

// missing lists those lines of a that b lacks, each as often as it lacks it.
func missing(mark string, a, b []string) []string {
	have := map[string]int{}
	for _, line := range b {
		have[line]++
	}
	var list []string
	for _, line := range a {
		if have[line]--; have[line] < 0 {
			list = append(list, mark+diag.Printable(line))
		}
	}
	return list
}
