package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/menu"
)

// pageWriter writes the main part of a page. What it writes is escaped, except for the
// Buffer's own methods.
type pageWriter struct {
	bytes.Buffer
	pen    pen
	icons  map[string]*icon // those that the page uses
	colors map[string]bool  // the rules of its colors of more than 16
}

func (w *pageWriter) escaped(s string) { template.HTMLEscape(w, []byte(s)) }

// block writes a template of page.html.
func (w *pageWriter) block(name string, data any) {
	_ = pages.ExecuteTemplate(w, name, data)
}

// A link is the data of a link in the templates.
type link struct {
	URL    template.URL // "": it leads nowhere
	Away   bool         // it leads to another server
	Asks   bool         // it has a form for words
	Label  string
	Day    string // before the label
	Hidden bool   // the label, from those who see the heading of the page
	Icon   *icon
	Note   string
	Below  []template.HTML // lines below it
}

// text escapes and writes a text: ANSI colors become classes, URLs become links, other escape
// sequences are dropped.
func (w *pageWriter) text(s string) {
	for before, command := range menu.Escapes(s) {
		w.colored(before)
		if list, ok := strings.CutPrefix(command, "\x1b["); ok && strings.HasSuffix(list, "m") {
			w.pen.set(strings.TrimSuffix(list, "m"))
		}
	}
}

// colored writes text in the current colors.
func (w *pageWriter) colored(s string) {
	if s == "" {
		return
	}
	if class := w.class(); class != "" {
		w.WriteString(`<span class="` + class + `">`)
		defer w.WriteString("</span>")
	}
	for line := range strings.Lines(s) {
		for {
			from, to := findURL(line)
			if to == 0 {
				break
			}
			w.escaped(line[:from])
			target := line[from:to]
			if !strings.Contains(target, ":") {
				target = "mailto:" + target
			}
			w.block("link", link{
				URL:   template.URL(target),
				Away:  true,
				Label: line[from:to],
			})
			line = line[to:]
		}
		w.escaped(line)
	}
}

// A pen is the state that SGR sequences set (ECMA-48, section 8.3.117).
type pen struct {
	fg, bg color
	on     [10]bool // by the parameter that turns them on: 1 bold, 3 italic, 4 underlined, 7 inverse
}

// A color is 0, the default; or 1 and up, one of 256; or isRGB and 24 bits.
type color int

const isRGB color = 1 << 24

// set applies the parameters of a sequence.
func (p *pen) set(list string) {
	var n []int
	for field := range strings.FieldsFuncSeq(list, func(r rune) bool {
		return r == ';' || r == ':'
	}) {
		if v, err := strconv.Atoi(field); err == nil {
			n = append(n, v)
		}
	}
	if len(n) == 0 {
		n = []int{0}
	}
	for ; len(n) > 0; n = n[1:] {
		switch c := n[0]; {
		case c == 0:
			*p = pen{}
		case 0 < c && c < 10:
			p.on[c] = true
		case c == 22:
			p.on[1] = false
		case 22 < c && c < 30:
			p.on[c-20] = false
		case c == 38:
			p.fg, n = extended(n)
		case c == 48:
			p.bg, n = extended(n)
		case 30 <= c && c <= 39:
			p.fg = color((c - 29) % 10)
		case 40 <= c && c <= 49:
			p.bg = color((c - 39) % 10)
		case 90 <= c && c <= 97:
			p.fg = color(c - 81)
		case 100 <= c && c <= 107:
			p.bg = color(c - 91)
		}
	}
}

// extended parses a color of 256, or of 24 bits, and returns the numbers from its last one on.
func extended(n []int) (color, []int) {
	isByte := func(v int) bool { return 0 <= v && v <= 255 }
	switch {
	case len(n) >= 3 && n[1] == 5 && isByte(n[2]):
		return color(n[2] + 1), n[2:]
	case len(n) >= 5 && n[1] == 2 && isByte(n[2]) && isByte(n[3]) && isByte(n[4]):
		return isRGB | color(n[2]<<16|n[3]<<8|n[4]), n[4:]
	}
	return 0, n[len(n)-1:]
}

// levels are those of red, green and blue in the cube of 216 colors that follows the first 16.
var levels = [6]color{0, 95, 135, 175, 215, 255}

