package prooftest

import (
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Vile are names with every byte that needs care, and names that begin each other.
var Vile = []string{
	"a", "ab", "abc", "b", "a.txt", "a.txt.gz", "x", "x.zip", "y.zip", "zip", "index.html", "index.htm", "drafts", "pub", "later",
	"a#", "#a", "a#b", "a*", "*a", "a*b", "*", "a$", "$", "a$b", "a$$", "a b", "a  b", "b ", " b",
	"%41", "%", "%4", "a%", "A", "a%2Ab", "%2F", "%24", "%25", "x%41.txt", "xA", "%C3%A9", "é", "éa", "日本",
	"0", "1", "~u", "Allow: ", "a:b", "a?b", "a;b", "a=b", "a;", "a?", "[a]", "a&b", "a'b", "a\"<>b", "Disallow",
}

// Plain are names that need none.
var Plain = []string{"a", "ab", "abc", "b", "a.txt", "x.zip", "y.zip", "drafts", "pub", "tmp", "~bob", "~al"}

// Robots are the robots that annotations name.
var Robots = []string{"foo", "foobot", "gptbot", "veronica", "gopher-mcp"}

// Draw draws a tree, and the few names that it is made of.
func Draw(t *rapid.T, names []string) (root *Dir, few []string) {
	few = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 3, 8, rapid.ID[string]).Draw(t, "few")
	return drawDir(t, "", 0, few), few
}

// DrawHost draws a tree with a directory of each of its names in the root.
func DrawHost(t *rapid.T, names []string) (root *Dir, few []string) {
	root, few = Draw(t, names)
	root.Files, root.Dirs = nil, nil
	for _, name := range slices.Sorted(slices.Values(few)) {
		root.Dirs = append(root.Dirs, drawDir(t, name, 2, few))
	}
	return root, few
}

// drawDir draws a directory at some depth.
func drawDir(t *rapid.T, name string, depth int, few []string) *Dir {
	d := &Dir{Name: name}
	list := rapid.SliceOfNDistinct(rapid.SampledFrom(few), 0, min(5, len(few)), rapid.ID[string]).Draw(t, "names")
	slices.Sort(list)
	for _, n := range list {
		if depth < 3 && rapid.IntRange(0, 2).Draw(t, "dir") == 0 {
			d.Dirs = append(d.Dirs, drawDir(t, n, depth+1, few))
		} else {
			d.Files = append(d.Files, n)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "noted") == 0 {
		d.Text = DrawRules(t, few, true)
	}
	return d
}

// Change draws a directory of the tree again and shares the others.
func Change(t *rapid.T, d *Dir, few []string) *Dir {
	if len(d.Dirs) > 0 && rapid.IntRange(0, 2).Draw(t, "below") > 0 {
		i := rapid.IntRange(0, len(d.Dirs)-1).Draw(t, "i")
		next := *d
		next.Dirs = slices.Clone(d.Dirs)
		next.Dirs[i] = Change(t, d.Dirs[i], few)
		return &next
	}
	return drawDir(t, d.Name, 2, few)
}

// DrawRules draws the lines of an annotation, or of a robots.txt, which knows no
// Final.
func DrawRules(t *rapid.T, few []string, final bool) string {
	var b strings.Builder
	piece := rapid.SampledFrom(append(slices.Clone(few), "/", "/", "/", "*", "*", "$", "a", ".zip", "*.zip$", "%41", "%2A", "/*/", "a/"))
	fields := rapid.SampledFrom([]string{"Allow", "Disallow", "Disallow", "Disallow", "Final", "User-agent", "User-agent", "Content-Usage", "Content-Usage"})
	usages := rapid.SampledFrom(slices.Sorted(maps.Keys(Usages)))
	for range rapid.IntRange(1, 6).Draw(t, "lines") {
		field := fields.Draw(t, "field")
		if field == "User-agent" {
			b.WriteString("User-agent: " + rapid.SampledFrom(append([]string{"*", "*", "my bot", "*foo*", "foo/1.1, nobody"}, Robots...)).Draw(t, "agent") + "\n")
			continue
		}
		if field == "Final" && !final {
			field = "Disallow"
		}
		value := rapid.SampledFrom([]string{"", "/", "/", "/"}).Draw(t, "slash")
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			value += piece.Draw(t, "piece")
		}
		value = strings.TrimSpace(strings.NewReplacer("#", "%23", "//", "/").Replace(value))
		if field == "Content-Usage" {
			if value, _, _ = strings.Cut(value, " "); !strings.HasPrefix(value, "/") {
				value = ""
			}
			value = strings.TrimSpace(value + " " + usages.Draw(t, "usage"))
		}
		b.WriteString(field + ": " + value + "\n")
	}
	return b.String()
}

// A Resource is a canonical selector and the directories on the way to it.
type Resource struct {
	Path []*Dir
	Sel  string
}

// IsDir reports whether it is a directory.
func (r Resource) IsDir() bool { return strings.HasSuffix(r.Sel, "/") }

// Spellings are the selectors that are answered with it, the canonical one first.
// The shorter spellings of a directory are left out where the rules themselves deny
// them and nothing else is denied.
func (r Resource) Spellings(robot string) []string {
	list := []string{r.Sel, r.Sel[1:]}
	if last := len(r.Sel) - 1; last > 0 && r.IsDir() {
		above := r.Path
		if strings.Count(r.Sel, "/") == len(above) { // it exists
			above = above[:len(above)-1]
		}
		if Decide(r.Path, robot, r.Sel).Denied() || !Decide(above, robot, r.Sel[:last]).Denied() {
			list = append(list, r.Sel[:last], r.Sel[1:last])
		}
	}
	return list
}

// Resources lists what exists in a tree, and if invent is true some of what does
// not: in every directory each of few as a file and as a directory.
func Resources(root *Dir, few []string) (list []Resource) {
	var walk func(path []*Dir, sel string)
	walk = func(path []*Dir, sel string) {
		d := path[len(path)-1]
		list = append(list, Resource{path, sel})
		for _, f := range d.Files {
			list = append(list, Resource{path, sel + f})
		}
		for _, sub := range d.Dirs {
			walk(append(path[:len(path):len(path)], sub), sel+sub.Name+"/")
		}
		for _, name := range few {
			if !slices.ContainsFunc(d.Dirs, func(sub *Dir) bool { return sub.Name == name }) {
				list = append(list, Resource{path, sel + name + "/"}, Resource{path, sel + name + "/q"})
			}
			if !slices.Contains(d.Files, name) {
				list = append(list, Resource{path, sel + name})
			}
		}
	}
	walk([]*Dir{root}, "/")
	return list
}
