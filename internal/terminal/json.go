package terminal

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON escapes in lines of JSON what a terminal would obey and package json
// leaves: DEL, the controls from U+0080 on, marks that turn the direction.
func JSON(lines []byte) []byte {
	if !hasBeyondASCII(lines) {
		return lines
	}
	var out []byte
	for _, r := range string(lines) {
		if r < 0x7f || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// hasBeyondASCII is the quick answer for nearly all lines.
func hasBeyondASCII(lines []byte) bool {
	for _, b := range lines {
		if b >= 0x7f {
			return true
		}
	}
	return false
}
