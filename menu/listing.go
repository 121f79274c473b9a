package menu

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// listed is a file or directory of a listing.
type listed struct {
	name string
	dir  bool
}

// list appends what is in the directory, but for what is hidden.
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

// addNames appends an item for each name in a directory, directories first. Files
// are of type typ; if it is '?', the name and what is in them decide.
func (m *making) addNames(dir string, names []listed, typ byte) {
	sortNames(names)
	newestFirst(names)
	names = enough(dir, names)
	selectors := concatSelectors(dir, names)
	m.menu.Items = slices.Grow(m.menu.Items, len(names))
	width := 0
	if m.Dates {
		width = labelWidth(names)
	}
	for _, l := range names {
		if m.full() || m.stopped() {
			return
		}
		n := selectorLen(dir, l)
		it := Item{Type: typ, Label: l.name, Selector: selectors[:n], Host: m.Host, Port: m.Port}
		selectors = selectors[n:]
		full := strings.Trim(it.Selector, "/")
		switch {
		case l.dir:
			it.Type = TypeMenu
			if label := m.tag(full); label != "" {
				it.Label = label
			}
		case typ == '?':
			it.Type = m.fileType(full)
		}
		if m.Dates {
			it.Label = m.dated(it.Label, full, width)
		}
		m.add(it)
	}
}

// enough returns as many of the names as more than fill a menu.
func enough(dir string, names []listed) []listed {
	size := 0
	for i, l := range names {
		if size += selectorLen(dir, l); i == maxItems || size > maxSize {
			return names[:i+1]
		}
	}
	return names
}

// concatSelectors returns the canonical selectors of all names one after the
// other: one string for a whole listing.
func concatSelectors(dir string, names []listed) string {
	size := 0
	for _, l := range names {
		size += selectorLen(dir, l)
	}
	prefix := selector.Canonical(dir, true)
	var b strings.Builder
	b.Grow(size)
	for _, l := range names {
		b.WriteString(prefix)
		b.WriteString(l.name)
		if l.dir {
			b.WriteByte('/')
		}
	}
	return b.String()
}

func selectorLen(dir string, l listed) int {
	n := len("/") + len(l.name)
	if dir != "." {
		n += len(dir) + len("/")
	}
	if l.dir {
		n += len("/")
	}
	return n
}

// names returns what may be listed of a directory, in no order. Several patterns
// in a row read it once.
func (m *making) names(dir string) ([]listed, error) {
	if m.lastList != nil && m.lastDir == dir {
		return m.lastList, nil
	}
	names, err := m.readNames(dir)
	m.toList -= len(names)
	m.lastDir, m.lastList = dir, names
	return names, err
}

func (m *making) readNames(dir string) ([]listed, error) {
	entries, err := fs.ReadDir(m.FS, dir)
	if err != nil && len(entries) == 0 {
		return nil, err
	}
	if err != nil {
		m.problem(CodeRead, "cannot be read to its end: %s", cause(err))
	}
	names := make([]listed, 0, len(entries))
	bad := 0
	for _, e := range entries {
		if m.stopped() {
			break
		}
		l := listed{name: e.Name()}
		switch reason := selector.Refusal(l.name); {
		case reason == selector.Control || reason == selector.Malformed || reason == selector.TooLong:
			bad++
		case reason == "" && m.served(dir, e, &l):
			names = append(names, l)
		}
	}
	if bad > 0 {
		m.report(CodeName, dir, 0, diag.Count(bad, "name", "names")+" not listed: no client can ask for control characters, for what is no UTF-8, or for more than 255 bytes")
	}
	return names, nil
}

// served reports whether an entry is something to list, and sets what it is. Only
// for a link the tree has to be asked.
func (m *making) served(dir string, e fs.DirEntry, l *listed) bool {
	switch t := e.Type(); {
	case t.IsDir():
		l.dir = true
		return true
	case t&fs.ModeSymlink != 0:
		info, err := fs.Stat(m.FS, selector.Join(dir, l.name))
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return false
		}
		l.dir = info.IsDir()
	case !t.IsRegular():
		return false
	}
	return l.dir || l.name != gphName
}

// Patterns are compared with all names of a directory, so that a few lines could
// keep a processor busy for long. What is compared is counted for the whole menu;
// a pattern that is too much is shown as text, and the listing made without it.

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
	m.menu.Files = append(m.menu.Files, dir)
	all, err := m.names(dir)
	if err != nil {
		m.bad(CodePattern, pattern, "cannot be listed: %s", cause(err))
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

// matching returns the names that a pattern matches. ok is false, and it is told,
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
