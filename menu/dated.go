package menu

import (
	"strings"
	"time"
)

// DatedText returns the day of a file that a phlog has: a text whose name begins with a
// date.
func DatedText(name string) (day time.Time, ok bool) {
	if day, ok = Day(name); ok {
		typ, known := TypeOf(name)
		ok = !known || typ == TypeText
	}
	return day, ok
}

// Day returns the day that a name or a line begins with: 2026-11-22, 2026_11_22,
// 2026.11.22 or 20261122, and after it the end or something that is no digit. Ok is
// false if it begins with none.
func Day(s string) (day time.Time, ok bool) {
	if len(s) >= 8 && isNumber(s[:8]) {
		return parseDay("20060102", s[:8], s[8:])
	}
	if len(s) < 10 || s[4] != s[7] || !strings.ContainsRune("-_.", rune(s[4])) {
		return time.Time{}, false
	}
	sep := s[4:5]
	return parseDay("2006"+sep+"01"+sep+"02", s[:10], s[10:])
}

func parseDay(layout, day, rest string) (time.Time, bool) {
	if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		return time.Time{}, false
	}
	t, err := time.Parse(layout, day)
	return t, err == nil && t.Year() >= 1970
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
