package menu

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// A gophermap, as gophernicus and Bucktooth read it. The first byte of a line
// decides, but only where the rest of the line has the form of a directive. Any other
// line is text, so that no line written for readers is lost.
//
//	#...         a comment; but "## heading ##" and a ruler of # are text
//	!title       a line of information
//	*            stop, then the listing of the directory
//	.            stop
//	-name        leave that name out of the listing
//	:ext=T       files with that extension are of type T from here on
//	=file        include another map
//	~            the list of users
//	%            the list of virtual hosts
//	%FILES%      the listing of the directory, here (Motsognir)
//	TLabel TAB selector TAB host TAB port
//	anything else: a line of information

// mapLine appends the items of a line of a gophermap. It reports whether it ends the
// map, and whether the listing follows.
func (m *making) mapLine(line string) (ended, listing bool) {
	switch strings.TrimRight(line, " \t") {
	case "*":
		return true, true
	case ".":
		return true, false
	case "~":
		m.items("users", m.Users)
	case "%":
		m.items("virtual hosts", m.Hosts)
	case "%FILES%":
		m.listHere()
	case "":
		m.add(Info(""))
	default:
		if m.isDirective(line) {
			break
		}
		if strings.ContainsFunc(line, isWordRune) && m.at().once("text"+line[:1]) {
			m.problem(CodeText, "shown as text, since it has not the form of a directive: %.60q", line)
		}
		m.textOrItem(line)
	}
	return false, false
}

// isDirective follows a line that is no stop or list, and reports whether it has the form that
// its first byte wants.
func (m *making) isDirective(line string) bool {
	switch rest := line[1:]; line[0] {
	case '#':
		if !IsComment(line) {
			m.text(line)
		}
	case '!':
		if m.menu.Title == "" {
			m.menu.Title = strings.TrimSpace(rest)
		}
		m.text(rest)
	case '-':
		return m.hideLine(rest)
	case ':':
		return m.typeRule(rest)
	case '=':
		return m.includeLine(rest)
	case '*', '.', '~', '%':
		return false
	default:
		m.textOrItem(line)
	}
	return true
}

// IsComment reports whether a line of a gophermap that begins with # is a comment. Lines
// that begin with two of them are drawn for readers, and "#" alone is a comment.
func IsComment(line string) bool {
	return strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "##")
}

// items appends a list that the Builder's user makes.
func (m *making) items(what string, list func() []Item) {
	if list == nil {
		m.problem(CodeInclude, "there are no %s to list", what)
		return
	}
	for _, it := range list() {
		if it.Type != TypeInfo {
			it.Host, it.Port = cmp.Or(it.Host, m.Host), cmp.Or(it.Port, m.Port)
		}
		m.add(it)
	}
}

func (m *making) textOrItem(line string) {
	if strings.IndexByte(line, '\t') > 0 {
		fields := append(strings.Split(line[1:], "\t"), "", "", "")
		e := mapEntry{line[0], fields[0], trimEnd(fields[1]), own(fields[2]), own(fields[3])}
		if m.isItem(e) {
			m.mapEntry(e)
			return
		}
	}
	if m.at().prefix {
		line = strings.TrimPrefix(line, "i")
	}
	m.text(line)
}

// isItem reports whether a line with a TAB is an item: its type is one that is in
// use, or any other if the link cannot be text.
func (m *making) isItem(e mapEntry) bool {
	if e.typ == '?' || IsType(e.typ) {
		return true
	}
	if e.typ > ' ' && e.typ < 0x7f &&
		(e.host != "" || strings.HasPrefix(e.selector, "/") ||
			strings.HasPrefix(e.selector, "URL:")) {
		return true
	}
	m.problem(CodeLine, "no item type: %q", e.typ)
	return false
}

// mapEntry appends an item of a gophermap. An empty selector is the label, which
// may be a pattern; of another host it is the root, as Bucktooth has it.
func (m *making) mapEntry(e mapEntry) {
	switch {
	case e.selector != "":
	case e.host != "" && !strings.EqualFold(e.host, m.Host):
	case e.host == "" && isGlob(e.label) && e.typ != TypeInfo && e.typ != TypeError:
		m.glob(e.label, e.typ)
		return
	case e.host != "" && !m.namesSomething(e.label):
		e.selector = "/" // our root by our name
	default:
		e.selector = trimEnd(e.label)
	}
	m.entry(e)
}

// maxExtension is the longest extension of a rule, in bytes.
const maxExtension = 16

// typeRule reports whether a rule has the form ext=T, and applies it to later lines.
func (m *making) typeRule(rule string) bool {
	ext, typ, found := strings.Cut(trimEnd(rule), "=")
	ext = strings.ToLower(strings.TrimPrefix(ext, "."))
	if !found || ext == "" || len(ext) > maxExtension || strings.ContainsAny(ext, " /") ||
		len(typ) != 1 || !IsType(typ[0]) {
		return false
	}
	if typ[0] == TypeError || typ[0] == TypeInfo {
		m.problem(CodeLine, "no file is of type %s", typ)
		return true
	}
	if m.types == nil {
		m.types = map[string]byte{}
	}
	m.types["."+ext] = typ[0]
	return true
}

