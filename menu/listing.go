package menu

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
	selectors := concatSelectors(dir, names)
	m.menu.Items = slices.Grow(m.menu.Items, min(len(names), maxItems))
	width := 0
	if m.Dates {
		width = labelWidth(names)
	}
	for _, l := range names {
		if len(m.menu.Items) > maxItems || m.stopped() {
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
		m.report(CodeName, dir, 0, fmt.Sprintf("%d names that no client can ask for are not listed: control characters, no UTF-8, too long", bad))
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
