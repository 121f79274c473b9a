package policy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/gophd/gophd/policy/internal/prooftest"
	"pgregory.net/rapid"
)

// TestSpelling: annotations that say the same in another spelling have the same hash,
// and the same file but for upper and lower case in names of robots.
func TestSpelling(t *testing.T) {
	for name, names := range map[string][]string{"plain": prooftest.Plain, "vile": prooftest.Vile} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				drawn, _ := prooftest.Draw(t, names)
				s := speller{t: t, cased: rapid.Bool().Draw(t, "cased")}
				other := s.tree(drawn)
				a, b := Compile(Input{Root: drawnTree(drawn, "/")}, nil), Compile(Input{Root: drawnTree(other, "/")}, nil)
				if a.Hash() != b.Hash() || !s.cased && (!bytes.Equal(a.File(), b.File()) || a.FileHash() != b.FileHash()) {
					t.Fatalf("as drawn:\n%sspelt again:\n%s", dump(drawn, a), dump(other, b))
				}
			})
		})
	}
}

// TestHash: what is said in a hand-written robots.txt has the hash of its meaning, too,
// and what means something else has another.
func TestHash(t *testing.T) {
	hand := compileOf(map[string]string{"robots.txt": "# by hand\r\nuser-agent: Foo\r\nDisallow: y\r\nDisallow: /x\r\n"}, "x")
	note := compileOf(map[string]string{".robots": "User-agent: foo\nDisallow: /x\nDisallow: /y\n"}, "x")
	if hand.Hash() != note.Hash() || hand.FileHash() == note.FileHash() {
		t.Errorf("by hand: %s and %s; compiled: %s and %s", hand.Hash(), hand.FileHash(), note.Hash(), note.FileHash())
	}
	seen := map[string]string{}
	for _, text := range []string{"", "Disallow: /x\n", "Disallow: /X\n", "Allow: /x\n", "Disallow: /x$\n", "User-agent: foo\nDisallow: /x\n", "User-agent: fob\nDisallow: /x\n",
		"Disallow: /%78\n", "Content-Usage: search=y\n", "Content-Usage: search=n\n", "Content-Usage: search=n;x\n", "Comment: a\n", "Comment: A\n", "Sitemap: gopher://a/\n"} {
		h := compileOf(map[string]string{".robots": text}, "x").Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", text, other)
		}
		seen[h] = text
	}
}

// speller writes annotations in other words that mean the same.
type speller struct {
	t     *rapid.T
	cased bool // names of robots, too
}

func (s *speller) yes() bool { return rapid.Bool().Draw(s.t, "yes") }

// one draws one of several strings.
func (s *speller) one(list ...string) string { return rapid.SampledFrom(list).Draw(s.t, "one") }

func (s *speller) tree(d *prooftest.Dir) *prooftest.Dir {
	other := *d
	other.Dirs = nil
	for _, sub := range d.Dirs {
		other.Dirs = append(other.Dirs, s.tree(sub))
	}
	if d.Text != "" {
		other.Text = s.text(d.Text)
	}
	return &other
}

// lines are those for some robots.
type linesOfRobots struct{ agents, lines []string }

// text writes groups in another order, in parts, with empty lines and comments.
func (s *speller) text(text string) string {
	groups := []linesOfRobots{{agents: []string{"User-agent: *"}}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		g := &groups[len(groups)-1]
		switch isAgent := strings.HasPrefix(line, "User-agent: "); {
		case isAgent && (len(g.lines) > 0 || len(groups) == 1):
			groups = append(groups, linesOfRobots{agents: []string{line}})
		case isAgent:
			g.agents = append(g.agents, line)
		default:
			g.lines = append(g.lines, line)
		}
	}
	if len(groups[0].lines) == 0 {
		groups = groups[1:]
	}
	var last linesOfRobots // a group without rules would join one that follows
	if n := len(groups) - 1; len(groups[n].lines) == 0 {
		last, groups = groups[n], groups[:n]
	}
	end := s.one("\n", "\r\n")
	out := s.one("", "\uFEFF")
	for _, g := range append(rapid.Permutation(s.parts(groups)).Draw(s.t, "groups"), last) {
		for _, line := range append(rapid.Permutation(g.agents).Draw(s.t, "agents"), rapid.Permutation(g.lines).Draw(s.t, "lines")...) {
			out += s.one("", "", end, "# Disallow: /"+end) + s.line(line) + s.one("", "", " ", "\t# x") + end
		}
	}
	return out
}

// parts splits groups, by their rules or by their robots, and says some rules twice.
func (s *speller) parts(groups []linesOfRobots) (list []linesOfRobots) {
	for _, g := range groups {
		if s.yes() {
			g.lines = append(g.lines, g.lines[0])
		}
		switch n := rapid.IntRange(0, 2).Draw(s.t, "part"); {
		case n == 1 && len(g.lines) > 1:
			list = append(list, linesOfRobots{g.agents, g.lines[:1]}, linesOfRobots{g.agents, g.lines[1:]})
		case n == 2 && len(g.agents) > 1:
			list = append(list, linesOfRobots{g.agents[:1], g.lines}, linesOfRobots{g.agents[1:], g.lines})
		default:
			list = append(list, g)
		}
	}
	return list
}

func (s *speller) line(line string) string {
	field, value, _ := strings.Cut(line, ": ")
	switch field {
	case "User-agent":
		if s.cased {
			value = s.one(value, strings.ToUpper(value), string(unicode.ToUpper(rune(value[0])))+value[1:])
		}
	case "Content-Usage":
		path, usage := "", value
		if strings.HasPrefix(value, "/") {
			path, usage, _ = strings.Cut(value, " ")
			path = s.escaped(path) + " "
		}
		if parts := strings.Split(usage, ", "); len(parts) == 2 && !strings.Contains(usage, "(((") {
			usage = s.one(usage, parts[1]+",  "+parts[0], parts[0]+","+parts[1])
		}
		value = path + usage
	case "Allow", "Disallow", "Final":
		if value != "" {
			value = s.pattern(field, value)
		}
	}
	return s.one(field, strings.ToLower(field), strings.ToUpper(field)) + s.one(": ", ":", ":\t", " : ") + value
}

// pattern writes a pattern with another beginning, and that of an Allow with escapes: in
// a Disallow they mean a second name.
func (s *speller) pattern(field, value string) string {
	if field == "Allow" {
		value = s.escaped(value)
	}
	rest, slashed := strings.CutPrefix(value, "/")
	if !slashed || rest == "" || strings.Trim(rest[:1], " /") == "" || strings.ContainsAny(rest, ":#") {
		return value
	}
	return s.one(value, rest, "gopher://h:70/0/"+rest, "https://h/"+rest)
}

// escaped writes some bytes as escapes, and escapes in small letters.
func (s *speller) escaped(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%' && i+2 < len(path) && strings.Trim(path[i+1:i+3], "0123456789ABCDEFabcdef") == "":
			b.WriteString(s.one(path[i:i+3], strings.ToLower(path[i:i+3])))
			i += 2
		case c != '/' && c != '*' && c != '$' && c != '%' && rapid.IntRange(0, 3).Draw(s.t, "escape") == 0:
			_, _ = fmt.Fprintf(&b, s.one("%%%02X", "%%%02x"), c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
