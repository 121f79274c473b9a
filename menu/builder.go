package menu

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// The bounds of one menu. What goes beyond them is reported and left out; the rest
// is served.
const (
	maxItems    = 100_000 // items; a last one says that there are more
	maxLine     = 4096    // octets of a line of a map
	maxFile     = 1 << 20 // octets of a map
	maxRead     = 4 << 20 // octets of all maps of a menu
	maxDepth    = 4       // includes in includes
	maxIncludes = 100
	maxGlobs    = 100
	maxPatterns = 30 // of names to hide
	maxProblems = 100
	// maxLooks is how many files and directories are looked at beside the maps
	// and the directory. After that names alone decide: a file of unknown type is
	// text, a directory goes by its name, a relative selector gets no slash.
	maxLooks = 5000
)

// The names that are not listed, since they say how a directory is shown.
const (
	mapName = "gophermap"
	gphName = "index.gph"
	tagName = "gophertag"
)

// Builder makes the menus of the directories of a tree. Its methods may be used by
// several goroutines at once.
//
// A gophermap of more than 1 MiB is cut, a line of more than 4,096 octets is left
// out, and so is what would make a menu longer than 100,000 items, read more than
// 4 MiB, nest includes more than 4 deep, or have more than 100 of them or of
// patterns.
type Builder struct {
	// FS is the tree: what it does not list or open is not served. It is read with
	// [fs.ReadDir], [fs.Stat] and Open. Symbolic links are its business.
	FS fs.FS
	// Host and Port stand for this server in items. They may be left zero where
	// somebody fills them in before the items are written.
	Host string
	Port int
	// InfoPrefix says that gophermaps write an i before every line of information,
	// as Motsognir wants it and gophernicus does not.
	InfoPrefix bool
}

// Menu is a menu and what it was made from.
type Menu struct {
	Items []Item
	// Problems are what is wrong in the files it was made from, at most 100 of
	// them; everything else is served.
	Problems []diag.Diagnostic
	// Files are the names, in order, of the files and directories that were read
	// or looked for beside the directory itself, whether they are there or not: if
	// none of them and nothing in the directory changed, neither did the menu.
	Files []string
}

// AppendTo appends the menu as it is sent, its last line included.
func (m Menu) AppendTo(b []byte) []byte {
	size := len(End)
	for _, it := range m.Items {
		size += it.size()
	}
	b = slices.Grow(b, size)
	for _, it := range m.Items {
		b = it.AppendTo(b)
	}
	return append(b, End...)
}

// Menu makes the menu of a directory, whose name is as [fs.ValidPath] wants it:
// what its gophermap says, or else its index.gph, or else a listing. The error is
// that of reading the directory, if there is no map; for a directory that is not
// there it is [fs.ErrNotExist].
func (b *Builder) Menu(dir string) (Menu, error) {
	if !fs.ValidPath(dir) {
		return Menu{}, &fs.PathError{Op: "menu", Path: dir, Err: fs.ErrInvalid}
	}
	m := &making{Builder: b, dir: dir, toRead: maxRead, looks: maxLooks}
	if m.mapped() {
		return m.done(), nil
	}
	if err := m.list(); err != nil {
		return Menu{}, fmt.Errorf("listing %s: %w", dir, err)
	}
	return m.done(), nil
}

// making is a menu while it is made.
type making struct {
	*Builder
	dir  string
	menu Menu

	maps     []source        // the map that is being read, after those that include it
	types    map[string]byte // what ":ext=T" says
	hidden   map[string]bool // what "-name" says, and what has an item already
	patterns []string        // what "-pattern" says
	lastDir  string          // the directory that was listed last
	lastList []listed        // what is in it
	included []string        // the files that were included, or were to be
	includes int
	globs    int
	toRead   int64 // octets of maps that may still be read
	looks    int   // how often may still be looked at other files
	mapsOnly bool  // nothing but the maps is read
}

// mapped makes the menu of a map, if the directory has one.
func (m *making) mapped() bool {
	for _, base := range []string{mapName, gphName} {
		name := selector.Join(m.dir, base)
		text, err := m.read(name)
		if err == nil && IsProgram(text) {
			m.report(CodeProgram, name, 1, "a program: it does not make the menu")
			continue
		}
		if err == nil {
			m.follow(source{file: name, rest: text})
			return true
		}
		if !errors.Is(err, fs.ErrNotExist) {
			m.report(CodeRead, name, 0, "cannot be read: "+cause(err))
		}
	}
	return false
}

func (m *making) done() Menu {
	slices.Sort(m.menu.Files)
	m.menu.Files = slices.Compact(m.menu.Files)
	return m.menu
}

// add appends an item, as long as there is room.
func (m *making) add(it Item) {
	switch n := len(m.menu.Items); {
	case n < maxItems:
		m.menu.Items = append(m.menu.Items, it)
	case n == maxItems:
		m.menu.Items = append(m.menu.Items, Info("... and more"))
		m.problem(CodeLimit, "more than %d items: the rest is left out", maxItems)
	}
}
