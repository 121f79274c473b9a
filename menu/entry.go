package menu

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/selector"
)

// mapEntry is an item as a map writes it. With the type '?' the server chooses the
// type. Host and port are empty where they are this server's.
type mapEntry struct {
	typ                   byte
	label, selector, host string
	port                  string
}

// entry appends the item of an entry, its type being known.
func (m *making) entry(e mapEntry) {
	if e.typ == TypeInfo || e.typ == TypeError {
		m.text(e.label) // a successful menu contains no error item
		return
	}
	port, ok := m.portOf(e.port)
	switch {
	case !ok:
		m.bad(CodeLine, e.label, "no port from 1 to 65535: %q", e.port)
		return
	case selector.HasControl(e.selector) || selector.HasControl(e.host):
		m.bad(CodeLine, e.label, "a control character in a selector or host")
		return
	case selector.HasControl(e.label):
		m.control()
	}
	if (e.typ == TypeHTML || e.typ == '?') && isBareURL(e.selector) {
		e.selector = "URL:" + e.selector
	}
	it := Item{
		Type:     e.typ,
		Label:    e.label,
		Selector: e.selector,
		Host:     e.host,
		Port:     port,
	}
	link := Link{}
	if it.Host == "" {
		if link, ok = m.local(&it); !ok {
			m.bad(CodeProgram, e.label, "a link to a program: %q", it.Selector)
			link.Program = true
		}
	} else if m.mapsOnly {
		_ = m.linksProgram(it) // the host may be this one by a name that is not configured
	}
	if it.Type == '?' {
		it.Type = guess(it.Selector)
	}
	if m.Linked != nil && len(m.maps) > 0 {
		link.Item = it
		link.File = m.at().file
		link.Line = m.at().line
		m.Linked(link)
	}
	if !link.Program {
		m.add(it)
	}
}

// portOf parses a port; empty is this server's.
func (m *making) portOf(s string) (port int, ok bool) {
	if s == "" {
		return m.Port, true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0
}

// isBareURL reports whether a selector is a URL that could follow "URL:".
func isBareURL(sel string) bool {
	scheme, _, found := strings.Cut(sel, "://")
	return found && slices.Contains(redirectSchemes, strings.ToLower(scheme))
}

// guess returns the type of a selector whose file cannot be examined.
func guess(sel string) byte {
	if strings.HasPrefix(sel, "URL:") {
		return TypeHTML
	}
	if t, ok := TypeOf(sel); ok {
		return t
	}
	return TypeMenu
}

// local makes an item one of this server, and its selector canonical. A selector
// without a file stays unchanged if it begins with a slash, since a server may answer for
// more than files. It reports whether the item may be linked.
func (m *making) local(it *Item) (link Link, ok bool) {
	it.Host = m.Host
	sessions := it.Type == TypeTelnet || it.Type == TypeTN3270 || it.Type == TypeCSO
	if sessions || strings.HasPrefix(strings.TrimPrefix(it.Selector, "/"), "URL:") {
		return link, true // a name to log in with, or no name at all
	}
	relative := !strings.HasPrefix(it.Selector, "/")
	if program, arguments, asked := strings.Cut(it.Selector, "?"); isProgramName(program) {
		it.Selector = selector.Canonical(fold(m.dir, program), strings.HasSuffix(program, "/"))
		if asked {
			it.Selector += "?" + arguments
		}
		return link, m.Answers != nil && m.Answers(it.Selector)
	}
	if m.linksProgram(*it) {
		return link, m.Answers != nil && m.Answers(it.Selector)
	}
	name, dir, found := m.find(fold(m.dir, it.Selector))
	sel := selector.Canonical(name, dir || !found && strings.HasSuffix(it.Selector, "/"))
	if found && it.Type == '?' {
		it.Type = TypeMenu
		if !dir {
			it.Type = m.fileType(name)
		}
	}
	if relative {
		m.hide(path.Dir(name), path.Base(name))
	}
	if found || relative {
		it.Selector = sel
	}
	return Link{Local: true, Missing: !found}, true
}

// linksProgram reports whether a link to a menu or a search leads to a program, which
// other servers would run.
func (m *making) linksProgram(it Item) bool {
	if m.noLooks {
		return false
	}
	sel, _, _ := strings.Cut(it.Selector, "?")
	name := fold(m.dir, sel)
	if it.Type != TypeMenu && it.Type != TypeSearch || strings.HasSuffix(sel, "/") ||
		IsMap(path.Base(name)) || IsMenuFile(path.Base(name)) {
		return false
	}
	return slices.ContainsFunc(forms(name), func(name string) bool {
		if !selector.AskableName(name) {
			return false
		}
		if m.mapsOnly {
			m.sources.Linked = append(m.sources.Linked, name)
		}
		if len(m.sources.Linked) > maxLooks || !m.mapsOnly && !m.look() {
			return false
		}
		head, err := m.head(name, sniffLen)
		return err == nil && IsProgram(head)
	})
}

// forms returns a name and, as for requests, its decoded form.
func forms(name string) []string { return append([]string{name}, selector.Forms(name)...) }

// find resolves a name to the first of its forms that exists.
func (m *making) find(name string) (found string, dir, ok bool) {
	for _, form := range forms(name) {
		if dir, ok = m.stat(form); ok {
			return form, dir, true
		}
	}
	return name, false, false
}

// own returns a host or a port; empty if it is this server's.
func own(field string) string {
	if field = strings.TrimSpace(field); field != "+" {
		return field
	}
	return ""
}

func trimEnd(s string) string { return strings.TrimRight(s, " ") }

// namesSomething reports whether a selector of the map names something.
func (m *making) namesSomething(sel string) bool {
	_, _, ok := m.find(fold(m.dir, trimEnd(sel)))
	return ok
}
