package menu

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// The names of maps: of gophernicus and Bucktooth, of spacecookie and venusia, and
// of geomyidae.
const (
	mapName    = "gophermap"
	dotMapName = ".gophermap"
	gphName    = "index.gph"
	gmiName    = "index.gmi" // of a capsule
	tagName    = "gophertag"
	dcgiName   = "index.dcgi" // geomyidae's program that makes a menu
)

// IsMap reports whether the last element of a file name names a directory's
// map.
func IsMap(base string) bool {
	return base == mapName || base == dotMapName || base == gphName
}

// IsMenuFile reports whether a file of that name is a menu of its own, whatever
// its directory shows: *.gph as geomyidae has it, and *.gophermap.
func IsMenuFile(base string) bool {
	return !strings.HasPrefix(base, ".") &&
		(strings.HasSuffix(base, ".gph") || strings.HasSuffix(base, "."+mapName))
}

// A dialect is how the lines of a map are to be read.
type dialect int

const (
	gophernicus dialect = iota // with directives (gophermap.go)
	plain                      // items and information alone, as spacecookie reads them
	geomyidae                  // *.gph
	capsule                    // index.gmi
)

// mapSource is a map that is being read.
type mapSource struct {
	file    string
	rest    string // what was not read yet
	line    int    // the number of the line that was read last
	dialect dialect
	prefix  bool // lines of information begin with an i
	gemtext GemReader
	told    string // what was reported once for the file
}

func (m *making) newSource(file, text string) mapSource {
	s := mapSource{file: file, rest: text}
	switch base := file[strings.LastIndexByte(file, '/')+1:]; {
	case strings.HasSuffix(base, ".gph"), strings.HasSuffix(base, ".dcgi"):
		s.dialect = geomyidae
	case base == dotMapName:
		s.dialect = plain
	case base == gmiName:
		s.dialect = capsule
	}
	s.prefix = s.dialect < geomyidae && (m.InfoPrefix || infoPrefixed(text))
	return s
}

// next returns the next line without its end.
func (s *mapSource) next() (line string, ok bool) {
	if s.rest == "" {
		return "", false
	}
	line, s.rest, _ = strings.Cut(s.rest, "\n")
	s.line++
	return strings.TrimSuffix(line, "\r"), true
}

// once reports whether this is the first report of its kind about the file.
func (s *mapSource) once(what string) bool {
	if strings.Contains(s.told, what) {
		return false
	}
	s.told += what
	return true
}

// decode makes UTF-8 of a line in Latin-1, and takes terminal sequences out.
func (m *making) decode(line string) string {
	if !utf8.ValidString(line) {
		line = FromLatin1(line)
	}
	if stripped := stripSequences(line, m.Colors); stripped != line {
		m.control()
		line = stripped
	}
	return line
}

// shown returns a line as it may be shown: at most maxLine bytes, and no part of a character.
func (m *making) shown(line string) string {
	if len(line) > maxLine {
		line = line[:lastRune([]byte(line[:maxLine]))]
	}
	return expandTabs(m.decode(line))
}

// text appends a line of information.
func (m *making) text(line string) {
	line = expandTabs(line)
	if m.at().dialect == gophernicus {
		var ok bool
		if line, ok = m.expand(line); !ok {
			return
		}
	}
	if selector.HasControl(line) && !m.Colors {
		m.control()
	}
	m.add(Info(line))
}

// bad reports a mistake in a line, and shows it as information.
func (m *making) bad(code, label, format string, args ...any) {
	m.problem(code, format, args...)
	m.add(Info(expandTabs(label)))
}

// control reports control characters, once for a file.
func (m *making) control() {
	if m.at().once("control ") {
		m.problem(CodeControl, "control characters and terminal sequences are not sent")
	}
}

// escapes matches a command to ANSI terminals: CSI, OSC, or a short one (ECMA-48); or an ESC alone.
var escapes = regexp.MustCompile(`^\x1b(\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(\x07|\x1b\\)|[ -/]*[0-~])?`)

// Escapes divides a text at its commands to ANSI terminals. It yields each command, or ESC alone,
// with the text before it; at last the rest of the text.
func Escapes(text string) iter.Seq2[string, string] {
	return func(yield func(before, command string) bool) {
		for more := true; more; {
			var before string
			before, _, more = strings.Cut(text, "\x1b")
			command := escapes.FindString(text[len(before):])
			text = text[len(before)+len(command):]
			more = yield(before, command) && more
		}
	}
}

// stripSequences takes commands to terminals out, but for colors if they are wanted. An ESC
// before one character, or none, stays, to be sent as a blank.
func stripSequences(s string, colors bool) string {
	var b strings.Builder
	for before, command := range Escapes(s) {
		b.WriteString(before)
		isWhole := len(command) > 2 || command == "\x1b["
		if !isWhole || colors && strings.HasSuffix(command, "m") {
			b.WriteString(command)
		}
	}
	return b.String()
}

// expandTabs puts blanks in the place of TABs, as a terminal shows them.
func expandTabs(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		for b.WriteByte(' '); column%8 != 7; column++ {
			b.WriteByte(' ')
		}
		column++
	}
	return b.String()
}

