package menu

import (
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// list appends the entries of the directory that are not hidden.
func (m *making) list() error {
	names, err := m.names(m.dir)
	if err != nil {
		return err
	}
	m.lastList = nil // names is changed
	names = slices.DeleteFunc(names, func(l listed) bool { return m.hidden[l.name] })
	if blocks, ok := m.readUMN(); ok {
		m.addMerged(names, blocks)
	} else {
		m.addNames(m.dir, names, '?')
	}
	return nil
}

// listHere appends the listing of the directory to what a map says.
func (m *making) listHere() {
	if m.mapsOnly || m.inlining {
		return
	}
	if err := m.list(); err != nil {
		m.report(CodeRead, m.dir, 0, "cannot be listed: "+diag.Cause(err).Error())
	}
}

// Patterns are compared with all names of a directory, so a few lines could keep a
// processor busy for long. The work is counted for the whole menu: a pattern beyond the
// bound is shown as text, and the listing is made without it.

// isGlob reports whether a label can stand for several files.
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
	switch {
	case m.globs > maxGlobs:
		m.bad(CodeLimit, pattern, "more than %d patterns", maxGlobs)
		return
	case m.toList < 0:
		m.bad(CodeLimit, pattern, "more than %d names were read for patterns", maxNames)
		return
	}
	all, err := m.names(dir)
	if err != nil {
		m.bad(CodePattern, pattern, "cannot be listed: %s", diag.Cause(err))
		return
	}
	matches, ok := m.matching(base, all)
	if !ok {
		m.add(Info(pattern))
		return
	}
	if len(matches) == 0 {
		m.bad(CodePattern, pattern, "matches no file")
	}
	for _, l := range matches {
		m.hide(dir, l.name)
	}
	m.addNames(dir, matches, typ)
}

// matching returns the names that a pattern matches. ok is false, with a report,
// if that would be too much to compare.
func (m *making) matching(pattern string, names []listed) (matches []listed, ok bool) {
	stars := 1 + strings.Count(pattern, "*")
	for _, l := range names {
		if m.compared += (1 + len(l.name)) * stars; m.compared > maxCompared {
			m.problem(CodeLimit, "patterns and names are too many to be compared")
			return nil, false
		}
		if m.stopped() {
			return nil, false
		}
		if ok, _ := path.Match(pattern, l.name); ok {
			matches = append(matches, l)
		}
	}
	return matches, true
}

// hidePattern leaves names out of the listing, and reports whether there are any.
func (m *making) hidePattern(pattern string, names []listed) bool {
	if m.patterns++; m.patterns > maxPatterns {
		m.problem(CodeLimit, "more than %d patterns of names to hide", maxPatterns)
		return true
	}
	matches, ok := m.matching(pattern, names)
	for _, l := range matches {
		m.hide(m.dir, l.name)
	}
	return !ok || len(matches) > 0
}
