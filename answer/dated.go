package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// A DatedText is a text whose name begins with a date, as phlogs have them.
type DatedText struct {
	Name string // below the root
	Day  time.Time
}

// DatedTexts returns the dated texts of a directory.
func DatedTexts(v *site.View, dir string) (list []DatedText, err error) {
	entries, err := v.ReadDir(dir)
	for _, e := range entries {
		day, ok := Day(e.Name())
		if typ, known := menu.TypeOf(e.Name()); ok && !e.IsDir() && (!known || typ == menu.TypeText) {
			list = append(list, DatedText{selector.Join(dir, e.Name()), day})
		}
	}
	return list, err
}

// Newest returns the newest n texts, the newest first. It changes the list.
func Newest(list []DatedText, n int) []DatedText {
	slices.SortFunc(list, func(a, b DatedText) int { return cmp.Or(b.Day.Compare(a.Day), strings.Compare(b.Name, a.Name)) })
	return list[:min(len(list), n)]
}

// Day returns the day that a name or a line begins with: 2026-11-22, 2026_11_22,
// 2026.11.22 or 20261122, and after it the end or something that is no digit. Ok is
// false if it begins with none.
func Day(s string) (day time.Time, ok bool) {
	if len(s) >= 8 && allDigits(s[:8]) {
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

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
