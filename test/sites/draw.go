// Package sites draws random sites for tests, lists sites with what they mean, and spoils
// files as faults of a compiler would.
package sites

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Note is an annotation.
type Note struct {
	Dir  string // canonical selector of its directory, with both slashes
	File string
	Data []byte
	Err  error
}

// Site holds annotations, programs, and the names that patterns are made of. Gemini are the
// annotations of homes that have a second tree, whose first is in Notes.
type Site struct {
	Notes    []Note
	Gemini   []Note
	Programs []string
	Names    []string
}

// Home holds the annotations of the two trees of a home.
type Home struct{ Gopher, Gemini []Note }

// Homes returns the homes with two trees, and the annotations of all else.
func (s Site) Homes() (homes []Home, rest []Note) {
	at := map[string]int{}
	for _, n := range s.Gemini {
		home := homeOf(n.Dir)
		if _, ok := at[home]; !ok {
			at[home] = len(homes)
			homes = append(homes, Home{})
		}
		homes[at[home]].Gemini = append(homes[at[home]].Gemini, n)
	}
	for _, n := range s.Notes {
		if i, ok := at[homeOf(n.Dir)]; ok {
			homes[i].Gopher = append(homes[i].Gopher, n)
		} else {
			rest = append(rest, n)
		}
	}
	return homes, rest
}

// homeOf returns the top-level directory that a directory lies in; of the root it is empty.
func homeOf(dir string) string {
	name, _, _ := strings.Cut(dir[1:], "/")
	return name
}

// String shows a site, as a report of a failure does.
func (s Site) String() string {
	var b strings.Builder
	for _, n := range slices.Concat(s.Notes, s.Gemini) {
		_, _ = fmt.Fprintf(&b, "== %s %v\n%s", n.File, n.Err, n.Data)
	}
	_, _ = fmt.Fprintf(&b, "== programs %q\n", s.Programs)
	return b.String()
}

// Of makes a site of annotations by directory ("/", "/~bob/").
func Of(notes map[string]string, programs ...string) (s Site) {
	for dir, text := range notes {
		s.Notes = append(s.Notes, Note{Dir: dir, File: dir[1:] + ".robots", Data: []byte(text)})
	}
	slices.SortFunc(s.Notes, func(a, b Note) int { return strings.Compare(a.Dir, b.Dir) })
	s.Programs = programs
	return s
}

var (
	plain = []string{"a", "ab", "abc", "b", "a.txt", "index.html", "x.zip", "drafts", "secret",
		"2019", "pub", "~bob", "~al", "9", "x"}
	vile = []string{"a", "ab", "a#", "#a", "a*", "*a", "a*b", "*", "a$", "$", "a$b", "a$$", "a b",
		"b ", "%41", "%", "%4", "a%", "A", "a%2Ab", "%24",
		"%C3%A9", "é", "日本", "0", "a:b", "a?b", "a?", "a;b", "a=b", "[a]", "a&b", "a'b",
		"a\"<>b", "Disallow"}
	agents = []string{"*", "*", "*", "GPTBot", "foo", "foobot", "my bot", "*foo*", "foo/1.1, other",
		"veronica", "gopher-mcp", "ChatGPT Agent", "*, foo", "* all"}
	usages = []string{"train-ai=y", "train-ai=n", "search=y", "search=n", "ai-use=n",
		"train-ai=n, search=y", "train-ai=y, search=n", "search=y, ai-use=y", "train-ai=n;x=1",
		"train-ai=no", "train-ai=n, ((("}
)