// hideLine leaves a name out of the listing, or all that match a pattern, which
// gophernicus would take for a name. It reports whether the line is one that does:
// a ruler or a sentence is not, nor is a name of nothing.
func (m *making) hideLine(rest string) bool {
	name := strings.TrimSuffix(trimEnd(rest), "/")
	if strings.ContainsAny(name, " \t/") || !strings.ContainsFunc(name, isWordRune) {
		return false
	}
	if m.mapsOnly || IsMap(name) || !selector.Askable(name) { // names that are never listed
		return true
	}
	names, err := m.names(m.dir)
	switch {
	case err != nil:
		return false
	case isGlob(name):
		matches, ok := m.matching(name, names)
		for _, l := range matches {
			m.hide(m.dir, l.name)
		}
		return !ok || len(matches) > 0
	case m.present == nil:
		m.present = make(map[string]bool, len(names))
		for _, l := range names {
			m.present[l.name] = true
		}
	}
	if m.present[name] {
		m.hide(m.dir, name)
	}
	return m.present[name]
}

// includeLine includes another map and reports whether the line is an include: a
// heading in equals signs is none.
func (m *making) includeLine(sel string) bool {
	if sel == "" || sel[0] == '=' || sel[0] == ' ' || sel[0] == '\t' {
		return false
	}
	m.include(strings.TrimSpace(sel))
	return true
}

// include goes on with another map, whose name is relative to the directory of the
// menu or, with a slash, to the root. Other servers run it if it is a command.
func (m *making) include(sel string) {
	m.includes++
	if m.includes > maxIncludes {
		m.problem(CodeLimit, "more than %d includes", maxIncludes)
		return
	}
	name := fold(m.dir, sel)
	text, err := m.includeFile(name)
	if err == nil {
		m.maps = append(m.maps, m.newSource(name, text))
		return
	}
	_, arguments, _ := strings.Cut(sel, " ")
	missing := errors.Is(err, fs.ErrNotExist) || arguments != "" && errors.Is(err, errHidden)
	if line, ok := m.printed(sel); ok && missing {
		m.text(line)
		return
	}
	if arguments != "" {
		words := slices.DeleteFunc(strings.Fields(sel), func(word string) bool {
			return word[0] == '-'
		})
		for _, word := range words[:min(len(words), maxWords)] {
			_, _ = m.includeFile(fold(m.dir, word)) // if it is a program, its source is not shown
		}
		if len(words) > 1 && interpreter.MatchString(path.Base(words[0])) {
			m.sources.Interpreted = append(m.sources.Interpreted, fold(m.dir, words[1]))
		}
	}
	switch {
	case errors.Is(err, errProgram):
		m.problem(CodeProgram, "a command, which is not run: %q", sel)
	case missing:
		m.problem(CodeProgram, "no file to include, and a command is not run: %q", sel)
	default:
		m.problem(CodeInclude, "including %q: %s", sel, diag.Cause(err))
	}
}

var (
	errHidden         = errors.New("a hidden file")
	errIncludesItself = errors.New("a map that includes itself")
)

// includeFile reads a file that is to be included.
func (m *making) includeFile(name string) (string, error) {
	switch {
	case hiddenName(name) || selector.HasControl(name):
		return "", errHidden
	case slices.ContainsFunc(m.maps, func(s mapSource) bool { return s.file == name }):
		return "", errIncludesItself
	case isProgramName(name) && m.Run == nil:
		return "", errProgram
	}
	m.sources.Included = append(m.sources.Included, name)
	text, err := m.read(name)
	if err == nil && (isProgramName(name) || IsProgram(text) ||
		Sniff([]byte(text[:min(len(text), sniffLen)])) == TypeBinary) {
		if printed, ok := m.run(name); ok {
			return printed, nil
		}
		err = errProgram
	}
	return text, err
}

// interpreter matches commands that run a file, however the file begins.
var interpreter = regexp.MustCompile(`^(ba|da|k|z|a|fi|c|tc)?sh$|^(python|perl|php|ruby|node|lua|tclsh|[gm]?awk|sed|guile|runghc|runhaskell)[0-9.]*$`)

// maxWords is how many words of a command are looked at as names of files.
const maxWords = 16

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// The menus of geomyidae: items in brackets, and everything else is information.
//
//	[type|label|selector|host|port]
//
// A line with all four fields of a menu, divided by TABs, is an item, too.
//
// "\|" is a bar that divides nothing, the last field ends at the first bracket,
// "server" and "port" are replaced by this server's. A line that does not parse is
// shown; "[|" before a line is the way to write one that begins with a bracket.

