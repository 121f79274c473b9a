package web

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/gophd/gophd/menu"
)

// pageWriter writes the main part of a page. Its methods escape what they are given, except
// for raw.
type pageWriter struct {
	parts []string // written before last
	last  strings.Builder
	ink   ink
	icons map[string]bool // those that the page needs
}

// maxPart is how many bytes a part of a page has, or a little more. A long page would be
// copied again and again as one.
const maxPart = 64 << 10

func (w *pageWriter) raw(s string) {
	if w.last.WriteString(s); w.last.Len() >= maxPart {
		w.parts = append(w.parts, w.last.String())
		w.last.Reset()
	}
}

func (w *pageWriter) escaped(s string) { w.raw(html.EscapeString(s)) }

// link begins a link. An away link leads to another server.
func (w *pageWriter) link(to string, away bool) {
	w.raw(`<a href="`)
	if away {
		to = cleanURL(to)
	}
	w.escaped(to)
	w.raw(`"`)
	if away {
		w.raw(` rel="external nofollow noreferrer"`)
	}
	w.raw(">")
}

// text writes text that a stranger wrote: the colors of ANSI terminals become classes, and
// URLs become links. Other escape sequences are left out.
func (w *pageWriter) text(s string) {
	for {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			w.inked(s)
			return
		}
		w.inked(s[:i])
		s = s[i:]
		command := menu.EscapeAt(s)
		if list, ok := strings.CutPrefix(command, "\x1b["); ok && strings.HasSuffix(list, "m") {
			w.ink.set(strings.TrimSuffix(list, "m"))
		}
		s = s[max(len(command), 1):]
	}
}

// inked writes text in the color that was set last.
func (w *pageWriter) inked(s string) {
	if s == "" {
		return
	}
	if class := w.ink.class(); class != "" {
		w.raw(`<span class="` + class + `">`)
		defer w.raw("</span>")
	}
	for {
		from, to := findURL(s)
		if to == 0 {
			w.escaped(s)
			return
		}
		w.escaped(s[:from])
		w.link(s[from:to], true)
		w.escaped(s[from:to])
		w.raw("</a>")
		s = s[to:]
	}
}

// ink is how an ANSI terminal would write: the state that SGR sequences set (ECMA-48,
// section 8.3.117). Colors are numbers from 1, 0 is the default.
type ink struct {
	fg, bg                   int
	bold, underline, inverse bool
}

// set applies the parameters of a sequence. Colors of more than 16 become the nearest of
// the 16.
func (k *ink) set(list string) {
	fields := strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ':' })
	if len(fields) == 0 {
		fields = []string{"0"}
	}
	for i := 0; i < len(fields); i++ {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			continue
		}
		switch {
		case n == 0:
			*k = ink{}
		case n == 1, n == 22:
			k.bold = n == 1
		case n == 4, n == 24:
			k.underline = n == 4
		case n == 7, n == 27:
			k.inverse = n == 7
		case n == 38 || n == 48:
			color, used := extended(fields[i+1:])
			i += used
			if n == 38 {
				k.fg = color
			} else {
				k.bg = color
			}
		case 30 <= n && n <= 39:
			k.fg = (n - 29) % 10
		case 40 <= n && n <= 49:
			k.bg = (n - 39) % 10
		case 90 <= n && n <= 97:
			k.fg = n - 81
		case 100 <= n && n <= 107:
			k.bg = n - 91
		}
	}
}

// extended reads a color of 256, or of 24 bits, and how many fields it takes.
func extended(fields []string) (color, used int) {
	var n [4]int
	for i := range min(len(fields), len(n)) {
		n[i], _ = strconv.Atoi(fields[i])
	}
	switch {
	case n[0] == 5 && len(fields) >= 2:
		return nearest256(n[1]), 2
	case n[0] == 2 && len(fields) >= 4:
		return nearest(n[1], n[2], n[3]), 4
	}
	return 0, min(len(fields), 1)
}

func nearest256(n int) int {
	switch {
	case n < 0 || n > 255:
		return 0
	case n < 16:
		return n + 1
	case n >= 232:
		gray := 8 + 10*(n-232)
		return nearest(gray, gray, gray)
	}
	n -= 16
	return nearest(n/36*51, n/6%6*51, n%6*51)
}

// nearest returns the one of the 16 colors for a color of 24 bits: its hue from the
// channels that are strong, its brightness from the strongest.
func nearest(r, g, b int) int {
	most := max(r, g, b)
	if most < 48 {
		return 1
	}
	color := 0
	for i, c := range []int{r, g, b} {
		if 3*c >= 2*most {
			color |= 1 << i
		}
	}
	if most >= 192 {
		color += 8
	}
	return color + 1
}

// class returns the classes for the state. Text on a color has the color of the page, so
// that it can be read whatever color the author set.
func (k *ink) class() string {
	fg, bg := k.fg, k.bg
	if k.inverse {
		fg, bg = bg, cmp.Or(fg, 8)
	}
	var list []string
	switch {
	case bg > 0:
		list = append(list, fmt.Sprintf("g%d", bg-1))
	case fg > 0:
		list = append(list, fmt.Sprintf("c%d", fg-1))
	}
	if k.bold {
		list = append(list, "b")
	}
	if k.underline {
		list = append(list, "u")
	}
	return strings.Join(list, " ")
}

// safeSchemes are the schemes of URLs that become links: following one shows something.
var safeSchemes = map[string]bool{"http": true, "https": true, "gopher": true, "gophers": true, "gemini": true, "spartan": true,
	"nex": true, "finger": true, "ftp": true, "mailto": true, "irc": true, "ircs": true, "telnet": true, "xmpp": true}

// safeURL returns where a link in a text leads: to another server, or to a path of this
// one. It is "" if browsers might run the link, or would read it in another way.
func safeURL(to string) (_ string, away bool) {
	u, err := url.Parse(to)
	switch {
	case err != nil || strings.ContainsAny(to, "\\") || strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "", false
	case u.Scheme != "":
		if !safeSchemes[strings.ToLower(u.Scheme)] {
			return "", false
		}
		return to, true
	}
	return to, u.Host != ""
}

// findURL finds the first URL in a text; to is 0 if there is none. Punctuation after a URL
// does not belong to it.
func findURL(s string) (from, to int) {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return 0, 0
		}
		i += at
		from = i
		for from > 0 && i-from < 10 && isSchemeByte(s[from-1]) {
			from--
		}
		at = i + 3
		if !safeSchemes[strings.ToLower(s[from:i])] {
			continue
		}
		to = at
		for to < min(len(s), i+maxURL) && s[to] > ' ' && s[to] != 0x7f && strings.IndexByte("<>\"`{}|\\^", s[to]) < 0 {
			to++
		}
		round := strings.Count(s[i:to], ")") - strings.Count(s[i:to], "(")
		for to > at && (strings.IndexByte(".,;:!?'*_]", s[to-1]) >= 0 || s[to-1] == ')' && round > 0) {
			if to--; s[to] == ')' {
				round--
			}
		}
		if _, away := safeURL(s[from:to]); away && to > at {
			return from, to
		}
	}
}

// maxURL is the longest URL in a text that becomes a link, in bytes.
const maxURL = 2000

func isSchemeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// cleanURL escapes the bytes of a URL that no URL may have.
func cleanURL(u string) string {
	var b strings.Builder
	for i := range len(u) {
		c := u[i]
		if isSchemeByte(c) || '0' <= c && c <= '9' || strings.IndexByte("-._~:/?#[]@!$&'()*+,;=%", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
