package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"pgregory.net/rapid"
)

// This is the policy a second time, as generator.md says it, by regular
// expressions over what the test has drawn: no annotation is parsed here.

type saidRule struct {
	field   string // Allow, Disallow, Final
	pattern string // escapes only as %XX in upper case
	line    int
}

type saidGroup struct {
	agents []string
	rules  []saidRule
}

type saidDir struct {
	sel    string // "/a/"
	file   string
	groups []saidGroup
}

// text writes the annotation, and numbers its lines.
func (d *saidDir) text() string {
	var b strings.Builder
	n := 0
	write := func(format string, args ...any) int {
		_, _ = fmt.Fprintf(&b, format+"\n", args...)
		n++
		return n
	}
	for _, g := range d.groups {
		for _, a := range g.agents {
			write("User-agent: %s", a)
		}
		for i := range g.rules {
			g.rules[i].line = write("%s: %s", g.rules[i].field, g.rules[i].pattern)
		}
	}
	return b.String()
}

// rulesFor returns the rules for a robot: its own, or those for all.
func (d *saidDir) rulesFor(agent string) (rules []saidRule, own bool) {
	for _, want := range []string{agent, "*"} {
		found := false
		for _, g := range d.groups {
			if slices.Contains(g.agents, want) && len(g.rules) > 0 {
				rules, found = append(rules, g.rules...), true
			}
		}
		if found {
			return rules, want != "*"
		}
	}
	return nil, false
}

// placed is a pattern below its directory, by what a URI would have.
type placed struct {
	saidRule
	file  string
	level int
	own   bool
	re    *regexp.Regexp
	size  int
	head  string
	whole bool
}

func uriOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~/!&'()+,;=:@-", c) >= 0 {
			b.WriteByte(c)
		} else {
			_, _ = fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

var escapes = regexp.MustCompile(`%[0-9A-F]{2}`)

func place9309(dir string, r saidRule, decode bool) (placed, bool) {
	p := r.pattern
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	p, whole := strings.CutSuffix(p, "$")
	pieces := strings.Split(p, "*")
	sayable := true
	for i := range pieces {
		if decode {
			pieces[i] = escapes.ReplaceAllStringFunc(pieces[i], func(e string) string {
				var c byte
				_, _ = fmt.Sscanf(e, "%%%02X", &c)
				sayable = sayable && c != '/' && c >= ' '
				return string([]byte{c})
			})
		}
		pieces[i] = uriOf(pieces[i])
	}
	dir = uriOf(strings.TrimSuffix(dir, "/"))
	out := placed{saidRule: r, whole: whole, head: dir + pieces[0]}
	expr := "(?s)^" + regexp.QuoteMeta(dir)
	for i, piece := range pieces {
		if i > 0 {
			expr += ".*"
		}
		expr += regexp.QuoteMeta(piece)
	}
	out.size = len(dir) + len(strings.Join(pieces, "*"))
	if whole {
		expr += "$"
		out.size++
	}
	out.re = regexp.MustCompile(expr)
	return out, sayable
}

type saidPolicy struct {
	agent  string
	levels [][]placed
	dirs   []*saidDir
}

// policyFor puts the rules for a robot below their directories.
func policyFor(dirs []*saidDir, agent string) saidPolicy {
	s := saidPolicy{agent: agent, dirs: dirs}
	for i, d := range dirs {
		rules, own := d.rulesFor(agent)
		var list []placed
		for _, r := range rules {
			if r.pattern == "" {
				continue
			}
			for _, decode := range []bool{true, false} {
				if !decode && (r.field != "Disallow" || !escapes.MatchString(r.pattern)) {
					continue
				}
				if p, ok := place9309(d.sel, r, decode); ok {
					p.file, p.level, p.own = d.file, i, own && agent != "*"
					list = append(list, p)
				}
			}
		}
		s.levels = append(s.levels, list)
	}
	return s
}

// any reports whether a Disallow that matches a selector is one of those asked for.
func (s saidPolicy) any(sel string, is func(placed) bool) bool {
	uri := uriOf(sel)
	for i, d := range s.dirs {
		if strings.HasPrefix(sel, d.sel) && slices.ContainsFunc(s.levels[i], func(p placed) bool { return p.field == "Disallow" && p.re.MatchString(uri) && is(p) }) {
			return true
		}
	}
	return false
}

func longest(list []placed, match func(placed) bool) *placed {
	var best *placed
	for i := range list {
		p := &list[i]
		if p.field != "Final" && match(*p) && (best == nil || p.size > best.size || p.size == best.size && p.field == "Allow") {
			best = p
		}
	}
	return best
}

// inEscape reports whether a rule matches a selector only because a star of it ends
// inside of an escape, as that of "/*9" in "/%C3%A9": who does not escape is right to
// let it pass.
func (p placed) inEscape(sel string) bool {
	letters := func(s string) string {
		return escapes.ReplaceAllStringFunc(s, func(e string) string {
			var c byte
			_, _ = fmt.Sscanf(e, "%%%02X", &c)
			return string(0x100 + rune(c))
		})
	}
	return !regexp.MustCompile(letters(p.re.String())).MatchString(letters(uriOf(sel)))
}

// decide returns the rule that decides for a canonical selector.
func (s saidPolicy) decide(sel string) *placed {
	uri := uriOf(sel)
	var all, named []placed
	final := false
	for i, d := range s.dirs {
		if !strings.HasPrefix(sel, d.sel) {
			continue
		}
		var list []placed // what is not overruled by name
		for _, p := range s.levels[i] {
			by := longest(named, func(n placed) bool { return !n.whole && n.re.MatchString(p.head) })
			if p.field == "Allow" && !p.own && by != nil && by.field == "Disallow" {
				continue
			}
			if list = append(list, p); p.field == "Disallow" || p.field == "Allow" && !final {
				all = append(all, p)
			}
		}
		for _, p := range list {
			if p.own {
				named = append(named, p)
			}
			if by := longest(list, func(p placed) bool { return p.re.MatchString(uri) }); p.field == "Final" && p.re.MatchString(uri) && by != nil && by.field == "Disallow" {
				final = true
			}
		}
	}
	return longest(all, func(p placed) bool { return p.re.MatchString(uri) })
}

var vile = []string{
	"a", "ab", "abc", "b", "a.txt", "a.txt.gz", "x", "x.zip", "y.zip", "zip", "drafts", "pub",
	"a#", "#a", "a#b", "a*", "*a", "a*b", "a$", "$", "a$b", "a$$", "a b", "a  b", "b c",
	"%41", "%", "a%", "100%x", "a%20b", "A", "a%2Ab", "%2F", "x%41.txt", "xA", "é", "éa", "日本", "a?b", "a?b=[c]", "[x]", "a:b", "a\"<>b",
}

var plainNames = []string{"a", "ab", "b", "x.zip", "y.txt", "pub", "tmp", "drafts", "~bob"}

var robotsNames = []string{"*", "foo", "foobot", "GPTBot"}

type drawn struct {
	root *Dir
	dirs []*saidDir // in the order of their selectors
	sels []string   // canonical ones, of what exists and what does not
}

func drawSite(t *rapid.T, names []string) drawn {
	few := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 3, 6, rapid.ID[string]).Draw(t, "few")
	var d drawn
	d.root = d.draw(t, few, "", "/", 0)
	return d
}

