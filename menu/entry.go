package menu

import (
	"path"
	"strconv"
	"strings"

	"github.com/gophd/gophd/selector"
)

// entry is an item as a map writes it. Its type may be '?', which means that the
// server decides.
type entry struct {
	typ                   byte
	label, selector, host string
	port                  string
}

// entry appends the item of an entry, its type being known.
func (m *making) entry(e entry) {
	if e.typ == TypeInfo || e.typ == TypeError {
		m.text(e.label) // a menu that succeeds holds no error
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
		m.problem(CodeControl, "a control character is shown as a space")
	}
	it := Item{Type: e.typ, Label: e.label, Selector: e.selector, Host: strings.TrimSpace(e.host), Port: port}
	if it.Host == "" {
		if isProgramName(fold(m.dir, it.Selector)) {
			m.bad(CodeProgram, e.label, "a link to a program: %q", it.Selector)
			return
		}
		it.Host = m.Host
		m.local(&it)
	}
	if it.Type == '?' {
		it.Type = guess(it.Selector)
	}
	m.add(it)
}

// portOf reads a port; an empty one is that of this server.
func (m *making) portOf(s string) (port int, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return m.Port, true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0
}

// guess returns the type of what cannot be looked at.
func guess(sel string) byte {
	if strings.HasPrefix(sel, "URL:") {
		return TypeHTML
	}
	if t, ok := TypeOf(sel); ok {
		return t
	}
	return TypeMenu
}

// local makes the selector of an item of this server canonical. What does not
// exist stays as it is written, if it begins with a slash, since a server may
// answer for more than files.
func (m *making) local(it *Item) {
	if strings.HasPrefix(it.Selector, "URL:") {
		return
	}
	relative := !strings.HasPrefix(it.Selector, "/")
	name, dir, ok := m.find(fold(m.dir, it.Selector))
	if ok && it.Type == '?' {
		it.Type = TypeMenu
		if !dir {
			it.Type = m.fileType(name)
		}
	}
	if relative {
		m.hide(path.Dir(name), path.Base(name))
	}
	if ok || relative {
		slash := strings.HasSuffix(it.Selector, "/")
		it.Selector = selector.Canonical(name, dir || !ok && slash)
	}
}

// find tells what a name stands for, and how it is written: one with escapes that
// is not there is tried decoded, as requests are.
func (m *making) find(name string) (found string, dir, ok bool) {
	if dir, ok = m.stat(name); ok {
		return name, dir, ok
	}
	plain, escaped := selector.Unescape(name)
	if !escaped {
		return name, false, false
	}
	if dir, ok = m.stat(plain); ok {
		return plain, dir, true
	}
	return name, false, false
}
