package answer

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
)

// Title returns the title of a file or directory of the site: the title line of its
// map, its gophertag, the label that the map of its directory has for it, of a text
// its first line that says something, or else its name; of the root the host's name. A
// label and a first line count without their date. It reads maps, and the beginning of a
// text.
func (q *Asked) Title(name string, dir bool) string {
	base := path.Base(name)
	if dir || menu.IsMenuFile(base) {
		title, _ := q.named(name)
		if title = CleanTitle(title); title != "" {
			return title
		}
	}
	if dir {
		if tag := CleanTitle(q.Builder().Label(q.Context(), name)); tag != "" {
			return tag
		}
	}
	if name == "." {
		return q.Request.Host
	}
	_, labels := q.named(path.Dir(name))
	if label := CleanTitle(column(undated(labels[name]))); label != "" && label != base {
		return label
	}
	if !dir && mayBeText(base) {
		if f, err := q.View.Lookup(name); err == nil {
			defer func() { _ = f.Close() }()
			return cmp.Or(heading(f), base)
		}
	}
	return base
}

// mapNames holds the title of a map and its labels.
type mapNames struct {
	title  string
	labels map[string]string
}

// named returns the title and the labels in the map of a directory or in a menu file.
func (q *Asked) named(name string) (title string, labels map[string]string) {
	n, ok := q.names[name]
	if !ok {
		n.title, n.labels = q.Builder().Names(q.Context(), name)
		if q.names == nil {
			q.names = map[string]mapNames{}
		}
		q.names[name] = n
	}
	return n.title, n.labels
}

// maxTitle is the longest title, in bytes.
const maxTitle = 200

// opening lists the classes of characters, besides letters and numbers, that may begin a
// title.
var opening = []*unicode.RangeTable{unicode.Ps, unicode.Pi, unicode.So}

// CleanTitle makes a line fit to be a title: without the marks that texts have before
// a heading, without control characters; empty if nothing is left.
func CleanTitle(line string) string {
	var b []byte
	for _, r := range StripEscapes(line) {
		if b == nil && (!unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsOneOf(opening, r) && r != '"' && r != '\'' || DrawsLines(r)) {
			continue
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		if len(b)+utf8.RuneLen(r) > maxTitle {
			b = append(b, "..."...)
			break
		}
		b = utf8.AppendRune(b, r)
	}
	words := bytes.Fields(b)
	if n := len(words); n > 1 && len(bytes.TrimFunc(words[n-1], func(r rune) bool { return strings.ContainsRune("-=*~_|#", r) || DrawsLines(r) })) == 0 {
		words = words[:n-1] // the other half of the marks
	}
	return string(bytes.Join(words, []byte(" ")))
}

// DrawsLines reports whether a character draws lines or shades (U+2500 to U+259F).
func DrawsLines(r rune) bool { return '─' <= r && r <= '▟' }

// StripEscapes returns a text without the commands to ANSI terminals in it, such as those
// that change the color.
func StripEscapes(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '\x1b')
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		text = text[i:]
		text = text[max(len(menu.EscapeAt(text)), 1):]
	}
}

// column returns the column of an aligned label that is a name: the first with more than
// three letters, which dates, sizes and marks of a type have not.
func column(label string) string {
	if isDrawn(strings.TrimSpace(label)) {
		for part := range strings.SplitSeq(strings.ReplaceAll(label, "\t", "  "), "  ") {
			letters := 0
			for _, r := range part {
				if unicode.IsLetter(r) {
					letters++
				}
			}
			if letters > 3 {
				return part
			}
		}
	}
	return label
}

// heading returns the first line of a text that says something, as a title; empty if
// there is none in its first 8 KiB. A date and "Title:" before it are left out, and what
// stands in a fence.
func heading(text io.Reader) string {
	begin, _ := io.ReadAll(io.LimitReader(text, 8<<10))
	if plain, ok := menu.FromUTF16(begin); ok {
		begin = []byte(plain)
	}
	lines := bufio.NewScanner(bytes.NewReader(begin))
	lines.Buffer(nil, 16<<10)
	for fenced := false; lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "```") { // of Markdown and gemtext: a drawing, or code
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if !utf8.ValidString(line) {
			line = menu.FromLatin1(line)
		}
		if t := TitleOf(line); t != "" {
			return t
		}
	}
	return ""
}

// TitleOf returns the title in a line of a text: without a date, and without "Title:".
func TitleOf(line string) string {
	line = undated(line)
	if label, rest, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(label), "title") {
		line = rest
	}
	return CleanTitle(line)
}

// undated takes the date off that a line begins or ends with.
func undated(line string) string {
	line = strings.TrimSpace(line)
	if _, ok := menu.Day(line); ok {
		n := len("2026-01-02")
		if '0' <= line[4] && line[4] <= '9' {
			n = len("20260102")
		}
		line = line[n:]
	}
	if i := strings.LastIndexByte(line, ' '); i >= 0 {
		if _, ok := menu.Day(strings.Trim(line[i+1:], "()[]")); ok {
			line = line[:i]
		}
	}
	return line
}
