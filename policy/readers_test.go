package policy

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"pgregory.net/rapid"
)

// drawnTree makes a tree of one that was drawn.
func drawnTree(d *prooftest.Dir, sel string) *Dir {
	dir := &Dir{Name: d.Name, Files: d.Files}
	for _, sub := range d.Dirs {
		dir.Dirs = append(dir.Dirs, drawnTree(sub, sel+sub.Name+"/"))
	}
	if d.Text != "" || d.Err != nil {
		dir.Notes = []*Annotation{{File: prooftest.File(sel), Data: []byte(d.Text), Err: d.Err}}
	}
	return dir
}

// TestReaders asks every known reader for every spelling of what is in a tree and
// of names to come: who escapes selectors gets exactly the policy, and nobody is
// let in where it denies unless a report says so of the line that denies. To each
// the file states the preferences of the policy.
func TestReaders(t *testing.T) {
	for name, names := range map[string][]string{"plain": prooftest.Plain, "vile": prooftest.Vile} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				root, few := prooftest.Draw(t, names)
				readersLaws(t, root, few)
			})
		})
	}
}

func readersLaws(t *rapid.T, drawn *prooftest.Dir, few []string) {
	c := Compile(Input{Root: drawnTree(drawn, "/")}, nil)
	told := map[string]bool{}
	for _, r := range c.Reports() {
		if r.Code == CodeUnnamedLeak {
			t.Fatalf("%v\n%s", r, dump(drawn, c))
		}
		for _, reader := range r.Readers {
			told[toldOf(reader, r.File, r.Line)] = true
			told[reader+r.Code] = true
			for _, robot := range alike(c) {
				told[toldOf(reader, r.File, 0)+robot] = true
			}
		}
	}
	resources := prooftest.Resources(drawn, few)
	for _, robot := range append([]string{"*"}, prooftest.Robots...) {
		allows := map[string]func(byte, string) bool{}
		part := takenForAnother(drawn, robot)
		for _, m := range readers.All() {
			if m.Choice == readers.LongestMatch || part && (m.Name == "1994" || m.Name == "first-match") {
				continue
			}
			if m.Agent == robot || m.Agent == "" && robot != "veronica" {
				allows[m.Name] = m.Read(c.File()).Agent(robot).AllowedAs
			}
		}
		for _, res := range resources {
			if res.Sel == "/robots.txt" {
				continue
			}
			by := prooftest.Decide(res.Path, robot, res.Sel)
			typ := byte('0')
			if res.IsDir() {
				typ = '1'
			}
			for _, sel := range res.Spellings(robot) {
				first, _, _ := strings.Cut(sel, "/")
				for reader, allows := range allows {
					if reader == "first-match" && strings.Contains(first, ":") {
						continue // to CPython it is a URL of that scheme
					}
					exact := reader == "rfc9309" || reader == "google"
					if !exact && strings.ContainsAny(res.Sel, "%?[]*$") {
						continue // named if it is there, or if a pattern holds it
					}
					got := allows(typ, sel)
					switch {
					case got != by.Denied():
					case got && (c.closes(res.Sel, sel) || !exact && prooftest.InEscape(res.Path, robot, res.Sel)):
					case got && strings.HasPrefix(reader, "google") && told[reader+CodeIndex]:
					case got && !exact && told[reader+CodeEscaped]: // at the line of the Allow
					case got && (exact || !told[toldOf(reader, by.File, by.Line)] && !told[toldOf(reader, by.File, 0)+robot]):
						t.Fatalf("%s as %s: leak %q, which %s:%d denies\n%s", reader, robot, sel, by.File, by.Line, dump(drawn, c))
					case !got && exact && !told[reader+CodeOverBlock] && !(by.Slashed() && sel[0] != '/') && !hasFinal(drawn):
						t.Fatalf("%s as %s: over-block %q (%+v)\n%s", reader, robot, sel, by, dump(drawn, c))
					}
				}
			}
		}
	}
	if strings.Contains(string(c.File()), "Content-Usage: ") || holds(drawn, "Content-Usage: ") {
		if faults := preferenceFaults(c.File(), resources); len(faults) > 0 {
			t.Fatalf("preferences: %s\n%s", faults[0], dump(drawn, c))
		}
	}
	silent(t, drawn, c)
}

