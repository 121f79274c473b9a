package proof

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// usage is a Content-Usage line of the robots.txt.
type usage struct {
	path   string // in URI form
	exact  bool   // the path is literal
	states readers.Statement
	line   int
}

func (g *fileGroup) addUsage(l readers.Line) {
	path, value := "", l.Value
	if strings.HasPrefix(value, "/") {
		end := strings.IndexAny(value+" ", " \t")
		path, value = value[:end], strings.TrimLeft(value[end:], " \t")
	}
	if states, err := readers.ParseUsage(value); err == nil {
		literal := !strings.ContainsAny(path, "*$")
		g.usages = append(g.usages,
			usage{readers.URI.Of(selector.Decoded(path)), literal, states, l.Number})
	}
}

// usagesFor returns the lines that a robot obeys, by path. Lines with the same path are
// one.
func (c *checker) usagesFor(robot string) (byPath map[string]*usage, others []usage) {
	byPath = map[string]*usage{}
	if !c.inFile[robot] {
		robot = "*"
	}
	for _, g := range c.groups {
		if !slices.Contains(g.names, robot) {
			continue
		}
		for _, u := range g.usages {
			switch same := byPath[u.path]; {
			case !u.exact:
				others = append(others, u)
			case same != nil:
				same.states = same.states.Combine(u.states)
			default:
				byPath[u.path] = &u
			}
		}
	}
	return byPath, others
}

// compareUsage compares the preferences of the annotations with those of the file. Neither
// changes between the paths that one of them states, so only these paths are compared.
func (c *checker) compareUsage(robot string, p *policy) {
	if c.isRow(robot) {
		return
	}
	row := len(c.Readers)
	got, others := c.usagesFor(robot)
	for _, u := range others {
		c.compareKeys(row, robot, u.path, u.states, p.prefers(u.path), u.line)
	}

	paths := []string{"/"}
	for path := range got {
		if path != "" {
			paths = append(paths, path)
		}
	}
	for _, s := range p.states {
		paths = append(paths, s.path.Pieces[0])
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		c.Rows[row].Rules++
		for n := len(path); n >= 0; n-- {
			if u := got[path[:n]]; u != nil || n == 0 {
				if u == nil {
					u = &usage{}
				}
				c.compareKeys(row, robot, path, u.states, p.prefers(path), u.line)
				break
			}
		}
	}
}

// compareKeys records what a line states otherwise than the annotations.
func (c *checker) compareKeys(row int, robot, path string, got readers.Statement,
	want map[string]stated, line int) {
	note := func(leak bool, by stated) {
		f := Finding{
			Leak:     leak,
			Pattern:  path,
			Written:  line,
			Examples: []string{selector.Decoded(path)},
		}
		if by.statement != nil {
			f.File = by.file
			f.Line = by.line
			f.Dir = by.dir
		}
		c.record(f, row, robot)
	}
	for key, by := range want {
		if got.Of(key) != by.states[key] {
			note(by.states[key] == readers.No || got.Of(key) == readers.Yes, by)
		}
	}
	for _, s := range got {
		if _, ok := want[s.Key]; !ok && s.Preference != readers.Unstated {
			note(s.Preference == readers.Yes, stated{})
		}
	}
}
