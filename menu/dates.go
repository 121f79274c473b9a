package menu

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// newestFirst puts sorted names that begin with a date in reverse order, if most
// of the names do, as in a phlog. Directories stay first, and what has no date
// comes after what has one.
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

// The width of the column of names, in characters: that of a line of 67 without
// date and size, or less if all names are shorter.
const (
	minLabel = 12
	maxLabel = 67 - len("  2006-01-02   123.4 kB")
)

// labelWidth returns how wide the column of names has to be.
func labelWidth(names []listed) int {
	width := minLabel
	for _, l := range names {
		width = max(width, utf8.RuneCountInString(l.name))
	}
	return min(width, maxLabel)
}

// dated puts date and size behind a label, in columns. A label that is longer than
// its column moves them.
func (m *making) dated(label, name string, width int) string {
	if !m.look() {
		return label
	}
	m.menu.Files = append(m.menu.Files, name)
	info, err := fs.Stat(m.FS, name)
	if err != nil {
		return label
	}
	size := ""
	if !info.IsDir() {
		size = SizeText(info.Size())
	}
	pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(label)))
	return strings.TrimRight(fmt.Sprintf("%s%s  %s  %9s", label, pad, info.ModTime().UTC().Format("2006-01-02"), size), " ")
}

// SizeText writes a number of bytes for people: "512 B", "1.4 kB", "20 MB". A kB is
// 1,000 bytes.
func SizeText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 999.5 && unit < len("kMGTPE") {
		f, unit = f/1000, unit+1
	}
	if f < 99.95 {
		return fmt.Sprintf("%.1f %cB", f, "kMGTPE"[unit-1])
	}
	return fmt.Sprintf("%.0f %cB", f, "kMGTPE"[unit-1])
}
