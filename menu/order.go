package menu

import (
	"cmp"
	"slices"
	"strings"
)

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
	month, rest := number(strings.TrimLeft(rest[:min(1, len(rest))], "-_.")+rest[min(1, len(rest)):], 2, 1, 12)
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

// number cuts a number of so many digits off, if it lies between low and high.
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
