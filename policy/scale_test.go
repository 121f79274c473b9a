package policy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostOf is a host of users, every nth of whom has an annotation.
func hostOf(users, nth int, root string, note func(user string) string) *Dir {
	d := &Dir{Files: []string{"about.txt"}}
	if root != "" {
		d.Notes = []*Annotation{{File: ".robots", Data: []byte(root)}}
	}
	for u := range users {
		name := fmt.Sprintf("~user%05d", u)
		home := &Dir{Name: name, Files: []string{"a.txt", "plan"}, Dirs: []*Dir{{Name: "phlog", Files: []string{"1.txt"}}, {Name: "private", Files: []string{"diary.txt"}}}}
		if u%nth == 0 {
			home.Notes = []*Annotation{{File: name + "/.robots", Data: []byte(note(name))}}
		}
		d.Dirs = append(d.Dirs, home)
	}
	return d
}

func private(string) string { return "Disallow: /private/\n" }

// beside puts another top-level directory beside those of a host.
func beside(host *Dir, d *Dir) *Dir {
	dirs := slices.Clone(host.Dirs)
	i, _ := slices.BinarySearchFunc(dirs, d.Name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	return &Dir{Files: host.Files, Notes: host.Notes, Dirs: slices.Insert(dirs, i, d)}
}

func chain(name string, depth int, note func(i int) string) *Dir {
	var d *Dir
	for i := depth - 1; i >= 0; i-- {
		up := &Dir{Name: "d", Notes: []*Annotation{{File: fmt.Sprintf("%s/%d/.robots", name, i), Data: []byte(note(i))}}}
		if d != nil {
			up.Dirs = []*Dir{d}
		}
		d = up
	}
	d.Name = name
	return d
}

func manyRobots(n, from int) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, "User-agent: bot%d\nDisallow: /%d\n", from+i, i%5)
	}
	return b.String()
}

// hostile are neighbours that cost as much as they can.
func hostile() map[string]*Dir {
	var rules strings.Builder
	for i := range 999 {
		_, _ = fmt.Fprintf(&rules, "Disallow: *%d*a*b*c\n", i)
	}
	files := &Dir{Name: "files", Notes: []*Annotation{{File: "files/.robots", Data: []byte("Disallow: /*.zip$\n")}}}
	for i := range 16_000 {
		files.Files = append(files.Files, fmt.Sprintf("%05d.zip", i), fmt.Sprintf("%05d.zip.sha256", i))
	}
	var many strings.Builder
	for i := range 200 {
		_, _ = fmt.Fprintf(&many, "Disallow: /*q%d\n", i)
	}
	globs := &Dir{Name: "globs", Notes: []*Annotation{{File: "globs/.robots", Data: []byte(many.String())}}}
	for i := range 2000 {
		globs.Files = append(globs.Files, fmt.Sprintf("entry%04d.txt", i))
	}
	return map[string]*Dir{
		"globs":     globs,
		"chain400":  chain("chain", 400, func(i int) string { return "Disallow: /x\nAllow: /y\n" }),
		"chain1900": chain("chain", 1900, func(i int) string { return "Disallow: /x\nAllow: /y\n" }),
		"robots31":  chain("robots", 100, func(i int) string { return manyRobots(31, 31*i) }),
		"robots31s": chain("robots", 100, func(i int) string { return manyRobots(31, 0) }),
		"rules":     chain("rules", 10, func(i int) string { return rules.String() }),
		"names":     chain("names", 4, func(i int) string { return manyRobots(250, 250*i) }),
		"files":     files,
		"preferences": chain("preferences", 10, func(i int) string {
			var b strings.Builder
			for j := range 990 {
				_, _ = fmt.Fprintf(&b, "Content-Usage: /%060d train-ai=n\n", j)
			}
			return b.String()
		}),
		"finals": chain("finals", 10, func(i int) string { return strings.Repeat("Final: /*a\nDisallow: /*b\nAllow: /*c*d\n", 300) }),
	}
}

func TestHostileNeighbours(t *testing.T) {
	host := hostOf(300, 3, "", private)
	for name, d := range hostile() {
		if only := os.Getenv("ONLY"); only != "" && only != name {
			continue
		}
		start := time.Now()
		c := Compile(Input{Root: beside(host, d)}, nil)
		t.Logf("%s: %v, %d bytes", name, time.Since(start), len(c.File()))
		if len(c.File()) > maxBytes {
			t.Errorf("%s: %d bytes", name, len(c.File()))
		}
		for u := range 300 {
			line := fmt.Sprintf("\nDisallow: /~user%05d/private/\n", u)
			if got := strings.Contains(string(c.File()), line); got != (u%3 == 0) {
				t.Fatalf("%s: user %d has a line: %v\n%.2000s", name, u, got, c.File())
			}
		}
	}
}

func TestSizes(t *testing.T) {
	glob := "Disallow: /*.zip$\nDisallow: /*.iso$\nDisallow: /*.tar.gz$\n"
	lines := func(c *Compiled) int { return strings.Count(string(c.File()), "\n") }
	three := Compile(Input{Root: &Dir{Notes: []*Annotation{{File: ".robots", Data: []byte(glob)}}}}, nil)
	four := Compile(Input{Root: &Dir{Notes: []*Annotation{{File: ".robots", Data: []byte(glob + "Disallow: /*.rar$\n")}}}}, nil)
	if lines(three) > 20 || lines(four) != lines(three)+4 {
		t.Errorf("%d lines, and with another rule %d", lines(three), lines(four))
	}
	for _, test := range []struct {
		root string
		most int
	}{{"", 200_000}, {"Disallow: /*.zip$\n", 400_000}} {
		start := time.Now()
		c := Compile(Input{Root: hostOf(30_000, 10, test.root, private)}, nil)
		t.Logf("30,000 users: %v, %d bytes", time.Since(start), len(c.File()))
		if len(c.File()) > test.most || slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeCoarsened }) {
			t.Errorf("%d bytes of %d", len(c.File()), test.most)
		}
	}
}
