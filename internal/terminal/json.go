package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// PrintJSON writes a value as JSON that a program reads, and a person may.
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(JSON(b.Bytes()))
	return err
}

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
