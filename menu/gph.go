package menu

import "strings"

// gphFields is how many fields an item of a .gph file has.
const gphFields = 5

// gphLine appends what a line of a geomyidae .gph file says: an item
// [type|text|selector|host|port], or information. A line of information that
// begins with a bracket is written with "[|" there.
func (m *making) gphLine(line string) {
	inner, item := strings.CutPrefix(line, "[")
	if !item {
		m.text(line)
		return
	}
	if rest, found := strings.CutPrefix(inner, "|"); found {
		m.text("[" + rest)
		return
	}
	inner, closed := strings.CutSuffix(strings.TrimRight(inner, " \t"), "]")
	fields := splitBars(inner)
	if !closed || len(fields) != gphFields {
		m.bad(CodeLine, line, "no item of the form [type|text|selector|host|port]")
		return
	}
	if typ := fields[0]; len(typ) != 1 || !strings.Contains(knownTypes, typ) {
		m.bad(CodeLine, line, "no item type: %q", typ)
		return
	}
	m.entry(gphEntry(fields))
}

// gphEntry replaces the words for this server. An empty selector of ours is the
// root.
func gphEntry(fields []string) entry {
	e := entry{fields[0][0], fields[1], fields[2], fields[3], fields[4]}
	if e.host == "server" {
		e.host = ""
	}
	if e.port == "port" {
		e.port = ""
	}
	if e.host == "" && e.selector == "" {
		e.selector = "/"
	}
	return e
}

// splitBars divides s at bars, but for those after a backslash, which stand for
// themselves.
func splitBars(s string) []string {
	var fields []string
	var field []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '|':
			field = append(field, '|')
			i++
		case s[i] == '|':
			fields = append(fields, string(field))
			field = field[:0]
		default:
			field = append(field, s[i])
		}
	}
	return append(fields, string(field))
}