func (d *drawn) draw(t *rapid.T, few []string, name, sel string, depth int) *Dir {
	dir := &Dir{Name: name}
	d.sels = append(d.sels, sel)
	if rapid.IntRange(0, 2).Draw(t, "noted") > 0 {
		s := &saidDir{sel: sel, file: sel[1:] + ".robots", groups: drawGroups(t, few)}
		d.dirs = append(d.dirs, s)
		dir.Notes = []*Annotation{{File: s.file, Data: []byte(s.text())}}
	}
	for _, n := range slices.Sorted(slices.Values(few)) {
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind == 0 && depth < 2:
			dir.Dirs = append(dir.Dirs, d.draw(t, few, n, sel+n+"/", depth+1))
			d.sels = append(d.sels, sel+n) // the same name as a file
		case kind == 1:
			dir.Files = append(dir.Files, n)
			fallthrough
		default:
			d.sels = append(d.sels, sel+n, sel+n+"/", sel+n+"q", sel+n+"/"+few[0])
		}
	}
	return dir
}

func drawGroups(t *rapid.T, few []string) []saidGroup {
	var groups []saidGroup
	piece := rapid.SampledFrom(append(slices.Clone(few), "/", "/", "*", "/*/", "$", "a", ".zip", "*.zip$", "%41", "%2A", "/a"))
	for range rapid.IntRange(1, 3).Draw(t, "groups") {
		g := saidGroup{agents: rapid.SliceOfNDistinct(rapid.SampledFrom(robotsNames), 1, 2, rapid.ID[string]).Draw(t, "agents")}
		for range rapid.IntRange(1, 3).Draw(t, "rules") {
			r := saidRule{field: rapid.SampledFrom([]string{"Disallow", "Disallow", "Allow", "Disallow", "Allow", "Final"}).Draw(t, "field")}
			for range rapid.IntRange(0, 3).Draw(t, "pieces") {
				r.pattern += piece.Draw(t, "piece")
			}
			r.pattern = strings.Trim(strings.NewReplacer("#", "%23", "//", "/").Replace(r.pattern), " ")
			if r.field == "Final" && r.pattern == "" {
				r.pattern = "/"
			}
			g.rules = append(g.rules, r)
		}
		groups = append(groups, g)
	}
	return groups
}

