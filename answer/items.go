package answer

import (
	"net"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// A Target is the target of an item's link. If Path and URL are empty, there is no link.
type Target struct {
	// Path is the selector of a resource of this site, with a leading slash. Only one of
	// Path and URL is set.
	Path string

	// URL is a target on another server or of another protocol. Its scheme is one of
	// those that are safe to link (not javascript, for example).
	URL string

	// Asks reports that the target takes a query (item type 7).
	Asks bool
}

// Target returns the target of an item's link.
func (q *Asked) Target(it menu.Item) (t Target) {
	if IsInfo(it) {
		return t
	}
	if a := leaving(it.Selector); a != nil {
		return Target{URL: a.URL}
	} else if strings.HasPrefix(it.Selector, "URL:") {
		return t
	}
	switch local := it.Host == "" || q.isLocal(it); {
	case it.Type == menu.TypeCSO:
	case it.Type == menu.TypeTelnet || it.Type == menu.TypeTN3270:
		if it.Host != "" {
			u := url.URL{Scheme: "telnet", Host: net.JoinHostPort(it.Host, strconv.Itoa(it.Port))}
			t.URL = u.String()
		}
	case !local:
		sel := it.Selector
		if sel == "/" {
			sel = ""
		}
		t.URL = selector.URL{
			Host:     it.Host,
			Port:     it.Port,
			Type:     it.Type,
			Selector: sel,
		}.String()
		t.Asks = it.Type == menu.TypeSearch
	case !strings.HasPrefix(it.Selector, "//"): // a browser would take "//" for another host
		t.Path = "/" + strings.TrimPrefix(it.Selector, "/")
		t.Asks = it.Type == menu.TypeSearch
	}
	return t
}

// IsInfo reports whether an item is a line of text without a link.
func IsInfo(it menu.Item) bool {
	return it.Type == menu.TypeInfo || it.Type == menu.TypeError || it.Type == 0
}

// A Block is a run of lines of a menu, with the empty lines that follow.
type Block struct {
	Items []menu.Item

	// Drawn reports that the lines need a fixed-width font: columns, or a drawing.
	Drawn bool
}

// Filled returns the number of lines without the empty ones at the end, at least 1.
func (b Block) Filled() int {
	n := len(b.Items)
	for n > 1 && isEmptyLine(b.Items[n-1]) {
		n--
	}
	return n
}

// Blocks splits a menu at empty lines. A block is Drawn if a line begins with a blank or
// with the side of a box, or has two blanks in a row that do not end a sentence; prose is
// not. Adjacent Drawn blocks are merged.
func Blocks(items []menu.Item) (list []Block) {
	for len(items) > 0 {
		b := Block{}
		n := 0
		for ; n < len(items) && !isEmptyLine(items[n]); n++ {
			b.Drawn = b.Drawn || !items[n].Below && isDrawn(items[n].Label) &&
				listed(items[n]) == ""
		}
		b.Drawn = b.Drawn && !isProse(items[:n])
		for n < len(items) && isEmptyLine(items[n]) {
			n++
		}
		b.Items, items = items[:n], items[n:]
		if last := len(list) - 1; last >= 0 && b.Drawn && list[last].Drawn {
			before := list[last].Items
			list[last].Items = before[:len(before)+n] // the blocks are adjacent in items
			continue
		}
		list = append(list, b)
	}
	return list
}

// isProse reports whether a block is one paragraph that begins in the first column.
func isProse(items []menu.Item) bool {
	var lines []string
	for _, it := range items {
		if !IsInfo(it) || strings.HasPrefix(it.Label, " ") {
			return false
		}
		lines = append(lines, it.Label)
	}
	return len(lines) > 1 && Paragraph(lines) == len(lines) && IsProse(lines, false)
}

// dated matches the date and size that follow a name in a listing.
var dated = regexp.MustCompile(`^ +\d{4}-\d\d-\d\d( +[0-9.]+ [kMGTPE]?B)?$`)

// listed returns the file name of an item whose label is that name, as in a listing, or "".
func listed(it menu.Item) string {
	base := path.Base(it.Selector)
	rest, ok := strings.CutPrefix(it.Label, base)
	if !ok || IsInfo(it) || rest != "" && !dated.MatchString(rest) {
		return ""
	}
	return base
}

// maxListed bounds the texts whose titles are read for one reply.
const maxListed = 200

// ListedTitle returns the title of a text whose item has its file name as its label, and
// the label. It returns "" for any other item, for a text without a title, and if the reply
// may not disclose the title (see Shows).
func (q *Asked) ListedTitle(it menu.Item) (title, beside string) {
	base, t := listed(it), q.Target(it)
	name := strings.TrimPrefix(t.Path, "/")
	if base == "" || t.Path == "" || it.Type != menu.TypeText && it.Type != menu.TypeHTML ||
		q.listed == maxListed || !q.Shows(name, false) {
		return "", ""
	}
	q.listed++
	if title = q.Title(name, false); title == base {
		return "", ""
	}
	return title, strings.Join(strings.Fields(it.Label), " ")
}

func isEmptyLine(it menu.Item) bool {
	return IsInfo(it) && strings.TrimSpace(it.Label) == ""
}

func isDrawn(line string) bool {
	line = StripEscapes(line)
	if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || isFrame(line) {
		return true
	}
	line = strings.TrimRight(line, " ")
	for i := 1; i < len(line); i++ {
		if line[i] == '\t' || strings.HasPrefix(line[i:], "  ") &&
			strings.IndexByte(".!?: ", line[i-1]) < 0 {
			return true
		}
	}
	return false
}

// isFrame reports whether a line begins with a corner or side of a box. Horizontal lines do
// not count: they may be rulers.
func isFrame(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return r == '|' || strings.HasPrefix(line, "+-") || strings.HasPrefix(line, "+=") ||
		'━' < r && r < '╴' && !strings.ContainsRune("┄┅┈┉╌╍═", r)
}

// Prose is a paragraph or a list item: lines that begin in the same column, all but the last
// at least fullLine long, with single blanks between words. Verses and lists of short lines
// are not prose.

// fullLine is the number of columns from which the next line may continue a paragraph.
const fullLine = 40

// field matches the beginning of a line in a file of fields, such as robots.txt.
var field = regexp.MustCompile(`^[A-Z][A-Za-z-]*: `)

// Paragraph returns how many of the first lines, at least one, are a paragraph by their
// shape. IsProse then examines the words.
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
		if indent != column || marker(lines[n][indent:]) > 0 || field.MatchString(lines[n]) {
			break
		}
		n++
	}
	return n
}

// IsProse reports whether the lines of a Paragraph are prose: three quarters of the
// characters are letters, digits or blanks, and there are no wide gaps. Several lines may
// have one gap. alone means that the line has empty lines around it, as a heading has; then
// gaps do not matter.
func IsProse(lines []string, alone bool) bool {
	letters := 0
	all := 0
	gaps := 0
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

// indentOf returns the number of leading blanks.
func indentOf(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}

// marker returns the width of a list marker ("* ", "12. ") at the beginning of a line, or 0.
func marker(line string) int {
	sign, _, found := strings.Cut(line, " ")
	if found && (sign == "*" || sign == "-" || sign == "+" ||
		len(sign) > 1 && strings.Trim(sign[:len(sign)-1], "0123456789") == "" &&
			strings.HasSuffix(sign, ".")) {
		return len(sign) + 1
	}
	return 0
}

// Columns returns the number of columns that a line takes, one per character.
func Columns(line string) int {
	return utf8.RuneCountInString(StripEscapes(line))
}