// TestLargeTrees is TestReaders with 5,000 names in a tree, of readers after RFC 9309
// alone; it is for a machine with time: TEST_GOPHD_ALL=1.
func TestLargeTrees(t *testing.T) {
	if os.Getenv("TEST_GOPHD_ALL") == "" {
		t.Skip("TEST_GOPHD_ALL=1 asks for it")
	}
	rapid.Check(t, func(t *rapid.T) {
		root, few := prooftest.Draw(t, prooftest.Vile)
		names := 0
		for names < 5000 {
			names = fill(root, few, names)
		}
		c := Compile(Input{Root: drawnTree(root, "/")}, nil)
		for _, r := range c.Reports() {
			if r.Code == CodeUnnamedLeak {
				t.Fatalf("%v\n%s", r, dump(root, c))
			}
		}
		file := robots.Parse(robots.RFC9309, c.File())
		for _, robot := range append([]string{"*"}, prooftest.Robots...) {
			if robot == veronica {
				continue
			}
			rules := file.Agent(robot)
			for _, res := range prooftest.Resources(root, few) {
				by := prooftest.Decide(res.Path, robot, res.Sel)
				if got := rules.Allowed(escape(res.Sel)); res.Sel != "/robots.txt" && got == by.Denied() && (got || !hasFinal(root)) {
					t.Fatalf("%s into %q: %v, and by %+v\n%s", robot, res.Sel, got, by, dump(root, c))
				}
			}
		}
	})
}

// fill adds 100 files to each directory and counts them.
func fill(d *prooftest.Dir, few []string, names int) int {
	for range 100 {
		d.Files = append(d.Files, fmt.Sprintf("%s%04d%s", few[names%len(few)], names, few[names/len(few)%len(few)]))
		names++
	}
	slices.Sort(d.Files)
	for _, sub := range d.Dirs {
		names = fill(sub, few, names)
	}
	return names
}

func toldOf(reader, file string, line int) string { return fmt.Sprintf("%s %s:%d", reader, file, line) }

// alike returns the robots that a report is about, too, though its line is not for them:
// it is that of the first of several robots that are treated alike, or of everybody.
func alike(c *Compiled) []string {
	file := strings.ToLower(string(c.File()))
	stacks := strings.Join(stacked.FindAllString(file, -1), "")
	var list []string
	for _, name := range slices.Concat(robotsNames, prooftest.Robots) {
		line := "user-agent: " + strings.ToLower(name) + "\n"
		if strings.Contains(stacks, line) || !strings.Contains(file, line) {
			list = append(list, strings.ToLower(name))
		}
	}
	return list
}

var stacked = regexp.MustCompile(`(user-agent: .*\n){2,}`)

// hasFinal reports whether some annotation has the last word: where that cannot be
// said exactly, more is denied.
func hasFinal(d *prooftest.Dir) bool { return holds(d, "Final: ") }

// holds reports whether a text stands in some annotation.
func holds(d *prooftest.Dir, text string) bool {
	return strings.Contains(d.Text, text) || slices.ContainsFunc(d.Dirs, func(sub *prooftest.Dir) bool { return holds(sub, text) })
}

// takenForAnother reports whether a robot that nobody names has a name with a part
// that is named: readers of 1994 take it for that one.
func takenForAnother(d *prooftest.Dir, robot string) bool {
	part := false
	for _, name := range prooftest.Robots {
		if named := holds(d, "User-agent: "+name+"\n") || holds(d, "User-agent: "+name+"/"); named && name == robot {
			return false
		} else if named && strings.Contains(robot, name) {
			part = true
		}
	}
	return part
}

// silent checks that the file holds nothing but names on the way to an annotation
// and what stands in the rules.
func silent(t *rapid.T, drawn *prooftest.Dir, c *Compiled) {
	var all strings.Builder
	var walk func(d *prooftest.Dir) bool
	var names []string
	walk = func(d *prooftest.Dir) bool {
		noted := d.Text != ""
		all.WriteString(d.Text)
		for _, sub := range d.Dirs {
			noted = walk(sub) || noted
		}
		if noted {
			names = append(names, d.Name, prooftest.Escape(d.Name))
		}
		return noted
	}
	walk(drawn)
	for _, name := range drawn.Files {
		said := strings.Contains(all.String(), name) || strings.Contains(prooftest.Escape(all.String()), name) || strings.Contains(all.String(), prooftest.Escape(name)) || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, name) })
		if len(name) > 3 && !said && strings.Contains(string(c.File()), "/"+name) {
			t.Fatalf("the file says %q, which nobody wrote\n%s", name, dump(drawn, c))
		}
	}
}

func dump(d *prooftest.Dir, c *Compiled) string {
	var b strings.Builder
	var walk func(d *prooftest.Dir, sel string)
	walk = func(d *prooftest.Dir, sel string) {
		if d.Text != "" {
			_, _ = fmt.Fprintf(&b, "== %s\n%s", prooftest.File(sel), d.Text)
		}
		for _, sub := range d.Dirs {
			walk(sub, sel+sub.Name+"/")
		}
	}
	walk(d, "/")
	_, _ = fmt.Fprintf(&b, "== robots.txt\n%s== reports\n", c.File())
	for _, r := range c.Reports() {
		_, _ = fmt.Fprintln(&b, r.Diagnostic, r.Readers)
	}
	return b.String()
}
