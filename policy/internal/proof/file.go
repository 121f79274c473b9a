package proof

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// file holds the lines of a robots.txt, group by group.
type file struct {
	lines  []fileLine
	groups []fileGroup      // the first has the lines outside of any
	named  map[string][]int // the groups of each robot, in lower case
}

type fileLine struct {
	text  string
	agent string // of a User-agent line, in lower case
}

// fileGroup has the lines of a group by their places in the file.
type fileGroup struct {
	agents []string
	others []int // lines that are no rules
	first  int   // the first rule, -1 if there is none
	end    int   // behind its last line
}

// linesOf yields the lines of a text as RFC 9309 has them.
func linesOf(data []byte) iter.Seq[readers.Line] {
	text, _ := readers.DecodeUTF16(data)
	return readers.NewScanner(readers.RFC9309, false, string(text)).Lines()
}

// readFile takes a robots.txt apart, and calls rule for each rule with its group and its
// place. A group ends at a User-agent line that follows a rule.
func readFile(data []byte, rule func(l *readers.Line, group, at int)) *file {
	f := &file{lines: make([]fileLine, 0, bytes.Count(data, []byte("\n"))+1), groups: []fileGroup{{first: -1}}, named: map[string][]int{}}
	for l := range linesOf(data) {
		if n := len(f.groups); l.Kind == readers.KindAgent && (n == 1 || f.groups[n-1].first >= 0) {
			f.groups = append(f.groups, fileGroup{first: -1})
		}
		at, group := len(f.lines), len(f.groups)-1
		line, g := fileLine{text: l.Text}, &f.groups[group]
		switch l.Kind {
		case readers.KindAllow, readers.KindDisallow, readers.KindUsage:
			if g.first < 0 {
				g.first = at
			}
			rule(&l, group, at)
		case readers.KindAgent:
			line.agent = strings.ToLower(readers.ProductToken(l.Value))
			g.agents = append(g.agents, line.agent)
			if !slices.Contains(f.named[line.agent], group) {
				f.named[line.agent] = append(f.named[line.agent], group)
			}
			fallthrough
		default:
			g.others = append(g.others, at)
		}
		f.lines, g.end = append(f.lines, line), at+1
	}
	return f
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
	head, _, _ := strings.Cut(strings.TrimSuffix(path, "$"), "*")
	if l.Kind == readers.KindUsage || path != "" && readers.Plain(path) || topOf(head) != "" && readers.Plain(head) {
		return append(heads, decode(head))
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

// about returns the file with only the rules of a part and the User-agent lines of its
// robots. If a group's first rule is left out, one that denies nothing stands for it;
// otherwise an empty group would join the next.
func (f *file) about(rules []int, asked map[string]bool) []byte {
	var b []byte
	for i := range f.groups {
		g := &f.groups[i]
		n, _ := slices.BinarySearch(rules, g.end)
		list := slices.Concat(g.others, rules[:n])
		skips := g.first >= 0 && (n == 0 || rules[0] != g.first)
		rules = rules[n:]
		if i > 0 && !slices.ContainsFunc(g.agents, func(name string) bool { return name == "*" || has(asked, name) }) {
			continue
		}
		if skips {
			list = append(list, g.first)
		}
		slices.Sort(list)
		for _, at := range list {
			text := f.lines[at].text
			if skips && at == g.first {
				text = "Disallow: /.robots"
			}
			if agent := f.lines[at].agent; agent == "" || agent == "*" || has(asked, agent) {
				if b = append(b, text...); !strings.HasSuffix(text, "\n") {
					b = append(b, '\n')
				}
			}
		}
	}
	return b
}

func has(set map[string]bool, name string) bool {
	_, ok := set[name]
	return ok
}