// spellings are the selectors that are answered with a resource.
func spellingsOf(sel string) []string {
	list := []string{sel, sel[1:]}
	if sel != "/" && strings.HasSuffix(sel, "/") {
		list = append(list, sel[:len(sel)-1], sel[1:len(sel)-1])
	}
	return list
}

// hasGlobFinal reports whether some Final may meet a pattern with a wildcard:
// then the file may deny more than the policy.
func (d drawn) hasGlobFinal() bool {
	for _, s := range d.dirs {
		for _, g := range s.groups {
			for _, r := range g.rules {
				if r.field == "Final" {
					return true
				}
			}
		}
	}
	return false
}

func (d drawn) names(agent string) bool {
	for _, s := range d.dirs {
		for _, g := range s.groups {
			if slices.Contains(g.agents, agent) {
				return true
			}
		}
	}
	return false
}

// wholeFile stands for all lines of an annotation.
const wholeFile = -1

// laws checks a file against what was drawn.
func (d drawn) laws(t *rapid.T, c *Compiled) {
	named := map[place]bool{} // by reader and line; robots that are treated alike share a report
	for _, r := range c.Reports() {
		for _, reader := range r.Readers {
			if slices.Contains([]string{CodeGlob, CodeAnchor, CodeName, CodeRootMenu}, r.Code) {
				named[place{reader + " " + r.File, r.Line}] = true
				if d.hasGlobFinal() { // what it makes of lines that are equally long is told of one of them
					named[place{reader + " " + r.File, wholeFile}] = true
				}
				for _, robot := range alike(c) {
					named[place{reader + " " + r.File + robot, 0}] = true
				}
				if r.Code == CodeRootMenu { // it denies whatever has no slash in front
					_, robots, isNamed := strings.Cut(strings.TrimSuffix(r.Message, ")"), "(for ")
					for robot := range strings.SplitSeq(robots, ", ") {
						named[place{reader + " bare for " + strings.ToLower(robot), 0}] = true
					}
					if !isNamed { // told of all robots at once
						named[place{reader + " bare by " + r.File, r.Line}] = true
					}
				}
			}
		}
	}
	mayOverBlock := d.hasGlobFinal()
	rfc := robots.Parse(robots.RFC9309, c.File())
	for _, agent := range []string{"zz", "foo", "foobot", "gptbot", "veronica"} {
		name := agent
		if agent == "gptbot" {
			name = "GPTBot"
		}
		s := policyFor(d.dirs, name)
		weak := map[string]func(string) bool{}
		for _, r := range readers.All() {
			if r.Name == "gopher-strict" || r.Name == "veronica2" && agent == "veronica" || r.Name == "1994" && (agent == "zz" || d.names(name)) {
				weak[r.Name] = r.Read(c.File()).Agent(agent).Allowed
			}
		}
		for _, sel := range d.sels {
			by := s.decide(sel)
			denied := by != nil && by.field == "Disallow"
			for _, spelling := range spellingsOf(sel) {
				if spelling == "robots.txt" || spelling == "/robots.txt" {
					continue
				}
				if denied && spelling != sel && c.closes(sel, spelling) {
					continue
				}
				if agent != "veronica" {
					switch got := rfc.Allowed(agent, uriOf(spelling)); {
					case got && denied:
						t.Fatalf("leak: %s into %q (%q), which %s:%d denies\n%s", agent, spelling, sel, by.file, by.line, d.dump(c))
					case !got && !denied && spelling == sel && !mayOverBlock:
						t.Fatalf("over-block: %s out of %q; %+v\n%s", agent, sel, by, d.dump(c))
					}
				}
				for reader, allows := range weak {
					if !strings.HasPrefix(spelling, "/") && (named[place{reader + " bare for " + agent, 0}] || s.any(sel, func(by placed) bool { return named[place{reader + " bare by " + by.file, by.line}] })) {
						continue
					}
					if denied && allows(spelling) && !by.inEscape(sel) && !named[place{reader + " " + by.file, wholeFile}] && !named[place{reader + " " + by.file, by.line}] && !named[place{reader + " " + by.file + agent, 0}] {
						t.Fatalf("unnamed: %s called %s into %q, which %s:%d denies\n%s", reader, agent, spelling, by.file, by.line, d.dump(c))
					}
				}
			}
		}
	}
}

func (d drawn) dump(c *Compiled) string {
	var b strings.Builder
	for _, s := range d.dirs {
		_, _ = fmt.Fprintf(&b, "== %s\n%s", s.file, s.text())
	}
	_, _ = fmt.Fprintf(&b, "== robots.txt\n%s== reports\n", c.File())
	for _, r := range c.Reports() {
		_, _ = fmt.Fprintln(&b, r.Diagnostic, r.Readers)
	}
	return b.String()
}

func TestLawsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawSite(t, plainNames)
		d.laws(t, Compile(Input{Root: d.root}, nil))
	})
}

func TestLawsVile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawSite(t, vile)
		d.laws(t, Compile(Input{Root: d.root}, nil))
	})
}
