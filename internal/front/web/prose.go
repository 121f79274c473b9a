package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/answer"
)

// A text is shown as it is, line by line, in letters of one width. But 67 columns
// do not fit on a phone. There, prose is broken where the screen
// ends: its line ends count as blanks (style.css). Whatever else is wider than the
// screen, a table or a picture of letters, scrolls.
//
// Prose is a paragraph or an item of a list: lines that begin in the same column,
// all but the last about as long as a line is, of letters with single blanks
// between words. Verses and lists of short lines are none.

// piece is a part of a text; all pieces together are the text.
type piece struct {
	Text  string
	Prose bool // its line ends may be elsewhere
}

// prose is a text in pieces.
type prose struct {
	Pieces []piece
	Wide   bool // a line that is no prose is wider than a phone
}

const (
	phoneWidth = 41 // columns on a screen of 360 pixels, with the letters of style.css
	fullLine   = 40 // from so many columns on a line is one that goes on
)

// prose writes a text.
func (w *pageWriter) prose(p prose) {
	w.raw("<pre")
	if p.Wide {
		w.raw(` tabindex="0"`)
	}
	// Without prose beside them, the lines of boxes meet (style.css).
	if !slices.ContainsFunc(p.Pieces, func(x piece) bool { return x.Prose }) && slices.ContainsFunc(p.Pieces, func(x piece) bool { return strings.ContainsFunc(x.Text, answer.DrawsLines) }) {
		w.raw(` class="art"`)
	}
	w.raw(">\n")
	w.pieces(p)
	w.raw("</pre>\n")
}

func (w *pageWriter) pieces(p prose) {
	w.ink = ink{}
	for _, piece := range p.Pieces {
		if piece.Prose {
			w.raw(`<span class="p">`)
		}
		w.text(piece.Text)
		if piece.Prose {
			w.raw("</span>")
		}
	}
}

// inPieces finds the prose in a text.
func inPieces(text string) (p prose) {
	rest := strings.Split(text, "\n")
	from, at := 0, 0 // where the last lines without prose begin, and where the next lines do
	for i, n := 0, 0; i < len(rest); i += n {
		n = paragraph(rest[i:])
		lines := rest[i : i+n]
		end := at + n - 1
		for _, l := range lines {
			end += len(l)
		}
		alone := n == 1 && isEmpty(rest, i-1) && isEmpty(rest, i+1)
		if isProse(lines, alone) {
			if !alone { // a heading in the middle keeps its blanks
				at += indentOf(lines[0])
			}
			p.Pieces = append(p.Pieces, piece{Text: text[from:at]}, piece{text[at:end], true})
			from = end
		} else {
			for _, l := range lines {
				p.Wide = p.Wide || columns(l) > phoneWidth
			}
		}
		at = end + 1
	}
	if from < len(text) {
		p.Pieces = append(p.Pieces, piece{Text: text[from:]})
	}
	return p
}

// paragraph returns how many of the lines, at least one, may be a paragraph.
func paragraph(lines []string) int {
	column := indentOf(lines[0])
	sign := marker(lines[0][column:])
	column += sign
	n := 1
	for n < len(lines) && columns(lines[n-1]) >= fullLine && strings.TrimSpace(lines[n]) != "" {
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

// isProse reports whether lines that may be a paragraph are one. One line that
// stands alone may have wide gaps: it is a heading.
func isProse(lines []string, alone bool) bool {
	if len(lines) == 1 && columns(lines[0]) <= phoneWidth {
		return false
	}
	letters, all := 0, 0
	for _, l := range lines {
		if strings.IndexByte(l, '\x1b') >= 0 {
			return false
		}
		l = strings.TrimSpace(l)
		l = plainURLs(l)
		for i, r := range l {
			all++
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == ' ' {
				letters++
			}
			gap := r == '\t' || strings.HasPrefix(l[i:], "  ") && !strings.ContainsRune(".!?:", rune(l[i-1]))
			if gap && !alone {
				return false
			}
		}
	}
	return 4*letters >= 3*all
}

// plainURLs returns a line with a letter in the place of each byte of a URL, whose marks draw
// nothing.
func plainURLs(line string) string {
	var b strings.Builder
	for {
		from, to := findURL(line)
		if to == 0 {
			return b.String() + line
		}
		b.WriteString(line[:from] + strings.Repeat("u", to-from))
		line = line[to:]
	}
}

func isEmpty(lines []string, i int) bool {
	return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == ""
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

func columns(line string) int { return utf8.RuneCountInString(answer.StripEscapes(line)) }
