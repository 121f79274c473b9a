package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prose is a paragraph or an item of a list: lines that begin in the same column, all but
// the last about as long as a line is, of letters with single blanks between words. Verses
// and lists of short lines are none.

// fullLine is from how many columns on a line is one that goes on.
const fullLine = 40

// Paragraph returns how many of the lines, at least one, may be a paragraph.
func Paragraph(lines []string) int {
	column := indentOf(lines[0])
	sign := marker(lines[0][column:])
	column += sign
	n := 1
	for n < len(lines) && Columns(lines[n-1]) >= fullLine && strings.TrimSpace(lines[n]) != "" {
		indent := indentOf(lines[n])
		if n == 1 && indent < column && sign == 0 {
			column = indent // the first line of a paragraph may be indented
		}
		if indent != column || marker(lines[n][indent:]) > 0 {
			break
		}
		n++
	}
	return n
}

// IsProse reports whether lines that may be a paragraph are one. Two lines or more may have
// one wide gap, and so may a line that stands alone: it is a heading.
func IsProse(lines []string, alone bool) bool {
	letters, all, gaps := 0, 0, 0
	for _, l := range lines {
		if strings.IndexByte(l, '\x1b') >= 0 {
			return false
		}
		l = strings.TrimSpace(l)
		inURL, last := false, ' '
		for i, r := range l {
			inURL = r != ' ' && (inURL || strings.HasPrefix(l[i:], "://"))
			all++
			if inURL || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == ' ' {
				letters++
			}
			if r == '\t' || strings.HasPrefix(l[i:], "  ") && !strings.ContainsRune(" .!?:", last) {
				gaps++
			}
			last = r
		}
	}
	return 4*letters >= 3*all && (alone || gaps == 0 || gaps == 1 && len(lines) > 1)
}

// indentOf is how many blanks a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// marker is how wide the sign is that begins an item of a list, with its blank.
func marker(line string) int {
	sign, _, found := strings.Cut(line, " ")
	if found && (sign == "*" || sign == "-" || sign == "+" || len(sign) > 1 && strings.Trim(sign[:len(sign)-1], "0123456789") == "" && strings.HasSuffix(sign, ".")) {
		return len(sign) + 1
	}
	return 0
}

// Columns returns how many columns a line takes.
func Columns(line string) int { return utf8.RuneCountInString(StripEscapes(line)) }
