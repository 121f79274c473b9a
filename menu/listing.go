package menu

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// list appends the entries of the directory that are not hidden.
func (m *making) list() error {
	names, err := m.names(m.dir)
	if err != nil {
		return err
	}
	m.lastList = nil // names is changed
	names = slices.DeleteFunc(names, func(l listed) bool { return m.hidden[l.name] })
	if blocks, ok := m.readUMN(); ok {
		m.addMerged(names, blocks)
	} else {
		m.addNames(m.dir, names, '?')
	}
	return nil
}

// listHere appends the listing of the directory to the items of a map.
func (m *making) listHere() {
	if m.mapsOnly || m.inlining {
		return
	}
	if err := m.list(); err != nil {
		m.report(CodeRead, m.dir, 0, "cannot be listed: "+diag.Cause(err).Error())
	}
}

// Patterns are compared with all names of a directory, so a few lines could keep a
// processor busy for long. The work is counted for the whole menu: a pattern beyond the
// bound is shown as text, and the listing is made without it.

// isGlob reports whether a label is a pattern for several files.
func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// glob appends the files whose names match the last element of a pattern, below
// the directory or, if it begins with a slash, below the root. What it appends a
// later listing leaves out.
func (m *making) glob(pattern string, typ byte) {
	full := fold(m.dir, pattern)
	dir, base := path.Dir(full), path.Base(full)
	if _, err := path.Match(base, ""); err != nil || !selector.AskableName(full) {
		m.bad(CodePattern, pattern, "no pattern of file names")
		return
	}
	if m.toList < 0 || !m.look() {
		m.bad(CodeLimit, pattern, "more than %d names were read for patterns", maxNames)
		return
	}
	all, err := m.names(dir)
	if err != nil {
		m.bad(CodePattern, pattern, "cannot be listed: %s", diag.Cause(err))
		return
	}
	matches, ok := m.matching(base, all)
	if !ok {
		m.add(Info(pattern))
		return
	}
	if len(matches) == 0 {
		m.bad(CodePattern, pattern, "matches no file")
	}
	for _, l := range matches {
		m.hide(dir, l.name)
	}
	m.addNames(dir, matches, typ)
}

// matching returns the names that a pattern matches. ok is false, with a report,
// if that would be too much to compare.
func (m *making) matching(pattern string, names []listed) (matches []listed, ok bool) {
	stars := 1 + strings.Count(pattern, "*")
	for _, l := range names {
		if m.compared += (1 + len(l.name)) * stars; m.compared > maxCompared {
			m.problem(CodeLimit, "patterns and names are too many to be compared")
			return nil, false
		}
		if m.ctx.Err() != nil {
			return nil, false
		}
		if ok, _ := path.Match(pattern, l.name); ok {
			matches = append(matches, l)
		}
	}
	return matches, true
}

// listed is a file or directory of a listing.
type listed struct {
	name string
	dir  bool
	key  string // orders the names
	date string // that the name begins with, in digits
}

// sortNames puts directories first, and each kind in the order of their keys. If most of the names
// begin with a date, as in a phlog, the newest come first, and those without a date last.
func sortNames(names []listed) {
	dated := 0
	for i, l := range names {
		names[i].key = sortKey(l.name)
		if found := dateOf.FindStringSubmatch(l.name); found != nil {
			names[i].date = found[1] + found[3] + found[5]
			dated++
		}
	}
	newestFirst := dated > 1 && 2*dated > len(names)
	slices.SortFunc(names, func(a, b listed) int {
		switch {
		case a.dir && !b.dir:
			return -1
		case b.dir && !a.dir:
			return 1
		case newestFirst && a.date != b.date:
			return strings.Compare(b.date, a.date)
		}
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
}

// sortKey returns a key that orders names as people do: numbers by their value ("2" before "10"),
// letters of ASCII in either case alike, and the rest by bytes. Beside other characters a number
// is a 0; its length, without leading zeros, decides before its digits.
func sortKey(name string) string {
	key := make([]byte, 0, len(name)+8)
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case 'A' <= c && c <= 'Z':
			key = append(key, c+'a'-'A')
		case '0' <= c && c <= '9':
			rest := strings.TrimLeft(name[i:], "0123456789")
			number := name[i : len(name)-len(rest)]
			i += len(number) - 1
			number = strings.TrimLeft(number, "0")
			key = append(key, '0')
			key = utf8.AppendRune(key, rune(len(number)))
			key = append(key, number...)
		default:
			key = append(key, c)
		}
	}
	return string(key)
}
