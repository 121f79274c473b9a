package proof

import (
	"iter"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Note is an annotation.
type Note struct {
	Dir  string // the canonical selector of its directory: "/", "/~bob/phlog/"
	File string // how reports name it
	Data []byte // must not be changed
	Err  error  // it cannot be read: its directory is denied

	// Strict: no Allow of it counts. Such a line speaks for its robots, as an empty Disallow
	// does, and matches nothing.
	Strict bool

	// Everybody lists the robots, in any case, that its lines for everybody are for: those
	// before the first User-agent line and below "User-agent: *". Nil: everybody.
	Everybody []string
}

// source is the line of an annotation. Line 0 is the annotation as a whole.
type source struct {
	file, dir string
	line      int
}

// rule is an Allow, Disallow or Final. Its pattern is below its directory, in URI form.
type rule struct {
	readers.Pattern
	source
	allow bool
	final bool
	base  string           // the directory that the pattern continues
	of    *readers.Pattern // the program that it denies; nil for a rule of an annotation
}

// statement is a Content-Usage line.
type statement struct {
	source
	path   readers.Pattern // a prefix
	states map[string]readers.Preference
}

// group has the lines for some robots.
type group struct {
	number int // in the order of directories
	of     *annotation
	all    bool     // it is for everybody
	names  []string // in lower case
	rules  []*rule
	states []*statement
	speaks bool // it has an Allow, a Disallow or a Final, even one that matches nothing
}

// counts reports whether the group has a rule or a preference.
func (g *group) counts() bool { return g.speaks || len(g.states) > 0 }

// readNote reads an annotation. Lines before the first User-agent line are for
// everybody.
func readNote(n Note) []*group {
	groups := []*group{{}}
	groups[0].addNames("*", n.Everybody)
	open := false // the next User-agent line joins the group
	for l := range linesOf(n.Data) {
		now := groups[len(groups)-1]
		field, value := fieldOf(l)
		from := source{n.File, n.Dir, l.Number}

		switch field {
		case "user-agent":
			if !open {
				now, open = &group{}, true
				groups = append(groups, now)
			}
			now.addNames(strings.TrimFunc(value, isBlank), n.Everybody)

		case "allow", "disallow", "final":
			if field != "allow" {
				value = strings.TrimFunc(value, isBlank)
			}
			if field == "final" && value == "" {
				continue
			}
			open, now.speaks = false, true
			if r := ruleOf(field, value, from); r != nil && !(r.allow && n.Strict) {
				now.rules = append(now.rules, r)
			}

		case "content-usage":
			open = false
			if s := statementOf(value, from); s != nil && n.Everybody == nil {
				now.states = append(now.states, s)
			}
		}
	}
	return groups
}

// linesOf yields the lines of a text as RFC 9309 has them.
func linesOf(data []byte) iter.Seq[readers.Line] {
	text, _ := readers.DecodeUTF16(data)
	return readers.NewScanner(readers.RFC9309, true, string(text)).Lines()
}

// fieldNames are the fields that count in an annotation, and the spellings of them that
// are forgiven. No spelling of Allow is.
var fieldNames = [][]string{
	{"user-agent", "useragent", "user agent"},
	{"disallow", "disalow", "dissallow", "dissalow", "diasllow", "disallaw"},
	{"allow"},
	{"final"},
	{"content-usage"},
}

// fieldOf returns the field of a line, in its first spelling, and its value without
// ASCII blanks around it. The field is "" if the line has none that counts.
func fieldOf(l readers.Line) (field, value string) {
	text, _, _ := strings.Cut(l.Text, "\x00")
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimRightFunc(strings.TrimLeftFunc(text, isBlank), isASCIIBlank)

	name, value, colon := strings.Cut(text, ":")
	if !colon {
		// A field and one word, without the colon, count unless they open something.
		words := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' })
		if len(words) != 2 {
			return "", ""
		}
		name, value = words[0], words[1]
	}

	name = strings.TrimFunc(name, isBlank)
	for _, spellings := range fieldNames {
		field := spellings[0]
		for _, spelling := range spellings {
			if strings.EqualFold(name, spelling) &&
				(colon || field == "disallow" || field == "user-agent") {
				return field, strings.TrimFunc(value, isASCIIBlank)
			}
		}
	}
	return "", ""
}

func isASCIIBlank(c rune) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// isBlank reports whether some reader takes a character for a blank.
func isBlank(c rune) bool {
	return isASCIIBlank(c) || 0x2000 <= c && c <= 0x200a ||
		strings.ContainsRune("\x1f\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", c)
}

// addNames adds the robots of a User-agent line; a "*" names everybody, all robots if that
// is nil.
func (g *group) addNames(value string, everybody []string) {
	for word := range strings.SplitSeq(value, ",") {
		switch name := strings.ToLower(readers.ProductToken(word)); name {
		case "":
		case "*":
			g.all = everybody == nil
			for _, robot := range everybody {
				g.names = append(g.names, strings.ToLower(robot))
			}
		default:
			g.names = append(g.names, name)
		}
	}
}

// ruleOf returns a rule, or nil if no request can match it.
func ruleOf(field, value string, from source) *rule {
	if value == "" {
		return nil
	}
	value = pathOf(value)
	p, ok := patternBelow(from.dir, value)
	if !ok {
		return nil
	}

	// Final takes a path, or a star and a rest.
	rest, star := strings.CutPrefix(strings.TrimSuffix(value, "$"), "/*")
	final := field == "final" && (star && rest != "" || !strings.Contains(value, "*"))
	return &rule{
		Pattern: p,
		source:  from,
		allow:   field == "allow",
		final:   final,
		base:    from.dir,
	}
}

// pathOf returns the path of a value: of a URL what follows its host, and of a gopher
// URL what follows its item type. A path begins with a slash, and a run of stars is one.
func pathOf(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	scheme = strings.ToLower(scheme)
	if ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == "" {
		_, path, _ := strings.Cut(rest, "/")
		value = "/" + path
		if (scheme == "gopher" || scheme == "gophers") && len(path) > 1 && path[1] == '/' {
			value = path[1:]
		}
	}

	if !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	for strings.Contains(value, "**") {
		value = strings.ReplaceAll(value, "**", "*")
	}
	return value
}

// patternBelow puts a path below a directory, in URI form. ok is false if no request can
// match it.
func patternBelow(dir, path string) (p readers.Pattern, ok bool) {
	p = readers.ParsePattern(path)
	for i, piece := range p.Pieces {
		plain := selector.Decoded(piece)
		if strings.ContainsAny(plain, "\r\n\t\x00") {
			return p, false
		}
		p.Pieces[i] = readers.URI.Of(plain)
	}

	p.Pieces[0] = readers.URI.Of(dir[:len(dir)-1]) + p.Pieces[0]
	p.Size = len(strings.Join(p.Pieces, "*"))
	if strings.HasSuffix(path, "$") {
		p.Size++
	}
	return p, true
}

// statementOf returns the preferences that a Content-Usage line states, or nil if it
// states none. If the line has a fault, only what it forbids counts.
func statementOf(value string, from source) *statement {
	clean := strings.TrimFunc(value, isBlank)
	faulty := clean != value

	path := "/"
	if strings.HasPrefix(clean, "/") {
		end := strings.IndexAny(clean+" ", " \t")
		path, clean = clean[:end], clean[end:]
	}
	if at := strings.IndexAny(path, "*$"); at >= 0 {
		path, faulty = path[:at], true
	}

	p, ok := patternBelow(from.dir, path)
	list, err := readers.ParseUsage(strings.TrimFunc(clean, isASCIIBlank))
	if !ok || err != nil {
		return nil
	}
	states := map[string]readers.Preference{}
	for _, s := range list {
		if s.Preference == readers.No || s.Preference == readers.Yes && !faulty {
			states[s.Key] = s.Preference
		}
	}
	return &statement{source: from, path: p, states: states}
}
