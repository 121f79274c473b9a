package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Note is an annotation as it lies on the disk.
type Note struct {
	File string // as reports name it: "phlog/.robots"
	Data []byte // must not be changed
	Err  error  // it cannot be read: its directory is denied
}

// What one annotation may say; of what says more the directory is denied.
const (
	maxBytes = 500 << 10
	maxRules = 1000
	maxNames = 256
)

// shutSize is the size of a rule that nothing outweighs.
const shutSize = 1 << 30

// annotation is what the notes of one directory say.
type annotation struct {
	dir    string // its selector
	notes  []Note
	rules  []rule
	groups []*group // those that name robots
}

// rule is a line of an annotation.
type rule struct {
	note   *annotation
	file   string
	line   int
	group  *group
	allow  bool
	final  bool             // Final: no pattern of its own matters
	states robots.Statement // not a rule but a preference
	depth  int              // bytes of the directory's selector

	readers.Pattern // in URI form, put below the directory

	program bool // what a program answers is denied
}

// group is the robots that lines are for.
type group struct {
	all     bool
	names   []string // lower case, sorted
	speaks  bool     // there are rules: one with no path counts
	prefers bool     // there are preferences
	said    uint64   // a hash of both, whatever the lines are
}

func (g *group) has(name string) bool {
	_, ok := slices.BinarySearch(g.names, name)
	return ok
}

// own reports whether there are rules, and preferences, for a robot by name.
func (a *annotation) own(name string) (rules, preferences bool) {
	for _, g := range a.groups {
		if g.has(name) {
			rules, preferences = rules || g.speaks, preferences || g.prefers
		}
	}
	return rules, preferences
}

// readNotes reads the notes of a directory.
func readNotes(dir string, notes []Note) *annotation {
	a := &annotation{dir: dir, notes: notes}
	names := map[string]bool{}
	for _, n := range notes {
		if n.Err != nil || len(n.Data) > maxBytes || !a.read(n, names) {
			a.rules, a.groups = []rule{shutRule(a, n.File)}, nil
			break
		}
	}
	return a
}

// shutRule denies a directory to everybody, whatever else is said.
func shutRule(a *annotation, file string) rule {
	return rule{note: a, file: file, group: &group{all: true}, depth: len(a.dir),
		Pattern: readers.Pattern{Pieces: []string{string(readers.URI.Append(nil, a.dir))}, Size: shutSize}}
}

// programNote denies what programs answer: each selector, what lies below it, and
// what follows a question mark.
func programNote(programs []string) *annotation {
	a := &annotation{dir: "/"}
	for _, p := range programs {
		for _, end := range []string{"$", "/", "?"} {
			a.rules = append(a.rules, rule{note: a, group: &group{all: true}, program: true, depth: len(a.dir), Pattern: pattern("", p+end, false)})
		}
	}
	return a
}

// names reports whether a rule of the root speaks by name of what a program answers:
// its pattern begins with the program's selector, or has the program's extension at
// the end of a name.
func (r *rule) names(programs []string) bool {
	if r.note.dir != "/" || r.program {
		return false
	}
	elements := strings.ReplaceAll(strings.ReplaceAll(strings.Join(r.Pieces, "*"), "%3F", "/"), "*", "/") + "/"
	return slices.ContainsFunc(programs, func(p string) bool {
		form := string(readers.URI.Append(nil, strings.TrimPrefix(p, "/*"))) + "/"
		return strings.HasPrefix(elements, form) || strings.HasPrefix(p, "/*") && strings.Contains(elements, form)
	})
}

