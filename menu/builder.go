package menu

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"slices"

	"github.com/gophd/gophd/diag"
)

// The bounds of one menu. Anything beyond them is reported and left out; the rest is
// served.
const (
	maxItems    = 100_000  // items; the last one then reads "... and more"
	maxSize     = 15 << 20 // bytes that all of them may take
	maxLine     = 4096     // bytes of a line of a map
	maxRead     = 4 << 20  // bytes of all maps of a menu
	maxIncludes = 100
	maxProblems = 100
	// maxLooks bounds the files and directories that are opened besides the maps and the
	// directory. Beyond it, only names count: a file of unknown type is text, a directory
	// has its name as the title, and a relative selector gets no slash.
	maxLooks = 5000
	// maxNames bounds the directory entries that are read for patterns.
	maxNames = 400_000
	// maxCompared bounds the comparisons of names with patterns, in bytes of names times
	// stars of patterns: about 100 ms of CPU.
	maxCompared = 20_000_000
)

// BuildOptions are the options of menus that come from the command line.
type BuildOptions struct {
	// InfoPrefix marks text lines in gophermaps by a leading i, as Motsognir does. If
	// false, this is detected for each map.
	InfoPrefix bool
	// Charset is the character set of texts and maps that are not UTF-8. The zero value
	// detects it for each file; if that has 96 KiB or more, from its first 4 KiB.
	Charset Charset
	// Dates puts the date and the size after each name of a listing.
	Dates bool
}

// Builder makes the menus of the directories of a tree. Its methods may be called concurrently.
//
// Limits: maps of 4 MiB, lines of 4,096 bytes, menus of 100,000 items and 15 MiB, and 100
// includes. Beyond a limit, the rest is omitted and reported.
// A pattern that would be compared with too many names is shown as text.
type Builder struct {
	// FS is the tree. Builder calls [fs.ReadDir], [fs.Stat] and Open. It opens dotfiles only
	// if they configure menus (.gophermap, .names, ...). FS decides what is served and how
	// symbolic links are followed.
	FS fs.FS
	// Host and Port are those of this server in items. If zero, the caller must set them
	// before it writes the items.
	Host string
	Port int
	BuildOptions
	// Colors leaves ANSI colors in the labels of maps (ECMA-48, section 8.3.117). If false,
	// no escape sequence of a map is in an item.
	Colors bool

	// Version and Client replace $SERVER_VERSION and $REMOTE_ADDR in a gophermap. If Client
	// is empty, lines with $REMOTE_ADDR are omitted.
	Version string
	Client  string

	// Users and Hosts return the items for a line "~" (the latest change first) and a line
	// "%". They may be nil. Items without a host get the server's. A caller that caches
	// menus must itself notice when these lists change.
	Users, Hosts func() []Item
	// Own reports whether an absolute URL in an index.gmi links to this site. If nil, none
	// does.
	Own func(*url.URL) bool
	// Answers reports whether a program answers a selector. If it does not, or is nil, a link
	// to a program becomes an info line.
	Answers func(sel string) bool
	// Run, if not nil, returns the output of a program of the tree: a map that begins with
	// #!, an index.dcgi, or the target of a line "=program" in the map by. In the first two
	// cases by is name. ok is false if the program is not run. If err is not nil, the menu
	// shows it.
	Run func(name, by string) (text string, ok bool, err error)
	// Linked, if not nil, is called for each item that a map links.
	Linked func(Link)
	// Line, if not nil, is called for each line of a gophermap, and of a map that it
	// includes, before the line is read. Numbers begin with 1.
	Line func(file string, number int, line string)
}

// Link is an item of a map, with its place.
type Link struct {
	Item
	File    string // the map
	Line    int    // from 1
	Local   bool   // the target is in this tree
	Missing bool   // the target does not exist
	Program bool   // the target is a program that is not run, so the menu omits the item
}

// Menu is a menu and the names of its sources.
type Menu struct {
	Items []Item
	// Title is the first title line of the map ("!title"), or "".
	Title string
	// Gemtext is the name of the index.gmi that the menu was made from, or "".
	Gemtext string
	// Problems lists up to 100 mistakes in the files that the menu was made from.
	Problems []diag.Diagnostic
	// Changing reports that the menu depends on more than files: it shows the time, the
	// users, or something about the client.
	Changing bool
	// Personal reports that the menu shows the client's address, or would if Builder.Client
	// were set.
	Personal bool
}

