package proof

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// file is a parsed robots.txt, with the robots that it names. Its rules are indexed by
// top-level directory.
type file struct {
	lines  []fileLine
	groups []fileGroup // the first is the lines outside of any
}

type fileLine struct {
	readers.Line
	group int
	agent string // of a User-agent line, in lower case
}

// fileGroup indexes the lines of a group.
type fileGroup struct {
	agents []string
	others []int            // lines that are no rules
	first  int              // the first rule that some reader knows, -1 if there is none
	tops   map[string][]int // by a top-level directory, decoded and as it is written
	heads  map[string][]int // of rules about several of them: by how these begin
}

// readFile takes a robots.txt apart. A group ends at a User-agent line that follows a rule.
func readFile(data []byte, rows []readers.Reader) *file {
	f := &file{lines: make([]fileLine, 0, bytes.Count(data, []byte("\n"))+1)}
	f.add()
	open := false
	for l := range robots.Parse(robots.RFC9309, data).Lines() {
		line := fileLine{Line: l, group: len(f.groups) - 1}
		switch l.Kind {
		case readers.KindAgent:
			if !open {
				f.add()
				open, line.group = true, line.group+1
			}
			line.agent = strings.ToLower(readers.ProductToken(l.Value))
			g := &f.groups[line.group]
			g.agents = append(g.agents, line.agent)
		case readers.KindAllow, readers.KindDisallow, readers.KindUsage:
			open = false
			for _, head := range headsOf(&l, rows) {
				f.groups[line.group].index(head, len(f.lines))
			}
			f.lines = append(f.lines, line)
			continue
		}
		f.groups[line.group].others = append(f.groups[line.group].others, len(f.lines))
		f.lines = append(f.lines, line)
	}
	return f
}

func (f *file) add() {
	f.groups = append(f.groups, fileGroup{first: -1, tops: map[string][]int{}, heads: map[string][]int{}})
}

// pathOf returns the pattern of a rule.
func pathOf(l *readers.Line) (path string, ok bool) {
	switch l.Kind {
	case readers.KindAllow, readers.KindDisallow:
		return l.Value, true
	case readers.KindUsage:
		if strings.HasPrefix(l.Value, "/") {
			path, _, _ = strings.Cut(strings.ReplaceAll(l.Value, "\t", " "), " ")
		}
		return path, true
	}
	return "", false
}

// headsOf returns the beginnings of the patterns that readers make of a rule.
func headsOf(l *readers.Line, rows []readers.Reader) (heads []string) {
	path, _ := pathOf(l)
	if l.Kind == readers.KindUsage || path != "" && readers.Plain(path) {
		path, _, _ = strings.Cut(strings.TrimSuffix(path, "$"), "*")
		return append(heads, decode(path))
	}
	for _, r := range rows {
		for _, p := range r.Patterns(robots.Rule{Allow: l.Kind == readers.KindAllow, Pattern: path}) {
			for _, head := range []string{p.Pieces[0], decode(p.Pieces[0])} {
				if !slices.Contains(heads, head) {
					heads = append(heads, head)
				}
			}
		}
	}
	return heads
}

// index records a rule by the directory in its head. An item type may precede the
// selector.
func (g *fileGroup) index(head string, line int) {
	if g.first < 0 {
		g.first = line
	}
	top, _, below := strings.Cut(strings.TrimPrefix(head, "/"), "/")
	switch {
	case below && (top == "0" || top == "1" || top == ""):
		g.heads[""] = append(g.heads[""], line)
	case below:
		g.tops[top] = append(g.tops[top], line)
	default:
		g.heads[top] = append(g.heads[top], line)
	}
}

// about returns the lines of a group about some top-level directories. If others is
// true, it adds the lines about directories that are not in known.
func (g *fileGroup) about(tops []string, others bool, known map[string]*part) (lines []int) {
	if others {
		for _, list := range g.heads {
			lines = append(lines, list...)
		}
		for top, list := range g.tops {
			if known[top] == nil {
				lines = append(lines, list...)
			}
		}
	}
	for _, top := range tops {
		lines = append(lines, g.tops[top]...)
		for n := range len(top) + 1 {
			lines = append(lines, g.heads[top[:n]]...)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// text returns the file with only the User-agent lines of some robots and the rules in
// keep. If a group's first rule is not kept, text writes one that denies nothing;
// otherwise an empty group would join the next.
func (f *file) text(robots []string, keep [][]int) []byte {
	var b []byte
	add := func(text string) {
		if b = append(b, text...); !strings.HasSuffix(text, "\n") {
			b = append(b, '\n')
		}
	}
	for i := range f.groups {
		g, rules := &f.groups[i], keep[i]
		if rules == nil {
			continue
		}
		if g.first >= 0 && (len(rules) == 0 || rules[0] != g.first) {
			rules = slices.Insert(rules, 0, g.first)
		}
		for _, at := range merge(g.others, rules) {
			l := &f.lines[at]
			switch {
			case at == g.first && !slices.Contains(keep[i], at):
				add("Disallow: /.robots")
			case l.agent == "" || l.agent == "*" || slices.Contains(robots, l.agent):
				add(l.Text)
			}
		}
	}
	return b
}

// merge puts two sorted lists together.
func merge(a, b []int) []int {
	list := slices.Concat(a, b)
	slices.Sort(list)
	return list
}