// read reads one note. It reports whether that is within the bounds; names are those of
// robots in the directory.
func (a *annotation) read(n Note, names map[string]bool) bool {
	now := &group{all: true}
	open := false // the next User-agent line joins this group
	rules := 0
	for l := range robots.Parse(robots.RFC9309, n.Data).Lines() {
		if rules > maxRules || len(names) > maxNames {
			return false
		}
		r := rule{file: n.File, line: l.Number, group: now}
		kind := l.Kind.String()
		if strings.EqualFold(l.Field, "final") {
			kind = "final"
		}
		switch kind {
		case "user-agent":
			if !open {
				now, open = &group{}, true
				a.groups = append(a.groups, now)
			}
			all, list := robotNames(l.Value)
			for _, name := range list {
				names[name] = true
			}
			now.all = now.all || all
			now.names = append(now.names, list...)
			slices.Sort(now.names)
			now.names = slices.Compact(now.names)
		case "allow", "disallow", "final":
			open = false
			if kind == "final" && l.Value == "" {
				continue // it means nothing
			}
			now.speaks = true
			now.said += hashOf(a.dir)
			if l.Value != "" {
				rules++
				r.allow, r.final = kind == "allow", kind == "final"
				a.add(r, l.Value)
			}
		case "content-usage":
			open = false
			path, usage := "", l.Value
			if strings.HasPrefix(usage, "/") {
				end := strings.IndexAny(usage+" ", " \t")
				path, usage = usage[:end], strings.TrimSpace(usage[end:])
			}
			var err error
			if r.states, err = robots.ParseUsage(usage); err == nil {
				rules++
				now.prefers = true
				a.add(r, path)
			}
		}
	}
	return rules <= maxRules && len(names) <= maxNames
}

// add adds a rule in every meaning of its pattern: an escape in a Disallow means
// the byte and the three that are written.
func (a *annotation) add(r rule, value string) {
	r.note, r.depth = a, len(a.dir)
	value = localPath(value)
	if value == "" || value[0] != '/' {
		value = "/" + value
	}
	base := string(readers.URI.Append(nil, a.dir[:len(a.dir)-1]))
	for _, decode := range []bool{true, false} {
		if decode || !r.allow && r.states == nil && strings.Contains(value, "%") {
			r.Pattern = pattern(base, value, decode)
			a.rules = append(a.rules, r)
			if len(r.group.names) > 0 {
				r.group.said += hashOf(fmt.Sprintf("%q %v %v %v %v", r.Pieces, r.Whole, r.states, r.allow, r.final))
			}
		}
	}
}

// pattern puts a pattern below a directory, in URI form.
func pattern(base, value string, decode bool) (p readers.Pattern) {
	if value, p.Whole = strings.CutSuffix(value, "$"); !decode {
		value = strings.ReplaceAll(value, "%", "%25")
	}
	p.Pieces = strings.Split(value, "*")
	for i, piece := range p.Pieces {
		p.Pieces[i] = uriForm(piece)
	}
	p.Pieces[0] = base + p.Pieces[0]
	if p.Size = len(strings.Join(p.Pieces, "*")); p.Whole {
		p.Size++
	}
	return p
}

// uriForm escapes a piece of a pattern that may hold escapes. An escaped slash is
// no slash: no name has one.
func uriForm(p string) string {
	var b []byte
	for p != "" {
		c, n := selector.DecodePercent(p)
		switch {
		case n == 0:
			b, p = readers.URI.Append(b, p[:1]), p[1:]
		case c == '/':
			b, p = append(b, "%2F"...), p[n:]
		default:
			b, p = readers.URI.Append(b, string([]byte{c})), p[n:]
		}
	}
	return string(b)
}

// localPath is the path of a pattern that is a whole URL: of a gopher URL without the
// item type.
func localPath(value string) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789+-."
	scheme, rest, ok := strings.Cut(value, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme == "" || strings.Trim(scheme, letters) != "" {
		return value
	}
	_, path, _ := strings.Cut(rest, "/")
	if path != "" && (scheme == "gopher" || scheme == "gophers") {
		return path[1:]
	}
	return "/" + path
}

// robotNames returns the robots of a User-agent line. What is no product token names
// nobody.
func robotNames(value string) (all bool, names []string) {
	if strings.TrimRight(value, " \t\u00a0") == "*" {
		return true, nil
	}
	for word := range strings.SplitSeq(value, ",") {
		name, _, _ := strings.Cut(word, "/")
		if name = strings.TrimSpace(name); isToken(name) {
			names = append(names, strings.ToLower(name))
		}
	}
	return false, names
}

func isToken(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= 64 && strings.Trim(s, letters) == ""
}