// AppendTo appends the wire form of the menu, including the final ".".
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

// making is the state of making one menu.
type making struct {
	*Builder
	ctx  context.Context
	dir  string
	menu Menu

	maps     []mapSource     // the current map, after those that include it
	listing  mapSource       // the source of problems outside of maps
	types    map[string]byte // set by lines ":ext=T"
	hidden   map[string]bool // names that "-name" hides, and those that have an item already
	present  map[string]bool // names in the directory, for "-name"
	lastDir  string          // the last directory that was listed
	lastList []listed        // the entries of lastDir
	sources  Sources

	includes int
	toRead   int64 // bytes of maps that may still be read
	size     int   // bytes of the items; more than maxSize: it is full
	looks    int   // how often may still be looked at other files
	toList   int   // names that may still be read
	compared int   // what of them was compared with patterns
	mapsOnly bool  // nothing but the maps is read, and only programs are reported
	noLooks  bool  // not even the first bytes of what maps link
	inlining bool  // a map of a listing is read in its place: it lists nothing and runs nothing
}

func (b *Builder) begin(ctx context.Context, dir string) *making {
	return &making{
		Builder: b,
		ctx:     ctx,
		dir:     dir,
		toRead:  maxRead,
		looks:   maxLooks,
		toList:  maxNames,
	}
}

func (m *making) done() (Menu, error) {
	if m.ctx.Err() != nil {
		return Menu{}, context.Cause(m.ctx)
	}
	return m.menu, nil
}

// add appends an item, unless the menu is full.
func (m *making) add(it Item) {
	size := it.size()
	switch {
	case m.full():
	case len(m.menu.Items) == maxItems || m.size+size > maxSize:
		m.size = maxSize + 1
		m.menu.Items = append(m.menu.Items, Info("... and more"))
		m.problem(CodeLimit, "more than %d items or %d MiB: the rest is left out",
			maxItems, maxSize>>20)
	default:
		m.size += size
		m.menu.Items = append(m.menu.Items, it)
	}
}

// full reports whether the menu has reached its bound.
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

// The codes of diagnostics about the files that a menu is made from. They never
// change.
const (
	CodeProgram = "MENU-PROGRAM" // a program, which is not run and not shown
	CodeText    = "MENU-TEXT"    // a line that begins like a directive and is shown as text
	CodeLine    = "MENU-LINE"    // an item that cannot be linked: its label is shown
	CodeControl = "MENU-CONTROL" // control characters, which are not sent
	CodeInclude = "MENU-INCLUDE" // an include that has nothing to show
	CodePattern = "MENU-PATTERN" // a pattern that matches nothing
	CodeName    = "MENU-NAME"    // names that are not listed because no client can request them
	CodeRead    = "MENU-READ"    // what cannot be read
	CodeLimit   = "MENU-LIMIT"   // a bound of menus was reached
)

// at returns the map that is being read, or the directory, which has none.
func (m *making) at() *mapSource {
	if n := len(m.maps); n > 0 {
		return &m.maps[n-1]
	}
	m.listing.file = m.dir
	return &m.listing
}

// problem reports a mistake in the line that is being read, or with the
// directory.
func (m *making) problem(code, format string, args ...any) {
	src := m.at()
	m.report(code, src.file, src.line, fmt.Sprintf(format, args...))
}

// report adds a diagnostic about a line of a file, or about all of it.
func (m *making) report(code, file string, line int, text string) {
	if m.mapsOnly && code != CodeProgram {
		return
	}
	d := diag.Diagnostic{
		Code:     code,
		Severity: diag.Warning,
		File:     file,
		Line:     line,
		Message:  text,
	}
	switch code {
	case CodeText:
		d.Severity = diag.Notice
	case CodeProgram:
		d.Hint = "gophd starts no program and does not show its source"
	}
	switch n := len(m.menu.Problems); {
	case n < maxProblems-1:
		m.menu.Problems = append(m.menu.Problems, d)
	case n == maxProblems-1:
		d.Code = CodeLimit
		d.Hint = ""
		d.Message = "further problems are not listed"
		m.menu.Problems = append(m.menu.Problems, d)
	}
}
