package web

import (
	"strings"

	"github.com/gophd/gophd/answer"
)

// A text is shown preformatted, in a fixed-width font. Its lines, often 67 columns, do not fit
// on a phone. There, prose is wrapped at the edge of the screen (style.css), and anything else
// that is wider, such as a table, scrolls.

// piece is a part of a text; all pieces together are the text.
type piece struct {
	Text  string
	Prose bool // may be wrapped anew
}

// prose is a text in pieces.
type prose struct {
	Pieces []piece
	Wide   bool // a line outside of prose is wider than a phone
}

const phoneWidth = 41 // columns on a screen of 360 pixels, with the letters of style.css

// prose renders a text.
func (w *pageWriter) prose(p prose) {
	// Without prose, remove the line spacing, so that the lines of boxes meet (style.css).
	hasProse, draws, terminal := false, false, false
	for _, x := range p.Pieces {
		hasProse = hasProse || x.Prose
		draws = draws || strings.ContainsFunc(x.Text, answer.DrawsLines)
		terminal = terminal || extendedColors.MatchString(x.Text)
	}
	w.block("pre", preOf(p.Wide, draws && !hasProse, terminal))
	w.pieces(p)
	w.WriteString("</pre>\n")
}

func (w *pageWriter) pieces(p prose) {
	w.pen = pen{}
	for _, piece := range p.Pieces {
		if piece.Prose {
			w.WriteString(`<span class="p">`)
		}
		w.text(piece.Text)
		if piece.Prose {
			w.WriteString("</span>")
		}
	}
}

// inPieces splits a text into prose and other pieces.
func inPieces(text string) (p prose) {
	rest := strings.Split(text, "\n")
	from, at := 0, 0 // where the last lines without prose begin, and where the next lines do
	for i, n := 0, 0; i < len(rest); i += n {
		n = answer.Paragraph(rest[i:])
		lines := rest[i : i+n]
		end := at + n - 1
		for _, l := range lines {
			end += len(l)
		}
		alone := n == 1 && isEmpty(rest, i-1) && isEmpty(rest, i+1)
		isShort := n == 1 && answer.Columns(lines[0]) <= phoneWidth
		if !isShort && answer.IsProse(lines, alone) {
			if !alone { // a heading in the middle keeps its blanks
				at += len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
			}
			p.Pieces = append(p.Pieces, piece{Text: text[from:at]}, piece{text[at:end], true})
			from = end
		} else {
			for _, l := range lines {
				p.Wide = p.Wide || answer.Columns(l) > phoneWidth
			}
		}
		at = end + 1
	}
	if from < len(text) {
		p.Pieces = append(p.Pieces, piece{Text: text[from:]})
	}
	return p
}

func isEmpty(lines []string, i int) bool {
	return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == ""
}
