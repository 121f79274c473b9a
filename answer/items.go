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

// A Target is where an item of a menu leads. If Path and URL are empty, it leads
// nowhere.
type Target struct {
	// Path is the selector of a resource of this site, with its slash in front. Only
	// one of Path and URL is set.
	Path string

	// URL is the target on another server or protocol. Its scheme is harmless: it only leads
	// somewhere.
	URL string

	// Asks: the selector answers a question, which is sent with it.
	Asks bool
}

// Target returns where an item leads.
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
		t.URL = selector.URL{Host: it.Host, Port: it.Port, Type: it.Type, Selector: sel}.String()
		t.Asks = it.Type == menu.TypeSearch
	case !strings.HasPrefix(it.Selector, "//"): // no resource of ours, and another host's to a browser
		t.Path = "/" + strings.TrimPrefix(it.Selector, "/")
		t.Asks = it.Type == menu.TypeSearch
	}
	return t
}

// IsInfo reports whether an item is a line of information, which leads nowhere.
func IsInfo(it menu.Item) bool {
	return it.Type == menu.TypeInfo || it.Type == menu.TypeError || it.Type == 0
}

// A Block is a run of lines of a menu that belong together. Empty lines after it are
// its own.
type Block struct {
	Items []menu.Item

	// Drawn: the lines have columns, which only letters of one width show.
	Drawn bool
}

// Blocks splits a menu. Lines without an empty line between them are one block, which
// is drawn if one of them begins with a blank or the line of a box, or has two blanks in a
// row that do not end a sentence, and they are not prose. Drawn blocks that follow each other
// are one.
func Blocks(items []menu.Item) (list []Block) {
	for len(items) > 0 {
		b := Block{}
		n := 0
		for ; n < len(items) && !isEmptyLine(items[n]); n++ {
			b.Drawn = b.Drawn || !items[n].Below && isDrawn(items[n].Label) && listed(items[n]) == ""
		}
		b.Drawn = b.Drawn && !isProse(items[:n])
		for n < len(items) && isEmptyLine(items[n]) {
			n++
		}
		b.Items, items = items[:n], items[n:]
		if last := len(list) - 1; last >= 0 && b.Drawn && list[last].Drawn {
			before := list[last].Items
			list[last].Items = before[:len(before)+n] // they follow each other in memory
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

// dated matches what a listing with dates has behind a name.
var dated = regexp.MustCompile(`^ +\d{4}-\d\d-\d\d( +[0-9.]+ [kMGTPE]?B)?$`)

// listed returns the name of the file of an item in a listing; "" if a map has given the
// item a label.
func listed(it menu.Item) string {
	base := path.Base(it.Selector)
	rest, ok := strings.CutPrefix(it.Label, base)
	if !ok || IsInfo(it) || rest != "" && !dated.MatchString(rest) {
		return ""
	}
	return base
}

// maxListed is how many titles of listed texts a reply reads.
const maxListed = 200

// ListedTitle returns the title of a text that a listing has under its name, and that name
// with what the listing has beside it; "" of any other item, and of a text that the reply does
// not show.
func (q *Asked) ListedTitle(it menu.Item) (title, beside string) {
	base, t := listed(it), q.Target(it)
	name := strings.TrimPrefix(t.Path, "/")
	if base == "" || t.Path == "" || it.Type != menu.TypeText && it.Type != menu.TypeHTML || q.listed == maxListed || !q.Shows(name, false) {
		return "", ""
	}
	q.listed++
	if title = q.Title(name, false); title == base {
		return "", ""
	}
	return title, strings.Join(strings.Fields(it.Label), " ")
}

func isEmptyLine(it menu.Item) bool { return IsInfo(it) && strings.TrimSpace(it.Label) == "" }

func isDrawn(line string) bool {
	line = StripEscapes(line)
	if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || isFrame(line) {
		return true
	}
	line = strings.TrimRight(line, " ")
	for i := 1; i < len(line); i++ {
		if line[i] == '\t' || strings.HasPrefix(line[i:], "  ") && strings.IndexByte(".!?: ", line[i-1]) < 0 {
			return true
		}
	}
	return false
}

// isFrame reports whether a line begins with a corner or a side of a box. A line that only
// goes across is none: it may stand above a heading.
func isFrame(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return r == '|' || strings.HasPrefix(line, "+-") || strings.HasPrefix(line, "+=") ||
		'━' < r && r < '╴' && !strings.ContainsRune("┄┅┈┉╌╍═", r)
}

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
