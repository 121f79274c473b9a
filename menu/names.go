package menu

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// addNames appends an item for each name in a directory, directories first. Files
// are of type typ; if it is '?', their names and contents decide.
func (m *making) addNames(dir string, names []listed, typ byte) {
	sortNames(names)
	m.menu.Items = slices.Grow(m.menu.Items, min(len(names), maxItems))
	var abstracts map[string]bool
	if typ == '?' {
		abstracts = described(names)
	}
	column := 0
	if m.Dates {
		column = labelWidth(names)
	}
	for _, l := range names {
		if m.full() || m.ctx.Err() != nil {
			return
		}
		full := selector.Join(dir, l.name)
		it := Item{
			Type:     typ,
			Label:    l.name,
			Selector: selector.Canonical(full, l.dir),
			Host:     m.Host,
			Port:     m.Port,
		}
		switch {
		case typ == '?' && !l.dir && strings.HasSuffix(l.name, "."+mapName) && len(m.maps) == 0 &&
			m.inline(full):
			continue
		case typ == '?' && !l.dir && abstracts[strings.TrimSuffix(l.name, abstractName)] &&
			strings.HasSuffix(l.name, abstractName):
			continue // shown below its file
		case l.dir:
			it.Type = TypeMenu
			if label := m.tag(full); label != "" {
				it.Label = label
			}
		case typ == '?':
			it.Type = m.fileType(full)
		}
		if m.Dates {
			it.Label = m.dated(it.Label, full, column)
		}
		m.add(it)
		if abstracts[l.name] {
			m.abstract(full + abstractName)
		} else if l.dir && typ == '?' && m.look() {
			m.abstract(selector.Join(full, abstractName))
		}
	}
}

// inline appends the items of a map of a listing in its place, as gophernicus does.
func (m *making) inline(name string) bool {
	if m.inlining {
		return false
	}
	m.inlining = true
	defer func() { m.inlining = false }()
	return m.file(name) == nil
}

// abstract appends the lines of a file that describes another, or the directory. It reports
// whether there is one.
func (m *making) abstract(name string) bool {
	text, err := m.source(name)
	for line := range strings.Lines(text) {
		m.add(Info(m.shown(strings.TrimRight(line, "\r\n"))))
	}
	return err == nil
}

// described returns the names that have an abstract in a listing: y.txt has y.txt.abstract.
func described(names []listed) map[string]bool {
	abstracts := map[string]bool{} // whether the name is listed
	for _, l := range names {
		if base, ok := strings.CutSuffix(l.name, abstractName); ok && !l.dir {
			abstracts[base] = false
		}
	}
	for _, l := range names {
		if _, found := abstracts[l.name]; found {
			abstracts[l.name] = true
		}
	}
	return abstracts
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
		m.problem(CodeRead, "cannot be read to its end: %s", diag.Cause(err))
	}
	names := make([]listed, 0, len(entries))
	bad := 0
	for _, e := range entries {
		if m.ctx.Err() != nil {
			break
		}
		l := listed{name: e.Name()}
		switch reason := selector.Refusal(l.name); {
		case reason == selector.Control || reason == selector.Malformed ||
			reason == selector.TooLong:
			bad++
		case reason == "" && m.served(dir, e, &l):
			names = append(names, l)
		}
	}
	if bad > 0 {
		m.report(CodeName, dir, 0,
			diag.Count(bad, "name", "names")+
				" not listed: control characters, bytes that are not UTF-8 (such a file is sent to clients that name it by its bytes), or more than 255 bytes")
	}
	return names, nil
}

// served reports whether an entry is listed, and sets its kind. Only a link is looked
// up in the tree.
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

// The width of the column of names, in characters: a line of 67 without
// date and size, or less if all names are shorter.
const (
	minLabel = 12
	maxLabel = 67 - len("  2006-01-02   123.4 kB")
)

// labelWidth returns the width of the column of names.
func labelWidth(names []listed) int {
	column := minLabel
	for _, l := range names {
		column = max(column, columns(l.name))
	}
	return min(column, maxLabel)
}

// columns returns how many columns of a terminal a text takes.
func columns(text string) (n int) {
	for _, r := range text {
		if unicode.Is(unicode.Mn, r) {
			continue // a mark is drawn on the character before it
		}
		n++
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n++
		}
	}
	return n
}

// dated puts date and size behind a label, in columns. A label that is longer than
// its column moves them.
func (m *making) dated(label, name string, column int) string {
	if !m.look() {
		return label
	}
	info, err := fs.Stat(m.FS, name)
	if err != nil {
		return label
	}
	size := ""
	if !info.IsDir() {
		size = sizeText(info.Size())
	}
	pad := strings.Repeat(" ", max(0, column-columns(label)))
	return strings.TrimRight(fmt.Sprintf("%s%s  %s  %9s", label, pad,
		info.ModTime().UTC().Format("2006-01-02"), size), " ")
}

var sizeUnits = []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}

// sizeText writes a number of bytes for people: "512 B", "1.4 kB", "20 MB". A kB is
// 1,000 bytes.
func sizeText(n int64) string {
	f, unit := float64(n), 0
	for ; f >= 999.5; unit++ {
		f /= 1000
	}
	if unit == 0 || f >= 99.95 {
		return fmt.Sprintf("%.0f %s", f, sizeUnits[unit])
	}
	return fmt.Sprintf("%.1f %s", f, sizeUnits[unit])
}
