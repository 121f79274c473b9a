package menu

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"time"

	"github.com/gophd/gophd/diag"
)

// The bounds of one menu. Anything beyond them is reported and left out; the rest is
// served.
const (
	maxItems    = 100_000  // items; a last one says that there are more
	maxSize     = 15 << 20 // bytes that all of them may take
	maxLine     = 4096     // bytes of a line of a map
	maxRead     = 4 << 20  // bytes of all maps of a menu
	maxDepth    = 4        // includes in includes
	maxIncludes = 100
	maxGlobs    = 100
	maxPatterns = 30 // of names to hide
	maxProblems = 100
	// maxLooks is how many files and directories are looked at beside the maps
	// and the directory. After that names alone decide: a file of unknown type is
	// text, a directory goes by its name, a relative selector gets no slash.
	maxLooks = 5000
	// maxNames is how many names of directories are read for patterns.
	maxNames = 400_000
	// maxCompared bounds how much of names is compared with patterns, in bytes of
	// names for each star of a pattern: 100 ms of a processor.
	maxCompared = 20_000_000
)

// BuildOptions are how the maps of a site are read and its directories listed. They travel as
// one value from the flags to each menu.
type BuildOptions struct {
	// InfoPrefix reports whether gophermaps write an i before every line of
	// information, as Motsognir wants it. If false, that is found out for each map.
	InfoPrefix bool
	// Charset is the character set of texts and maps that are not UTF-8. The zero value finds
	// it out for each: of a text of 96 KiB or more by its first 4 KiB.
	Charset Charset
	// Dates puts the date and the size after each name of a listing.
	Dates bool
}

// Builder makes the menus of the directories of a tree. Its methods may be used by
// several goroutines at once.
//
// Maps are read up to 4 MiB, then a last line says so. A line of more than 4,096 bytes is
// left out, and so is what would make a menu longer than 100,000 items or 15 MiB, nest includes more than 4 deep, or have more than 100 of them or of
// patterns. A pattern that would be compared with too many names is shown as text.
type Builder struct {
	// FS is the tree: what it does not list or open is not served. It is read with
	// [fs.ReadDir], [fs.Stat] and Open; what begins with a dot is opened only if it
	// says what a menu looks like (.gophermap, .names, ...). Symbolic links are its
	// business.
	FS fs.FS
	// Host and Port stand for this server in items. They may be left zero where
	// the caller fills them in before the items are written.
	Host string
	Port int
	BuildOptions
	// Colors leaves ANSI colors in the labels of maps (ECMA-48, section 8.3.117). If false,
	// no escape sequence of a map is in an item.
	Colors bool

	// Version and Client replace $SERVER_VERSION and $REMOTE_ADDR in a gophermap. If
	// Client is empty, a line that names it is left out.
	Version string
	Client  string
	// Now is the time that $DATE stands for. If nil, [time.Now].
	Now func() time.Time

	// Users and Hosts give the items of a line "~", the newest first, and of a line
	// "%". If nil, there are none. The server's host and port complete an item without.
	// A caller that keeps menus must know itself when these lists change.
	Users, Hosts func() []Item
	// Own reports whether a URL in the index.gmi of a capsule, which has a host, leads to
	// this site. If nil, none does.
	Own func(*url.URL) bool
	// Answers reports whether something beside the tree answers a selector. If nil,
	// nothing does, so that a link to a program is shown without its link.
	Answers func(sel string) bool
	// Run, if not nil, returns the map that a program of the tree prints, for a map that
	// begins with #!, an index.dcgi or a line "=program" of the map by; by is the name
	// itself if no map names it. Ok is false if nothing runs that program. If err is not
	// nil, an item shows it.
	Run func(name, by string) (text string, ok bool, err error)
	// Linked, if not nil, is called for each item that a map links.
	Linked func(Link)
	// Line, if not nil, is called for each line of a gophermap, and of a map that it
	// includes, before the line is read. Numbers begin with 1.
	Line func(file string, number int, line string)
}

// Link is an item of a map, and where it stands.
type Link struct {
	Item
	File    string // the map
	Line    int    // from 1
	Local   bool   // it names a file or directory of this tree
	Missing bool   // which is not there
	Program bool   // it leads to a program that nothing runs, and is not in the menu
}

// Menu is a menu and the names of its sources.
type Menu struct {
	Items []Item
	// Title is the first title line of its map ("!title"); "" if it has none.
	Title string
	// Gemtext is the name of the index.gmi that it was made of; "" of any other menu.
	Gemtext string
	// Problems lists the mistakes in the files it was made from, at most 100 of
	// them; everything else is served.
	Problems []diag.Diagnostic
	// Changing reports whether the menu may be another one the next time though no
	// file has changed: it shows the time, users, or something of the client.
	Changing bool
	// Personal reports whether it shows the address of the client, or would if
	// Builder.Client was set.
	Personal bool
}

