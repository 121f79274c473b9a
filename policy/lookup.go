package policy

import (
	"slices"
	"strings"
)

// Closed reports whether a selector is a closed spelling: one the server answers
// with a pointer to the canonical selector only, because no robots.txt can deny
// it without denying something else:
//
//   - "/d" of a denied directory, where "/dirt.txt" is allowed,
//   - "#x" without its slash, since # cannot stand at the beginning of a pattern.
func (c *Compiled) Closed(selector string) (canonical string, ok bool) {
	if isRobotsSelector(selector) {
		return "", false
	}
	if canonical, ok := c.closed[selector]; ok {
		return canonical, true
	}
	if !leads(selector) {
		return "", false
	}
	name := strings.TrimSuffix(selector, "/")
	dir := findDir(c.root, name) != nil
	if !c.Denied(name, dir) {
		return "", false
	}
	if dir {
		return "/" + name + "/", true
	}
	return "/" + selector, true
}

// Denied reports whether any robot is denied a resource. The name is a path
// below the root, "." for the root itself.
func (c *Compiled) Denied(name string, dir bool) bool {
	for _, s := range c.sections {
		if s.verdict.denies(name, dir) {
			return true
		}
	}
	return false
}

func (v *verdict) denies(name string, dir bool) bool {
	root := true
	for name != "." && name != "" && v.kind == mixed {
		first, rest, more := strings.Cut(name, "/")
		if root && !dir && name == robotsFile {
			return false
		}
		if !more && !dir {
			i, ok := slices.BinarySearch(v.dir.Files, first)
			return ok && v.files[i] != nil
		}
		i, ok := searchDir(v.dir, first)
		if !ok {
			return false
		}
		v, name, root = v.dirs[i], rest, false
	}
	return v.kind == denied || v.kind == mixed && v.menu != nil
}

func searchDir(d *Dir, name string) (int, bool) {
	return slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
}

// Has reports whether there is a resource below d: a directory or a file. The
// name is a path, "." for d itself.
func (d *Dir) Has(name string, dir bool) bool {
	if dir {
		return findDir(d, name) != nil
	}
	above, file := ".", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		above, file = name[:i], name[i+1:]
	}
	in := findDir(d, above)
	return in != nil && slices.Contains(in.Files, file)
}

// findDir gives the directory of a path, nil if there is none.
func findDir(d *Dir, name string) *Dir {
	for name != "." && name != "" {
		first, rest, _ := strings.Cut(name, "/")
		i, ok := searchDir(d, first)
		if !ok {
			return nil
		}
		d, name = d.Dirs[i], rest
	}
	return d
}