// infoPrefixed reports whether a map writes an i before every line of information,
// as Motsognir's do: nine in ten of the lines that could be information begin with
// it, and it does not look like the beginning of a word there.
func infoPrefixed(text string) bool {
	lines := 0
	prefixed := 0
	sure := 0
	for line := range strings.Lines(text) {
		if strings.Trim(line, " \r\n") == "" || strings.IndexByte(line, '\t') >= 0 ||
			strings.IndexByte("#!-:=*.~%", line[0]) >= 0 {
			continue
		}
		lines++
		if line[0] == 'i' {
			prefixed++
			if !beginsWord.MatchString(line) {
				sure++
			}
		}
	}
	return prefixed*10 >= lines*9 && sure*2 > prefixed
}

// beginsWord matches an i at the beginning of a line that may belong to a word: "is", "i'm", "i am",
// "iPhone".
var beginsWord = regexp.MustCompile(`^i(Phone|Pad|Pod|Mac|OS|Tunes|Cloud|Book| ?['’,.-]?\p{Ll})`)

// fold returns the file name of a selector in a map of dir. It resolves "." and "..",
// never above the root.
func fold(dir, sel string) string {
	if !strings.HasPrefix(sel, "/") {
		sel = "/" + dir + "/" + sel
	}
	if name := path.Clean(sel)[1:]; name != "" {
		return name
	}
	return "."
}

// hiddenName reports whether an element of a name begins with a dot.
func hiddenName(name string) bool {
	return name != "." && (name[0] == '.' || strings.Contains(name, "/."))
}

// open opens a regular file; anything else is not there.
func (m *making) open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// head returns the beginning of a file, at most so many bytes.
func (m *making) head(name string, most int64) ([]byte, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}

// read reads a map. A map beyond the bounds is cut at the end of a line.
func (m *making) read(name string) (string, error) {
	text, err := m.head(name, m.toRead+1)
	if err != nil {
		return "", err
	}
	return m.bound(name, string(text)), nil
}

// bound cuts a map beyond the bounds at the end of a line.
func (m *making) bound(name, text string) string {
	rest := ""
	if limit := m.toRead; int64(len(text)) > limit {
		m.report(CodeLimit, name, 0, "maps of more than 4 MiB: the rest is left out")
		text = text[:strings.LastIndexByte(text[:limit], '\n')+1]
		rest = "... and more: this menu is longer than 4 MiB\n"
	}
	m.toRead -= int64(len(text))
	if c := m.Charset.Of(name, []byte(text), true); c != CharsetLatin1 { // lines of a map are in Latin-1 or not, one by one
		text = string(c.Decode([]byte(text)))
	}
	return strings.TrimPrefix(text, byteOrderMark) + rest
}

// run returns what a program prints, if something runs it. What it cannot print is an
// error item.
func (m *making) run(name string) (text string, ok bool) {
	if m.Run == nil || m.inlining {
		return "", false
	}
	by := name
	if len(m.maps) > 0 {
		by = m.at().file
	}
	text, ok, err := m.Run(name, by)
	if !ok {
		return "", false
	}
	m.menu.Changing, m.sources.Run = true, true
	if err != nil {
		m.add(Item{Type: TypeError, Label: err.Error()})
		return "", true
	}
	return m.bound(name, text), true
}

// source reads a source file of a menu, and reports why it cannot be shown.
func (m *making) source(name string) (string, error) {
	text, err := m.read(name)
	if err == nil && IsProgram(text) {
		if printed, ok := m.run(name); ok {
			return printed, nil
		}
	}
	return m.shows(name, text, err)
}

// shows returns a text that was read from a source file, unless it is a program, and reports why
// it cannot be shown.
func (m *making) shows(name, text string, err error) (string, error) {
	switch {
	case IsProgram(text):
		m.report(CodeProgram, name, 1, "a program: nothing of it is shown")
		return "", errProgram
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		m.report(CodeRead, name, 0, "cannot be read: "+diag.Cause(err).Error())
	}
	return text, err
}

// look reports whether a file or directory beside the maps may still be looked at.
func (m *making) look() bool {
	m.looks--
	return m.looks >= 0
}

// stat reports whether there is something of that name that can be served, and
// whether it is a directory.
func (m *making) stat(name string) (dir, ok bool) {
	if !selector.AskableName(name) || !m.look() {
		return false, false
	}
	info, err := fs.Stat(m.FS, name)
	if err != nil {
		return false, false
	}
	return info.IsDir(), true
}

// fileType returns the type of a file, from a line ":ext=T", the table or its content, in
// this order.
func (m *making) fileType(name string) byte {
	if t, ok := m.types[extension(name)]; ok {
		return t
	}
	if t, ok := TypeOf(name); ok {
		return t
	}
	if !m.look() {
		return TypeText
	}
	head, err := m.head(name, sniffLen)
	if err != nil {
		return TypeBinary
	}
	return Sniff(head)
}

// Label returns the label in a directory's gophertag, "" if it has none.
func (b *Builder) Label(ctx context.Context, dir string) string {
	return b.begin(ctx, dir).tag(dir)
}

// tag returns the label that a directory's gophertag gives it, its first line;
// nothing if there is none.
func (m *making) tag(dir string) string {
	if !m.look() {
		return ""
	}
	name := selector.Join(dir, tagName)
	head, err := m.head(name, sniffLen)
	text, _ := m.shows(name, string(head), err)
	line, _, _ := strings.Cut(strings.TrimPrefix(text, byteOrderMark), "\n")
	return strings.TrimSpace(m.shown(line))
}
