package menu

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/selector"
)

// Directories of UMN gopherd, which pygopherd serves, too, have no map. Their
// listing is changed by files whose names begin with a dot: .names and .Links contain
// blocks of fields, one for an item, with an empty line or a comment between them:
//
//	Name=About this server
//	Path=./about.txt
//	Numb=1
//
// A path that begins with "./" or "~/" describes a file that is listed; others are
// items of their own. .cap/NAME is a block for the file NAME. Type X
// takes a file out of the listing. .abstract is shown above it, and the abstract of
// an item below it.

// The names of these files.
const (
	namesName    = ".names"
	linksName    = ".Links"
	capName      = ".cap"
	abstractName = ".abstract"
)

// umnEntry is a block.
type umnEntry struct {
	mapEntry
	number   int       // in the order: positive numbers first, then none, then negative ones
	merges   bool      // it describes a file that is listed
	abstract []string  // lines
	source   mapSource // its place
}

// readUMN appends the lines above a listing, and returns the blocks. ok is false
// if the directory has none of these files.
func (m *making) readUMN() (list []umnEntry, ok bool) {
	ok = m.abstract(selector.Join(m.dir, abstractName))
	for _, base := range []string{namesName, linksName} {
		name := selector.Join(m.dir, base)
		if text, err := m.source(name); err == nil {
			ok = true
			list = append(list, m.parseUMN(mapSource{file: name, rest: text})...)
		}
	}
	dir := selector.Join(m.dir, capName)
	names, err := m.readNames(dir)
	if err != nil {
		return list, ok
	}
	for _, l := range names {
		if l.dir || !m.look() {
			continue
		}
		name := selector.Join(dir, l.name)
		text, err := m.source(name)
		if err != nil {
			continue
		}
		if blocks := m.parseUMN(mapSource{file: name, rest: text}); len(blocks) > 0 {
			blocks[0].merges, blocks[0].selector = true, l.name
			list = append(list, blocks[0])
		}
	}
	return list, true
}

// parseUMN reads blocks. A line that is no field is passed over.
func (m *making) parseUMN(s mapSource) (list []umnEntry) {
	var e umnEntry
	began := false
	for {
		line, more := s.next()
		line = strings.TrimSpace(m.shown(line))
		comment := strings.HasPrefix(line, "#")
		if !more || line == "" || comment && e.selector != "" {
			if began {
				list = append(list, e)
			}
			e, began = umnEntry{}, false
		}
		if !more || len(list) > maxItems {
			return list
		}
		if key, value, found := strings.Cut(line, "="); found {
			if !began {
				e.source = mapSource{file: s.file, line: s.line}
			}
			began = m.setField(&e, key, value, &s) || began
		}
	}
}

// setField sets a field of a block, and reports whether it is one that is known.
func (m *making) setField(e *umnEntry, key, value string, s *mapSource) bool {
	switch key {
	case "Type":
		if value != "" {
			e.typ = value[0]
		}
	case "Name":
		e.label = value
	case "Path":
		e.selector = value
		for _, here := range []string{"./", "~/"} {
			if name, found := strings.CutPrefix(value, here); found {
				e.selector, e.merges = strings.TrimSuffix(name, "/"), true
			}
		}
	case "Host":
		e.host = own(value)
	case "Port":
		e.port = own(value)
	case "Numb":
		e.number, _ = strconv.Atoi(value)
	case "Abstract":
		for more := true; more; {
			value, more = strings.CutSuffix(value, "\\")
			e.abstract = append(e.abstract, value)
			if more {
				value, more = s.next()
				value = strings.TrimSpace(m.shown(value))
			}
		}
	default:
		return false
	}
	return true
}

// merged is an item of a listing with what blocks change in it.
type merged struct {
	items    []Item // one, or lines that are shown instead
	number   int
	abstract []string
}

// addMerged appends a listing as the blocks change it.
func (m *making) addMerged(names []listed, blocks []umnEntry) {
	var list []merged
	at := map[string]int{}
	for _, it := range m.aside(func() { m.addNames(m.dir, names, '?') }) {
		at[strings.TrimSuffix(it.Selector, "/")] = len(list)
		list = append(list, merged{items: []Item{it}})
	}
	for _, e := range blocks {
		i, listed := at["/"+fold(m.dir, e.selector)]
		listed = listed && e.merges
		hides := e.typ == 'X' || e.typ == '-'
		switch {
		case !listed && hides:
		case !listed:
			items := m.aside(func() { m.addBlock(e) })
			list = append(list, merged{items, e.number, e.abstract})
		case hides:
			list[i].items = nil
		default:
			list[i].merge(e)
		}
	}
	slices.SortStableFunc(list, func(a, b merged) int { return compareNumbers(a.number, b.number) })
	for _, x := range list {
		for _, it := range x.items {
			m.add(it)
			for _, line := range x.abstract {
				m.add(Info(line))
			}
		}
	}
}

// merge changes a listed item.
func (x *merged) merge(e umnEntry) {
	if len(x.items) == 1 {
		it := &x.items[0]
		it.Label = cmp.Or(e.label, it.Label)
		if IsType(e.typ) {
			it.Type = e.typ
		}
	}
	x.number, x.abstract = cmp.Or(e.number, x.number), append(x.abstract, e.abstract...)
}

// aside returns the items that f adds, which are not added.
func (m *making) aside(f func()) []Item {
	begin, size := len(m.menu.Items), m.size
	f()
	items := slices.Clone(m.menu.Items[begin:])
	m.menu.Items, m.size = m.menu.Items[:begin], size
	return items
}

// addBlock adds the item of a block that describes no listed file, or its label if it cannot be
// linked. UMN gopherd's own selectors begin with the type of what they name.
func (m *making) addBlock(e umnEntry) {
	m.maps = append(m.maps, e.source)
	defer func() { m.maps = nil }()
	if e.host == "" && len(e.selector) > 1 && e.selector[1] == '/' && !e.merges &&
		!m.namesSomething(e.selector) && m.namesSomething(e.selector[1:]) {
		e.selector = e.selector[1:]
	}
	if e.typ == 0 {
		e.typ = '?'
	}
	if e.selector == "" && e.host == "" {
		m.add(Info(e.label))
		return
	}
	e.label = cmp.Or(e.label, e.selector)
	m.entry(e.mapEntry)
}

// compareNumbers orders items as UMN gopherd does: from 1 up, then those without a
// number, then negative ones.
func compareNumbers(a, b int) int {
	if x, y := cmp.Compare(a, 0), cmp.Compare(b, 0); x != y {
		return y - x
	}
	return cmp.Compare(a, b)
}
