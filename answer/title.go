package answer

import (
	"bytes"
	"cmp"
	"html"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gophd/gophd/menu"
)

// Title returns the title of a file or directory of the site. It is the first of these that
// exists:
//
//   - the title line of its gophermap
//   - its gophertag (for a directory)
//   - the host name (for the root)
//   - its label in the gophermap of the directory that contains it, without a date
//   - the heading or first line of a text, without a date
//   - its name
//
// It reads maps and the beginning of the text.
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
	if !dir && (mayBeText(base) || isHTML(base)) {
		if f, err := q.View.Lookup(name); err == nil {
			defer func() { _ = f.Close() }()
			return cmp.Or(q.Host.heading(base, f), base)
		}
	}
	return base
}

// AnswerTitle returns the title of an answer: the Title of a file or directory of the site;
// otherwise the title that its source has set, its prompt, the first line of its menu, or the
// title that its text has. It may return "".
func (q *Asked) AnswerTitle(a *Value) string {
	switch {
	case a.name != "":
		return q.Title(a.name, a.dir)
	case a.Title != "":
		return a.Title
	case a.Class == Question:
		return a.Prompt
	case len(a.Items) > 0 && IsInfo(a.Items[0]):
		return CleanTitle(a.Items[0].Label)
	case a.Class == File && a.Type == menu.TypeText:
		return q.Host.heading(a.TextName(), bytes.NewReader(a.Body))
	}
	return ""
}

// TextName returns a file name whose suffix determines the markup of a text: its own, or for the
// output of a program "text" with the suffix for its media type.
func (a *Value) TextName() string {
	switch base, _, _ := strings.Cut(a.Media, ";"); base {
	case "":
		return path.Base(a.Selector)
	case Gemtext:
		return "text.gmi"
	case Markdown:
		return "text.md"
	}
	return "text"
}

// LinkTitle returns the Title of a resource that the reply links, or its name if the reply
// may not disclose the title (see Shows).
func (q *Asked) LinkTitle(name string, dir bool) string {
	switch {
	case q.Shows(name, dir):
		return q.Title(name, dir)
	case name == ".":
		return q.Request.Host
	}
	return path.Base(name)
}

// Shows reports whether the reply may disclose the content of another resource, such as its
// title: not if robots may fetch the reply but not the resource.
func (q *Asked) Shows(name string, dir bool) bool {
	snap := q.View.Now()
	return snap != nil && (snap.Open(name, dir) || q.name != "" && !snap.Open(q.name, q.dir))
}

// mapNames is the title of a map and its labels.
type mapNames struct {
	title  string
	labels map[string]string
}

// named returns the title of a map, and its labels by the names that they link. name is a
// directory or a menu file.
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

// maxTitle bounds titles, in bytes.
const maxTitle = 200

// opening lists the classes of characters, besides letters and numbers, that may begin a
// title.
var opening = []*unicode.RangeTable{unicode.Ps, unicode.Pi, unicode.So}