// rgb returns a color of more than 16 as one of 24 bits.
func (c color) rgb() color {
	switch n := c - 17; {
	case c&isRGB != 0:
		return c &^ isRGB
	case n < 216:
		return levels[n/36]<<16 | levels[n/6%6]<<8 | levels[n%6]
	default:
		gray := 8 + 10*(n-216)
		return gray<<16 | gray<<8 | gray
	}
}

// extendedColors matches a sequence with a color of more than 16. A text with one is shown
// as on a terminal, on black: its author has chosen colors that can be read there.
var extendedColors = regexp.MustCompile(`\x1b\[[0-9;:]*[34]8[;:][25]`)

// class returns the classes for the current colors. Text on one of the 16 colors has the
// color of the page, so that it can be read whatever color the author set.
func (w *pageWriter) class() string {
	p := w.pen
	if p.on[7] {
		p.fg, p.bg = p.bg, p.fg
		if p.bg == 0 {
			p.bg = 8
		}
	}
	if 0 < p.bg && p.bg <= 16 && p.fg <= 16 {
		p.fg = 0
	}
	var list []string
	add := func(c color, letter, property string) {
		switch {
		case c == 0:
		case c <= 16:
			list = append(list, letter+strconv.Itoa(int(c)-1))
		default:
			name := fmt.Sprintf("%s-%06x", letter, int(c.rgb()))
			if w.colors == nil {
				w.colors = map[string]bool{}
			}
			w.colors[fmt.Sprintf(".%s{%s:#%06x}", name, property, int(c.rgb()))] = true
			list = append(list, name)
		}
	}
	add(p.bg, "g", "background")
	add(p.fg, "c", "color")
	for i, letter := range map[int]string{1: "b", 3: "t", 4: "u"} {
		if p.on[i] {
			list = append(list, letter)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// safeSchemes are the schemes of URLs that become links: following one shows something.
const safeSchemes = "https?|gophers?|gemini|spartan|nex|finger|ftp|mailto|ircs?|telnet|xmpp"

var isSafeScheme = regexp.MustCompile(`^(?i:` + safeSchemes + `)$`)

// safeURL returns the URL for a link in a text, and whether it is on another server. It returns
// "" if a browser might run the link or parse it differently.
func safeURL(to string) (_ template.URL, away bool) {
	u, err := url.Parse(to)
	switch {
	case err != nil || strings.ContainsAny(to, "\\") || strings.ContainsFunc(to, func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}):
		return "", false
	case u.Scheme != "" && !isSafeScheme.MatchString(u.Scheme):
		return "", false
	}
	return template.URL(to), u.Scheme != "" || u.Host != ""
}

// linkable matches a URL, or a mail address.
var linkable = regexp.MustCompile(`(?i)(?:` + safeSchemes +
	`)://[^\x00-\x20\x7f<>"\x60{}|\\^]+|\b(?:mailto:)?[a-z0-9][a-z0-9.+_-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+`)

// maxURL is the longest URL in a text that becomes a link, in bytes.
const maxURL = 2000

// findURL finds the first URL or mail address in a line; to is 0 if there is none.
// Punctuation after it does not belong to it.
func findURL(line string) (from, to int) {
	for at := 0; strings.Contains(line[at:], "://") || strings.Contains(line[at:], "@"); at = to {
		found := linkable.FindStringIndex(line[at:])
		if found == nil {
			break
		}
		from, to = at+found[0], at+found[1]
		round := strings.Count(line[from:to], ")") - strings.Count(line[from:to], "(")
		end := to
		for end > from && (strings.IndexByte(".,;:!?'*_]-", line[end-1]) >= 0 ||
			line[end-1] == ')' && round > 0) {
			if end--; line[end] == ')' {
				round--
			}
		}
		target := line[from:end]
		if len(target) > maxURL {
			continue
		}
		safe, _ := safeURL(target)
		switch {
		case strings.Contains(target, "://") && safe != "" && !strings.HasSuffix(target, "://"):
			return from, end
		case strings.Contains(target, "://"), from > 0 && line[from-1] == '@', end < len(line) &&
			strings.IndexByte("@:/", line[end]) >= 0:
		default: // a mail address, and no name of the Fediverse or of a repository
			return from, end
		}
	}
	return 0, 0
}