// Draw draws a site with few names, so that its patterns meet.
func Draw(rnd *rand.Rand) (s Site) {
	pool := plain
	if rnd.IntN(3) == 0 {
		pool = append(slices.Clone(vile), plain[:6]...)
	}
	for range 3 + rnd.IntN(4) {
		s.Names = append(s.Names, pool[rnd.IntN(len(pool))])
	}
	d := drawer{rnd, s.Names, []string{"Allow", "Allow", "Disallow", "Disallow", "Disallow"},
		agents[:5], 3, 4}
	for _, theme := range []func(){
		func() { d.fields = append(d.fields, "Final", "Final") },
		func() { d.fields = append(d.fields, "Content-Usage", "Content-Usage") },
		func() { d.robots = agents },
		func() { d.robots = []string{"archiver", "indexer", "researcher", "*", "*"} },
		func() { d.stars = 2 },
		func() { d.lines = 8 },
	} {
		if rnd.IntN(3) == 0 {
			theme()
		}
	}
	if rnd.IntN(4) == 0 {
		for _, p := range []string{"/cgi", "/*.cgi", "/~*/cgi", "/", "/a/",
			"/~bob/" + s.Names[1] + "/", "/" + s.Names[0], "/a/" + s.Names[1]} {
			if rnd.IntN(2) == 0 && (strings.HasPrefix(p, "/*.") || strings.HasPrefix(p, "/~*/") ||
				!strings.ContainsAny(p, "*?%#$") && !strings.HasSuffix(p, " ")) {
				s.Programs = append(s.Programs, p)
			}
		}
		d.names = append(slices.Clone(d.names), "cgi", ".cgi", "x.cgi")
	}
	dirs := []string{"/"}
	for range 1 + rnd.IntN(4) {
		if dir := dirs[rnd.IntN(len(dirs))] + s.Names[rnd.IntN(len(s.Names))] +
			"/"; !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	meet := d.meeting(dirs)
	for _, dir := range dirs {
		n := Note{Dir: dir, File: dir[1:] + ".robots",
			Data: []byte(meet[dir] + d.text(s.Names) + meet["above "+dir])}
		if rnd.IntN(40) == 0 {
			n.Err = errUnreadable
		}
		if rnd.IntN(5) > 0 || meet[dir]+meet["above "+dir] != "" {
			s.Notes = append(s.Notes, n)
		}
	}
	s.Gemini = d.gemini(s)
	return s
}

// gemini draws a second tree for one home in twelve. The site itself is the seed, so that rnd
// draws for others what it did without this.
func (d drawer) gemini(s Site) (list []Note) {
	seed := fnv.New64a()
	_, _ = io.WriteString(seed, s.String())
	d.rnd = rand.New(rand.NewPCG(seed.Sum64(), 12))

	seen := map[string]bool{"": true}
	for _, first := range s.Notes {
		home := homeOf(first.Dir)
		if seen[home] {
			continue
		}
		seen[home] = true
		if d.rnd.IntN(12) > 0 {
			continue
		}

		// An annotation is missing, or it is another, or the same with more lines.
		other := false
		var tree []Note
		for _, n := range s.Notes {
			if homeOf(n.Dir) != home {
				continue
			}
			n.File, n.Err = "gemini="+n.File, nil
			text := string(n.Data)
			switch d.rnd.IntN(5) {
			case 0:
				other = true
				continue
			case 1:
			case 2:
				text += d.text(s.Names)
			default:
				text = d.text(s.Names)
			}
			other = other || text != string(n.Data)
			n.Data = []byte(text)
			if d.rnd.IntN(40) == 0 {
				n.Err, other = errUnreadable, true
			}
			tree = append(tree, n)
		}
		if other {
			list = append(list, tree...)
		}
	}
	return list
}

// meeting returns lines for two directories, one below the other, in half of the sites:
// for the end of the upper one's annotation a denial that holds below, for the beginning
// of the lower one's an Allow that may undo it.
func (d drawer) meeting(dirs []string) map[string]string {
	below := d.one(dirs)
	if below == "/" || d.rnd.IntN(2) == 0 {
		return nil
	}
	above := "/"
	if i := slices.Index(dirs, below[:strings.LastIndexByte(below[:len(below)-1], '/')+1]); i > 0 &&
		d.rnd.IntN(2) == 0 {
		above = dirs[i]
	}
	word := strings.NewReplacer("#", "%23", "*", "%2A", "$", "%24", " ", "%20", "%", "%25")
	name, other := word.Replace(d.one(d.names)), word.Replace(d.one(d.names))
	denies := d.one([]string{"/*" + name, "/*/" + name, "/*" + name + "$",
		"/*/" + name + "/*" + other, word.Replace(below[len(above)-1:]),
		word.Replace(below[len(above)-1:]) + name})
	guard := d.one([]string{"User-agent: *\nFinal: ", "User-agent: GPTBot\nDisallow: ",
		"User-agent: GPTBot\nDisallow: ", "User-agent: foo\nFinal: "})
	allows := d.one([]string{"/", "/" + other, "/" + other + "/" + name, "/" + name + other + "/",
		"/*" + other, "/*/" + name + "$"})
	return map[string]string{"above " + above: guard + denies + "\n",
		below: d.one([]string{"Disallow: /\n", ""}) + "Allow: " + allows + "\n"}
}

var errUnreadable = errors.New("no permission")

type drawer struct {
	rnd            *rand.Rand
	names          []string
	fields, robots []string
	stars, lines   int // one piece in so many is a star; at most so many lines
}

func (d drawer) one(list []string) string { return list[d.rnd.IntN(len(list))] }

// text draws the lines of an annotation.
func (d drawer) text(few []string) string {
	var b strings.Builder
	for range 1 + d.rnd.IntN(d.lines) {
		if d.rnd.IntN(3) == 0 {
			_, _ = fmt.Fprintf(&b, "User-agent: %s\n", d.one(d.robots))
		}
		field := d.one(d.fields)
		value := d.pattern(few)
		switch {
		case field == "Content-Usage":
			if d.rnd.IntN(2) == 0 || strings.ContainsAny(value, " \t") {
				value = ""
			}
			value = strings.TrimSpace(value + " " + d.one(usages))
		case field == "Final" && d.rnd.IntN(2) == 0:
			value = "/" + strings.TrimLeft(strings.ReplaceAll(value, "*", ""), "/")
		case field == "Disallow" && d.rnd.IntN(15) == 0:
			value = ""
		case field == "Disallow" && d.rnd.IntN(30) == 0:
			field = d.one([]string{"Disalow", "Dissallow", "DISALLOW"})
		}
		_, _ = fmt.Fprintf(&b, "%s: %s\n", field, value)
	}
	return b.String()
}

// pattern draws a value of Allow or Disallow that begins with a slash and has no comment.
func (d drawer) pattern(few []string) string {
	var b strings.Builder
	for range d.rnd.IntN(4) {
		switch d.rnd.IntN(9) {
		case 0, 1, 2:
			b.WriteString("/" + d.one(d.names))
		case 3, 4:
			b.WriteString(d.one(d.names) + "/")
		case 5:
			b.WriteString(d.one([]string{"9", "A", "%41", "%2a", "%C3%A9", "é", "%", "?",
				".zip", "z", "b"}))
		case 6:
			b.WriteString("/" + d.one(few)[:1])
		default:
			if d.rnd.IntN(d.stars) == 0 {
				b.WriteString("*")
			} else {
				b.WriteString("/")
			}
		}
	}
	value := "/" + b.String()
	if d.rnd.IntN(6) == 0 {
		value += "$"
	}
	value = strings.ReplaceAll(value, "#", "%23")
	value = regexp.MustCompile(`(/)/+|(\*)\*+`).ReplaceAllString(value, "$1$2")
	return strings.ToValidUTF8(strings.TrimSpace(value), "")
}

// Selectors lists canonical selectors to ask about: names that patterns in URI form just
// match, their neighbours, and names that two of them match.
func Selectors(patterns []string) (list []string) {
	seen := map[string]bool{}
	add := func(uri string) {
		sel, err := url.PathUnescape(uri)
		if err != nil || !strings.HasPrefix(sel, "/") || strings.Contains(sel, "//") ||
			strings.Contains(sel, "/.") ||
			strings.ContainsAny(sel, "\r\n\t\x00") || sel == "/robots.txt" || seen[sel] {
			return
		}
		seen[sel] = true
		list = append(list, sel)
	}
	near := func(uri string) {
		uri = strings.TrimSuffix(uri, "$")
		for _, star := range []string{"", "zq", "x/q", "%C3%A9"} {
			sel := strings.ReplaceAll(uri, "*", star)
			for _, s := range []string{sel, sel + "q", sel + "/", sel + "/q",
				strings.TrimSuffix(sel, "/"), sel[:max(len(sel)-1, 1)],
				sel[:strings.LastIndexByte(sel, '/')+1], sel + ".txt", sel + "%3Fq"} {
				add(s)
			}
		}
	}

	near("/")
	for i, text := range patterns {
		near(text)
		a := readers.ParsePattern(text)
		for _, other := range patterns[:i] {
			b := readers.ParsePattern(other)
			lines, _ := a.Meeting(&b)
			for _, p := range lines {
				add(strings.Join(p.Pieces, ""))
				add(strings.Join(p.Pieces, "zq") + "/zq")
			}
		}
	}
	return list
}
