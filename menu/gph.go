package menu

import (
	"strings"

	"github.com/gophd/gophd/selector"
)

// The menus of geomyidae: items in brackets, and everything else is information.
//
//	[type|label|selector|host|port]
//
// A line with all four fields of a menu, divided by TABs, is an item, too.
//
// "\|" is a bar that divides nothing, the last field ends at the first bracket,
// "server" and "port" stand for this server's. A line that does not parse is
// shown; "[|" before a line is the way to write one that begins with a bracket.

// gphLine appends what a line of a .gph file says.
func (m *making) gphLine(line string) {
	inner, item := strings.CutPrefix(line, "[")
	if strings.Count(line, "\t") >= 3 && !item {
		m.textOrItem(line) // a line as it is sent
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
	case e.host != "" && e.selector != "" && e.selector[0] != '/' && strings.IndexByte("i238wT", e.typ) < 0:
		// A relative selector is one of this tree, if it names something here.
		if name, dir, ok := m.find(fold(m.dir, e.selector)); ok {
			e.selector = selector.Canonical(name, dir)
		}
	}
	m.entry(e)
}

// parseGph divides an item. Of the type the first byte counts.
func parseGph(s string) (e entry, ok bool) {
	var fields [4]string
	for i := range fields {
		if fields[i], s, ok = cutBar(s); !ok {
			return entry{}, false
		}
	}
	port, _, ok := strings.Cut(s, "]")
	if !ok || strings.Contains(port, "|") || fields[0][0] <= ' ' || fields[0][0] >= 0x7f {
		return entry{}, false
	}
	e = entry{fields[0][0], fields[1], trimEnd(fields[2]), own(fields[3]), own(port)}
	if e.host == "server" {
		e.host = ""
	}
	if e.port == "port" {
		e.port = ""
	}
	return e, true
}

// cutBar returns what stands before the first bar, but for those after a
// backslash, which stand for themselves.
func cutBar(s string) (before, after string, found bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '|':
			b.WriteByte('|')
			i++
		case s[i] == '|':
			return b.String(), s[i+1:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}