// gphLine appends the items of a line of a .gph file.
func (m *making) gphLine(line string) {
	inner, item := strings.CutPrefix(line, "[")
	if strings.Count(line, "\t") >= 3 && !item {
		m.textOrItem(line) // a line in the form of RFC 1436
		return
	}
	if !item {
		m.text(line)
		return
	}
	if rest, found := strings.CutPrefix(inner, "|"); found {
		m.text(rest)
		return
	}
	e, ok := parseGph(inner)
	if !ok {
		m.bad(CodeLine, line, "no item of the form [type|text|selector|host|port]: it is shown as text")
		return
	}
	switch {
	case e.host == "" && e.selector == "":
		e.selector = "/" // our root
	case e.host != "" && e.selector != "" && e.selector[0] != '/' &&
		strings.IndexByte("i238wT", e.typ) < 0:
		// A relative selector is one of this tree, if it names something here.
		if name, dir, ok := m.find(fold(m.dir, e.selector)); ok {
			e.selector = selector.Canonical(name, dir)
		}
	}
	m.entry(e)
}

// parseGph splits an item into its fields. The first byte of the type counts.
func parseGph(s string) (e mapEntry, ok bool) {
	const bar = "\x00" // that divides nothing
	fields := strings.SplitN(strings.ReplaceAll(s, `\|`, bar), "|", 5)
	if len(fields) < 5 || fields[0] == "" || fields[0][0] <= ' ' || fields[0][0] >= 0x7f {
		return mapEntry{}, false
	}
	port, _, ok := strings.Cut(fields[4], "]")
	if !ok || strings.ContainsAny(port, "|"+bar) {
		return mapEntry{}, false
	}
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], bar, "|")
	}
	e = mapEntry{fields[0][0], fields[1], trimEnd(fields[2]), own(fields[3]), own(port)}
	if e.host == "server" {
		e.host = ""
	}
	if e.port == "port" {
		e.port = ""
	}
	return e, true
}

// Commands in maps mostly print a date, the host or the server's version. A few
// variables replace these in text lines, and a command that only prints such a line
// is recognized. No command is ever run.

// variable returns the value of a variable; ok is false if there is none of that
// name. A menu that shows the time or the client's address must not be cached.
func (m *making) variable(name string) (value string, ok bool) {
	switch name {
	case "SERVER_NAME", "SERVER_HOST":
		return m.Host, true
	case "SERVER_PORT":
		return strconv.Itoa(m.Port), true
	case "SERVER_SOFTWARE":
		return "gophd", true
	case "SERVER_VERSION":
		return m.Version, true
	case "DATE":
		m.menu.Changing = true
		return time.Now().Format(time.UnixDate), true
	case "REMOTE_ADDR":
		m.menu.Changing, m.menu.Personal = true, true
		return m.Client, true
	}
	return "", false
}

// variables matches what may be one.
var variables = regexp.MustCompile(`\$[A-Z_]+`)

// expand replaces variables by their values. A dollar sign that begins no variable is
// kept. ok is false if a value is not known.
func (m *making) expand(line string) (expanded string, ok bool) {
	ok = true
	expanded = variables.ReplaceAllStringFunc(line, func(name string) string {
		value, known := m.variable(name[1:])
		if !known {
			return name
		}
		ok = ok && value != ""
		return value
	})
	return expanded, ok
}

// dateCommand and hostCommand are commands of maps that print the date or the host. echoed
// matches a command that prints one text: in single quotes, in double quotes, or in none.
var (
	dateCommand = regexp.MustCompile(`^(TZ=[\w/+-]+ +)?(/usr)?(/bin/)?date( [^$()|;&<>\x60]*)?$`)
	hostCommand = regexp.MustCompile(`^(/usr)?(/bin/)?hostname( -[fs])?$`)
	substituted = regexp.MustCompile("\\$\\([^()`]*\\)|`[^`]*`")
	echoed      = regexp.MustCompile(`^echo +(?:'([^'$]*)'|"((?:[^\\"\x60]|\\")*)"|([^\\"'\x60|&;<>()*?\[\]#~{}]+))$`)
)

// commandValue returns the variable that replaces a command, or "".
func commandValue(command string) string {
	switch {
	case dateCommand.MatchString(command):
		return "$DATE"
	case hostCommand.MatchString(command):
		return "$SERVER_NAME"
	}
	return ""
}

// printed returns the line that a command prints, if it only prints the date or the
// host, or echoes a text with these and known variables in it.
func (m *making) printed(command string) (line string, ok bool) {
	if value := commandValue(command); value != "" {
		return value, true
	}
	command = substituted.ReplaceAllStringFunc(command, func(s string) string {
		return cmp.Or(commandValue(strings.Trim(s, "$()`")), "`")
	})
	found := echoed.FindStringSubmatch(command)
	if found == nil {
		return "", false
	}
	words := strings.Join(strings.Fields(found[3]), " ")
	line = found[1] + strings.ReplaceAll(found[2], `\"`, `"`) + words

	unknown := variables.ReplaceAllStringFunc(line, func(name string) string {
		if _, known := m.variable(name[1:]); known {
			return ""
		}
		return name
	})
	return line, !strings.Contains(unknown, "$")
}
