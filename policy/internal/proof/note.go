package proof

import (
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Note is an annotation.
type Note struct {
	Dir  string // the canonical selector of its directory: "/", "/~bob/phlog/"
	File string // how reports name it
	Data []byte // must not be changed
	Err  error  // it cannot be read: its directory is denied
}

// noteText is a parsed note. It never changes.
type noteText struct {
	Note
	sum    uint64 // of all of it
	groups []noteGroup
}

// noteGroup is the lines for some robots, in the order of the note.
type noteGroup struct {
	all     bool
	names   []string // lower case
	rules   []noteRule
	states  []noteRule
	speaks  bool // a rule stands in it, if one without a path
	prefers bool
}

// noteRule is a line. Its pattern stands below the directory, in URI form.
type noteRule struct {
	readers.Pattern
	allow, final bool
	states       robots.Statement
	line         int
}

// readNote reads a note. Its lines before the first User-agent are for everybody.
func readNote(n Note) *noteText {
	t := &noteText{Note: n, sum: hashOf(n.Dir, n.File, string(n.Data)), groups: []noteGroup{{all: true}}}
	var values []string
	for l := range linesOf(n.Data) {
		if l.Kind == readers.KindAgent {
			values = append(values, l.Value)
		}
	}
	open := false // the next User-agent line joins the group
	for l := range linesOf(n.Data) {
		now := &t.groups[len(t.groups)-1]
		final := strings.EqualFold(l.Field, "final")
		switch {
		case l.Kind == readers.KindAgent:
			if !open {
				t.groups, open = append(t.groups, noteGroup{}), true
				now = &t.groups[len(t.groups)-1]
			}
			now.addNames(l.Value, values)
		case l.Kind == readers.KindAllow || l.Kind == readers.KindDisallow || final && l.Value != "":
			open, now.speaks = false, true
			if r, ok := t.rule(l.Value); ok && l.Value != "" {
				r.line, r.allow = l.Number, l.Kind == readers.KindAllow
				r.final = final && (!strings.Contains(l.Value, "*") || strings.HasPrefix(l.Value, "*") || strings.HasPrefix(l.Value, "/*"))
				now.rules = append(now.rules, r)
			}
		case l.Kind == readers.KindUsage:
			open = false
			t.addStatement(now, l)
		}
	}
	return t
}

// addStatement adds a Content-Usage line: a path that ends at a blank, and a dictionary.
func (t *noteText) addStatement(now *noteGroup, l readers.Line) {
	path, value := "/", l.Value
	if strings.HasPrefix(value, "/") {
		end := strings.IndexAny(value+" ", " \t")
		path, value = value[:end], strings.TrimSpace(value[end:])
	}
	states, err := robots.ParseUsage(value)
	if err != nil {
		return
	}
	now.prefers = true
	if r, ok := t.rule(path); ok {
		r.line, r.states = l.Number, states
		now.states = append(now.states, r)
	}
}

// addNames adds the robots of a User-agent line. The first word of a name with a blank
// counts as the robot, unless another line names exactly that word.
func (g *noteGroup) addNames(value string, values []string) {
	for word := range strings.SplitSeq(value, ",") {
		word = strings.TrimSpace(word)
		name := strings.ToLower(readers.ProductToken(word))
		switch {
		case name == "*":
			g.all = true
		case name == "" || strings.HasPrefix(word[len(name):], " ") && isNamed(name, values):
		default:
			g.names = append(g.names, name)
		}
	}
}

func isNamed(name string, values []string) bool {
	for _, value := range values {
		for word := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(word), name) {
				return true
			}
		}
	}
	return false
}

// rule puts a value below the directory.
func (t *noteText) rule(value string) (r noteRule, ok bool) {
	r.Pattern, ok = patternBelow(t.Dir, localPath(value))
	return r, ok
}

// patternBelow puts a pattern below a directory, in URI form. ok is false if no request
// can match it: requests contain no line end, TAB or NUL.
func patternBelow(dir, value string) (p readers.Pattern, ok bool) {
	if !strings.HasPrefix(value, "/") {
		value = "/" + value
	}
	value, p.Whole = strings.CutSuffix(value, "$")
	p.Pieces = strings.Split(value, "*")
	for i, piece := range p.Pieces {
		plain := decode(piece)
		if strings.ContainsAny(plain, "\r\n\t\x00") {
			return p, false
		}
		p.Pieces[i] = readers.URI.Of(plain)
	}
	p.Pieces[0] = readers.URI.Of(dir[:len(dir)-1]) + p.Pieces[0]
	p.Size = sizeOf(p)
	return p, true
}

func sizeOf(p readers.Pattern) (n int) {
	if n = len(strings.Join(p.Pieces, "*")); p.Whole {
		n++
	}
	return n
}

// decode decodes percent escapes into bytes; a % that begins none stands.
func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, n := selector.DecodePercent(s[i:])
		if n == 0 {
			c, n = s[i], 1
		}
		b = append(b, c)
		i += n - 1
	}
	return string(b)
}

// localPath returns the path of a value that is a URL. In a gopher URL it omits an item
// type before the path.
func localPath(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return value
	}
	_, path, _ := strings.Cut(rest, "/")
	if (scheme == "gopher" || scheme == "gophers") && len(path) > 1 && path[1] == '/' {
		return path[1:]
	}
	return "/" + path
}
