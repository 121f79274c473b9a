package menu

import (
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// isGlob says whether a label can stand for several files.
func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// glob appends the files whose names match the last element of a pattern, below
// the directory or, if it begins with a slash, below the root. What it appends a
// later listing leaves out.
func (m *making) glob(pattern string, typ byte) {
	if m.mapsOnly {
		return
	}
	full := fold(m.dir, pattern)
	dir, base := path.Dir(full), path.Base(full)
	m.globs++
	if _, err := path.Match(base, ""); err != nil || !selector.AskableName(full) {
		m.bad(CodePattern, pattern, "no pattern of file names")
		return
	}
	if m.globs > maxGlobs {
		m.bad(CodeLimit, pattern, "more than %d patterns", maxGlobs)
		return
	}
	m.menu.Files = append(m.menu.Files, dir)
	all, err := m.names(dir)
	if err != nil {
		m.bad(CodePattern, pattern, "cannot be listed: %s", cause(err))
		return
	}
	matches := matching(base, all)
	if len(matches) == 0 {
		m.bad(CodePattern, pattern, "matches no file")
	}
	for _, l := range matches {
		m.hide(dir, l.name)
	}
	m.addNames(dir, matches, typ)
}

// matching returns the names that a pattern matches.
func matching(pattern string, names []listed) []listed {
	var matches []listed
	for _, l := range names {
		if ok, _ := path.Match(pattern, l.name); ok {
			matches = append(matches, l)
		}
	}
	return matches
}

// hideLine leaves a name out of the listing, or all that match a pattern, which
// gophernicus would take for a name.
func (m *making) hideLine(name string) {
	_, err := path.Match(name, "")
	switch {
	case !isGlob(name) || err != nil:
		m.hide(m.dir, name)
	case len(m.patterns) < maxPatterns:
		m.patterns = append(m.patterns, name)
	default:
		m.problem(CodeLimit, "more than %d patterns of names to hide", maxPatterns)
	}
}

// hide leaves a name out of the listing of the directory.
func (m *making) hide(dir, name string) {
	if dir != m.dir {
		return
	}
	if m.hidden == nil {
		m.hidden = map[string]bool{}
	}
	m.hidden[name] = true
}

func (m *making) isHidden(l listed) bool {
	return m.hidden[l.name] || slices.ContainsFunc(m.patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, l.name)
		return ok
	})
}
