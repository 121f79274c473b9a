package menu

import (
	"strings"

	"github.com/gophd/gophd/selector"
)

// source is a map that is being read.
type source struct {
	file string
	rest string // what was not read yet
	line int    // the number of the line that was read last
}

// next returns the next line without its end.
func (s *source) next() (line string, ok bool) {
	if s.rest == "" {
		return "", false
	}
	line, s.rest, _ = strings.Cut(s.rest, "\n")
	s.line++
	return strings.TrimSuffix(line, "\r"), true
}

// follow appends what a map says. Includes are read where they stand: the stack
// of maps holds what is left of those around them.
func (m *making) follow(first source) {
	m.maps = append(m.maps, first)
	listing := false
	for len(m.maps) > 0 && len(m.menu.Items) <= maxItems {
		src := &m.maps[len(m.maps)-1]
		line, more := src.next()
		star := strings.HasPrefix(line, "*")
		switch {
		case more && len(line) > maxLine:
			m.problem(CodeLimit, "a line of more than %d octets is left out", maxLine)
		case more && strings.HasSuffix(src.file, ".gph"):
			m.gphLine(line)
		case more && !star && !strings.HasPrefix(line, "."):
			m.mapLine(line)
		default:
			// Only the outermost map decides about the listing.
			listing = star && len(m.maps) == 1
			m.maps = m.maps[:len(m.maps)-1]
		}
	}
	m.maps = nil
	if !listing || m.mapsOnly {
		return
	}
	if err := m.list(); err != nil {
		m.report(CodeRead, m.dir, 0, "cannot be listed: "+cause(err))
	}
}

// mapLine appends what a line of a gophermap says, if it is not one that ends it.
func (m *making) mapLine(line string) {
	if line == "" {
		m.add(Info(""))
		return
	}
	switch rest := line[1:]; line[0] {
	case '#':
	case '!':
		m.text(rest)
	case '-':
		m.hideLine(strings.TrimSuffix(rest, "/"))
	case ':':
		m.typeRule(rest)
	case '=':
		m.include(rest)
	case '~':
		m.problem(CodeText, "lists of users (~) are not supported")
	case '%':
		m.problem(CodeText, "lists of virtual hosts (%%) are not supported")
	default:
		m.textOrItem(line)
	}
}

func (m *making) textOrItem(line string) {
	label, fields, linked := strings.Cut(line[1:], "\t")
	if linked {
		e := entry{typ: line[0], label: label}
		e.selector, fields, _ = strings.Cut(fields, "\t")
		e.host, fields, _ = strings.Cut(fields, "\t")
		e.port, _, _ = strings.Cut(fields, "\t")
		m.mapEntry(e, line)
		return
	}
	if m.InfoPrefix {
		line = strings.TrimPrefix(line, "i")
	}
	m.text(line)
}

// mapEntry appends an item of a gophermap. An empty selector is the label, which
// may be a pattern; of another host it is the root, as Bucktooth has it.
func (m *making) mapEntry(e entry, line string) {
	switch {
	case !strings.ContainsRune(knownTypes+"?", rune(e.typ)):
		m.bad(CodeLine, line, "no item type: %q", e.typ)
		return
	case e.selector != "" || e.host != "":
	case isGlob(e.label) && e.typ != TypeInfo && e.typ != TypeError:
		m.glob(e.label, e.typ)
		return
	default:
		e.selector = e.label
	}
	m.entry(e)
}

// text appends a line of information.
func (m *making) text(line string) {
	if selector.HasControl(line) {
		m.problem(CodeControl, "a control character is shown as a space")
	}
	m.add(Info(line))
}

// bad reports what is wrong with a line, and shows it as information.
func (m *making) bad(code, label, format string, args ...any) {
	m.problem(code, format, args...)
	m.add(Info(label))
}

// typeRule takes ext=T for what follows.
func (m *making) typeRule(rule string) {
	ext, typ, _ := strings.Cut(rule, "=")
	ext = strings.ToLower(strings.TrimPrefix(ext, "."))
	typ = strings.TrimSpace(typ)
	if ext == "" || len(ext) > maxExtension || len(typ) != 1 || !strings.Contains(knownTypes, typ) {
		m.problem(CodeLine, "no rule of the form :ext=T")
		return
	}
	if typ[0] == TypeError || typ[0] == TypeInfo {
		m.problem(CodeLine, "no file is of type %s", typ)
		return
	}
	if m.types == nil {
		m.types = map[string]byte{}
	}
	m.types[ext] = typ[0]
}
