package feed

import (
	"bufio"
	"io"
	"strings"
	"time"
)

// Date returns the day that a file name begins with: 2026-11-22, 2026_11_22,
// 2026.11.22 or 20261122, and after it the end or something that is no digit. Ok
// is false if it begins with none.
func Date(name string) (day time.Time, ok bool) {
	if len(name) >= 8 && allDigits(name[:8]) {
		return parse("20060102", name[:8], name[8:])
	}
	if len(name) < 10 || name[4] != name[7] || !strings.ContainsRune("-_.", rune(name[4])) {
		return time.Time{}, false
	}
	sep := name[4:5]
	return parse("2006"+sep+"01"+sep+"02", name[:10], name[10:])
}

func parse(layout, day, rest string) (time.Time, bool) {
	if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		return time.Time{}, false
	}
	t, err := time.Parse(layout, day)
	return t, err == nil && t.Year() >= 1970
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Heading returns the first line of a text that says something, as a title; empty
// if there is none in its first lines.
func Heading(text io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(text, 8<<10))
	lines.Buffer(nil, 16<<10)
	for lines.Scan() {
		if t := title(strings.ToValidUTF8(lines.Text(), "\ufffd")); t != "" {
			return t
		}
	}
	return ""
}
