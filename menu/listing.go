package menu

import (
	"cmp"
	"path"
	"slices"
	"strings"

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
	if m.mapsOnly {
		return
	}
	full := fold(m.dir, pattern)
	dir, base := path.Dir(full), path.Base(full)
	m.globs++
	if _, err := path.Match(base, ""); err != nil || !selector.AskableName(full) {
		m.bad(CodePattern, pattern, "no pattern of file names")
		return
	}
	switch {
	case m.globs > maxGlobs:
		m.bad(CodeLimit, pattern, "more than %d patterns", maxGlobs)
		return
	case m.toList < 0:
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
		if m.stopped() {
			return nil, false
		}
		if ok, _ := path.Match(pattern, l.name); ok {
			matches = append(matches, l)
		}
	}
	return matches, true
}

// hidePattern leaves names out of the listing, and reports whether there are any.
func (m *making) hidePattern(pattern string, names []listed) bool {
	if m.patterns++; m.patterns > maxPatterns {
		m.problem(CodeLimit, "more than %d patterns of names to hide", maxPatterns)
		return true
	}
	matches, ok := m.matching(pattern, names)
	for _, l := range matches {
		m.hide(m.dir, l.name)
	}
	return !ok || len(matches) > 0
}

// listed is a file or directory of a listing.
type listed struct {
	name string
	dir  bool
}

// sortNames puts directories first, and each kind in the order of compareNames.
func sortNames(names []listed) {
	slices.SortFunc(names, func(a, b listed) int {
		if a.dir != b.dir {
			if a.dir {
				return -1
			}
			return 1
		}
		return compareNames(a.name, b.name)
	})
}

// compareNames orders names as people do: numbers by their value ("2" before "10"),
// letters of ASCII in either case alike, and the rest by bytes. Names that are alike
// so far are ordered by bytes, so that no two names are equal.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		c, d := lower(x[0]), lower(y[0])
		if isDigit(c) && isDigit(d) {
			var m, n string
			m, x = cutNumber(x)
			n, y = cutNumber(y)
			if order := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); order != 0 {
				return order
			}
			continue
		}
		if isDigit(c) {
			c = '0' // beside other bytes a number is one digit
		} else if isDigit(d) {
			d = '0'
		}
		if c != d {
			return cmp.Compare(c, d)
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutNumber returns the digits that s begins with, without leading zeros, and what
// follows them.
func cutNumber(s string) (number, rest string) {
	i := 0
	for i < len(s) && s[i] == '0' {
		i++
	}
	j := i
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	return s[i:j], s[j:]
}

// newestFirst puts sorted names that begin with a date in reverse order, if most
// of the names do, as in a phlog. Directories stay first, and names without a date
// come after those with one.
func newestFirst(names []listed) {
	n := 0
	for _, l := range names {
		if beginsWithDate(l.name) {
			n++
		}
	}
	if n < 2 || 2*n <= len(names) {
		return
	}
	files := slices.IndexFunc(names, func(l listed) bool { return !l.dir })
	if files < 0 {
		files = len(names)
	}
	for _, part := range [][]listed{names[:files], names[files:]} {
		slices.SortStableFunc(part, func(a, b listed) int {
			switch x, y := beginsWithDate(a.name), beginsWithDate(b.name); {
			case x && !y:
				return -1
			case y && !x:
				return 1
			case x:
				return -strings.Compare(dateKey(a.name), dateKey(b.name))
			}
			return 0
		})
	}
}

// beginsWithDate reports whether a name begins with a year and a month, and maybe
// a day, from 1900 to 2099, with or without "-", "_" or "." between them.
func beginsWithDate(name string) bool { return dateKey(name) != "" }

// dateKey returns the digits of the date that a name begins with.
func dateKey(name string) string {
	year, rest := number(name, 4, 1900, 2099)
	if year == "" {
		return ""
	}
	month, rest := number(strings.TrimLeft(rest[:min(1, len(rest))], "-_.")+
		rest[min(1, len(rest)):], 2, 1, 12)
	if month == "" {
		return ""
	}
	after := rest
	if len(after) > 0 && strings.IndexByte("-_.", after[0]) >= 0 {
		after = after[1:]
	}
	if day, tail := number(after, 2, 1, 31); day != "" && (tail == "" || !isDigit(tail[0])) {
		return year + month + day
	}
	if rest != "" && isDigit(rest[0]) {
		return ""
	}
	return year + month
}

// number cuts a number of so many digits off, if it is between low and high.
func number(s string, digits, low, high int) (found, rest string) {
	if len(s) < digits {
		return "", s
	}
	n := 0
	for i := range digits {
		if !isDigit(s[i]) {
			return "", s
		}
		n = n*10 + int(s[i]-'0')
	}
	if n < low || n > high {
		return "", s
	}
	return s[:digits], s[digits:]
}