// CleanTitle returns a line as a title: without the marks around a heading ("== Title ==")
// and control characters, cut off after 200 bytes. It may return "".
func CleanTitle(line string) string {
	var b []byte
	for _, r := range StripEscapes(line) {
		if b == nil && (!unicode.IsLetter(r) && !unicode.IsNumber(r) &&
			!unicode.IsOneOf(opening, r) && r != '"' && r != '\'' || DrawsLines(r)) {
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
	if n := len(words); n > 1 && len(bytes.TrimFunc(words[n-1], func(r rune) bool {
		return strings.ContainsRune("-=*~_|#", r) || DrawsLines(r)
	})) == 0 {
		words = words[:n-1] // marks behind the heading
	}
	return string(bytes.Join(words, []byte(" ")))
}

// DrawsLines reports whether a character draws lines or shades (U+2500 to U+259F).
func DrawsLines(r rune) bool { return '─' <= r && r <= '▟' }

// StripEscapes removes ANSI escape sequences from a text.
func StripEscapes(text string) string {
	if strings.IndexByte(text, '\x1b') < 0 {
		return text
	}
	var b strings.Builder
	for before := range menu.Escapes(text) {
		b.WriteString(before)
	}
	return b.String()
}

// column returns the name in a label with aligned columns: the first column with more than
// three letters, which dates, sizes and type marks lack.
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

// Bounds of the search for a title.
const (
	titleBytes   = 8 << 10 // read from the text
	titleColumns = 100     // of the title line
)

// The media types of markup that is rendered.
const (
	Gemtext  = "text/gemini"
	Markdown = "text/markdown"
)

// Markup returns the media type of a text by its name, if it is Gemtext or Markdown, or "".
func Markup(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".gmi", ".gemini":
		return Gemtext
	case ".md", ".markdown":
		return Markdown
	}
	return ""
}

// heading returns the title of a text, or "". In HTML it is the title element, in Markdown
// and gemtext the first heading. In other texts it is a short first line with an empty line or
// a ruler below it. Source code, data, lists and drawings have no title.
func (h *Host) heading(name string, r io.Reader) string {
	begin, _ := io.ReadAll(io.LimitReader(r, titleBytes))
	whole := len(begin) < titleBytes
	if c := h.Charset.Of(name, begin, whole); c != menu.CharsetAuto {
		begin = c.Decode(begin)
	} else if whole {
		begin = menu.CharsetLatin1.Decode(begin)
	}
	if isHTML(name) {
		found := htmlTitle.FindSubmatch(begin)
		if found == nil {
			return ""
		}
		return CleanTitle(html.UnescapeString(string(found[1])))
	}
	lines := strings.Split(string(bytes.ToValidUTF8(begin, []byte("?"))), "\n")
	markup, title := Markup(name), ""
	if markup != "" {
		title = marked(lines)
	}
	if title == "" && !IsSource(name, lines[0]) {
		title = firstLine(lines)
	}
	if markup == Markdown && title != "" {
		src := []byte("# " + title)
		title = CleanTitle(PlainMarkdown(goldmark.DefaultParser().Parse(text.NewReader(src)), src))
	}
	return title
}

// isHTML reports whether the name is that of an HTML file.
func isHTML(name string) bool {
	typ, _ := menu.TypeOf(name)
	return typ == menu.TypeHTML
}

var htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>\s*(.*?)\s*</title>`)

// PlainMarkdown returns the text of a Markdown node without markup.
func PlainMarkdown(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(src))
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// marked returns the first heading of Markdown or gemtext outside of fences.
func marked(lines []string) string {
	if strings.TrimSpace(lines[0]) == "---" { // front matter
		for _, line := range lines[1:] {
			label, _, _ := strings.Cut(line, ":")
			if strings.TrimSpace(label) == "title" {
				return TitleOf(line)
			}
			if strings.TrimSpace(line) == "---" {
				break
			}
		}
	}
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		title := ""
		if strings.HasPrefix(line, "#") {
			title = CleanTitle(line) // keeps a date
		} else if i+1 < len(lines) && strings.TrimSpace(line) != "" && isUnderline(lines[i+1]) {
			title = TitleOf(line)
		}
		if title != "" {
			return title
		}
	}
	return ""
}

// isUnderline reports whether a line is the underline of a heading (CommonMark section 4.3).
func isUnderline(line string) bool {
	line = strings.TrimRight(line, " \r")
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// firstLine returns the title of a text without markup.
func firstLine(lines []string) string {
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if IsRuler(line) {
			continue
		}
		label, rest, _ := strings.Cut(line, ":")
		if strings.EqualFold(label, "title") && CleanTitle(rest) != "" { // other fields may follow
			return TitleOf(line)
		}
		title := TitleOf(line)
		if title == "" && undated(line) == "" {
			continue // only a date
		}
		ends := i+1 == len(lines) || IsRuler(lines[i+1])
		isList := strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "- ") ||
			strings.HasPrefix(line, "+ ")
		if !ends || isList || isFrame(StripEscapes(line)) ||
			utf8.RuneCountInString(line) > titleColumns {
			return ""
		}
		return title
	}
	return ""
}

// IsRuler reports whether a line is empty or repeats one punctuation mark.
func IsRuler(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.IndexByte("=-*~_#+.", line[0]) >= 0 &&
		strings.Trim(line, line[:1]) == ""
}

// sources are the suffixes of source code, patches, data and markup.
var sources = strings.Fields(`.ada .asm .atom .awk .bas .bash .bat .c .cc .cfg .clj .cmake .cob .conf .cpp .cs .css .csv .cxx .d .dart .diff .el .erl .ex .f .f90 .fish
	.forth .fs .fth .go .gradle .h .hh .hpp .hs .htm .html .ics .ini .java .jl .js .json .jsonl .kt .lisp .log .lua .m .m3u .m4 .mk .ml .nim .opml .p .pas .patch .php .pl .pls
	.pm .ps1 .py .r .rb .rkt .rs .rss .s .scala .scm .sed .sh .sql .srt .svg .swift .tcl .tex .toml .ts .tsv .v .vb .vcf .vhd .vim .vtt .xhtml .xml .xsl .yaml .yml .zig .zsh`)

// sourceStarts are the beginnings of such texts.
var sourceStarts = []string{"#!", "#include", "#define", "#pragma", "<?", "<!", "<html", "<svg",
	"{", "//", "/*", "--- a/", "@@ ", "diff ", "Index: ", "%!"}

// IsSource reports whether a text is source code, data or the like, and so has no title. It
// judges by the suffix, and by the beginning of the first line.
func IsSource(name, first string) bool {
	if slices.Contains(sources, strings.ToLower(path.Ext(name))) {
		return true
	}
	first = strings.TrimPrefix(first, "\ufeff")
	if IsRuler(first) {
		return false
	}
	return slices.ContainsFunc(sourceStarts, func(start string) bool {
		return strings.HasPrefix(first, start)
	})
}

// TitleOf returns a line of a text as a title, without a date and without "Title:".
func TitleOf(line string) string {
	line = undated(line)
	if label, rest, ok := strings.Cut(line, ":"); ok &&
		strings.EqualFold(strings.TrimSpace(label), "title") {
		line = strings.Trim(strings.TrimSpace(rest), `"'`)
	}
	return CleanTitle(line)
}

// undated removes a date at the beginning or the end of a line.
func undated(line string) string {
	line = strings.TrimSpace(line)
	if _, rest, ok := menu.CutDay(line); ok {
		line = rest
	}
	if i := strings.LastIndexByte(line, ' '); i >= 0 {
		if _, ok := menu.Day(strings.Trim(line[i+1:], "()[]")); ok {
			line = line[:i]
		}
	}
	return line
}