// AppendTo appends the wire form of the menu, its last line included.
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

// making is a menu while it is made.
type making struct {
	*Builder
	ctx  context.Context
	dir  string
	menu Menu

	maps     []mapSource     // the map that is being read, after those that include it
	listing  mapSource       // stands for everything but maps
	types    map[string]byte // what ":ext=T" says
	hidden   map[string]bool // names that "-name" hides, and those that have an item already
	present  map[string]bool // the names in the directory, for "-name"
	lastDir  string          // the directory that was listed last
	lastList []listed        // its entries
	sources  Sources

	includes int
	globs    int
	patterns int   // of names to hide
	toRead   int64 // bytes of maps that may still be read
	size     int   // bytes of the items; more than maxSize: it is full
	looks    int   // how often may still be looked at other files
	toList   int   // names that may still be read
	compared int   // what of them was compared with patterns
	steps    int
	mapsOnly bool // nothing but the maps is read
	noLooks  bool // not even the first bytes of what maps link
	inlining bool // a map of a listing is read in its place: it lists nothing and runs nothing
}

func (b *Builder) begin(ctx context.Context, dir string) *making {
	return &making{Builder: b, ctx: ctx, dir: dir, toRead: maxRead, looks: maxLooks, toList: maxNames}
}

// stopped reports, now and then, whether the menu is no longer wanted.
func (m *making) stopped() bool {
	m.steps++
	return m.steps%1024 == 0 && m.ctx.Err() != nil
}

func (m *making) done() (Menu, error) {
	if m.ctx.Err() != nil {
		return Menu{}, context.Cause(m.ctx)
	}
	return m.menu, nil
}

// add appends an item, as long as there is room.
func (m *making) add(it Item) {
	size := it.size()
	switch {
	case m.full():
	case len(m.menu.Items) == maxItems || m.size+size > maxSize:
		m.size = maxSize + 1
		m.menu.Items = append(m.menu.Items, Info("... and more"))
		m.problem(CodeLimit, "more than %d items or %d MiB: the rest is left out", maxItems, maxSize>>20)
	default:
		m.size += size
		m.menu.Items = append(m.menu.Items, it)
	}
}

// full reports whether nothing more is added.
func (m *making) full() bool { return m.size > maxSize }

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

func (m *making) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Now()
}

// The codes of diagnostics about the files that a menu is made from. They never
// change.
const (
	CodeProgram = "MENU-PROGRAM" // a program, which is not run and not shown
	CodeText    = "MENU-TEXT"    // a line that begins like a directive and is shown as text
	CodeLine    = "MENU-LINE"    // an item that cannot be linked: its label is shown
	CodeControl = "MENU-CONTROL" // control characters, which are not sent
	CodeInclude = "MENU-INCLUDE" // an include that has nothing to show
	CodePattern = "MENU-PATTERN" // a pattern that matches nothing
	CodeName    = "MENU-NAME"    // names that are not listed, since no client can ask for them
	CodeRead    = "MENU-READ"    // what cannot be read
	CodeLimit   = "MENU-LIMIT"   // a bound of menus was reached
)

// severities by code; other codes are warnings.
var severities = map[string]diag.Severity{CodeText: diag.Notice}

var hints = map[string]string{
	CodeProgram: "gophd starts no program and does not show its source",
}

// problem reports a mistake in the line that is being read, or with the
// directory.
func (m *making) problem(code, format string, args ...any) {
	file, line := m.dir, 0
	if n := len(m.maps); n > 0 {
		file, line = m.maps[n-1].file, m.maps[n-1].line
	}
	m.report(code, file, line, fmt.Sprintf(format, args...))
}

// report adds a diagnostic about a line of a file, or about all of it.
func (m *making) report(code, file string, line int, text string) {
	severity := severities[code]
	if severity == "" {
		severity = diag.Warning
	}
	d := diag.Diagnostic{Code: code, Severity: severity, File: file, Line: line, Message: text, Hint: hints[code]}
	switch n := len(m.menu.Problems); {
	case n < maxProblems-1:
		m.menu.Problems = append(m.menu.Problems, d)
	case n == maxProblems-1:
		d.Code, d.Hint, d.Message = CodeLimit, "", "further problems are not listed"
		m.menu.Problems = append(m.menu.Problems, d)
	}
}
