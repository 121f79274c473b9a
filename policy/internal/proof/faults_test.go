package proof

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

var (
	drawn = flag.Uint64("sites", 20, "how many random sites are tried")
	first = flag.Uint64("first", 0, "the number of the first of them")
)

// right writes a file for a site as generator.md wants it.
func right(s sites.Site) string { return rightFor(inputOf(s, nil)) }

func rightFor(in Input) string {
	policies := Read(in)
	c := policies.c
	names := policies.Robots()
	for _, name := range virtual {
		if slices.ContainsFunc(virtual, func(v string) bool {
			return c.named[v] != nil
		}) && c.named[name] == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})

	var b strings.Builder
	group := func(name string, p *policy, weak bool) {
		lines := map[string]bool{} // whether it is an Allow
		allows := slices.ContainsFunc(p.rules, func(r counted) bool { return r.allow }) && !weak
		for _, r := range p.rules {
			texts := writable(r.rule, weak && !r.allow)
			if r.allow {
				texts = slices.DeleteFunc(texts[:1:1], func(string) bool { return weak })
				if raw := writable(r.rule, false); len(raw) > 1 &&
					!strings.Contains(raw[len(raw)-1], " ") {
					texts = append(texts, raw[len(raw)-1])
				}
				if texts = slices.DeleteFunc(texts, func(string) bool {
					return weak
				}); strings.HasSuffix(r.String(), "*") {
					texts = texts[:min(1, len(texts))]
				}
			}
			if r.Size == shutSize {
				for _, a := range p.rules {
					if a.allow && a.Meets(&r.Pattern) {
						lines, _ := a.Meeting(&r.Pattern)
						for _, m := range lines {
							texts = append(texts, m.String())
						}
						texts = append(texts, r.String()+
							strings.Repeat("*", max(1, a.Size-len(r.String())+1)))
					}
				}
			}
			if r.of != nil && strings.HasSuffix(r.String(), "%3F") {
				texts = append(texts, strings.TrimSuffix(r.String(), "%3F")+"?")
			}
			for _, text := range texts {
				if r.allow {
					lines["Allow: "+text] = true
				} else {
					lines["Disallow: "+text] = true
				}
			}
		}
		if len(lines) == 0 {
			lines["Disallow: /.robots"] = true
		}
		pattern := func(line string) string { return line[strings.Index(line, " ")+1:] }
		list := slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
			x, y := pattern(a), pattern(b)
			switch {
			case x != y && strings.HasPrefix(x, y):
				return -1
			case x != y && strings.HasPrefix(y, x):
				return 1
			}
			return cmp.Or(strings.Compare(x, y), strings.Compare(b, a))
		})
		if lines["Disallow: /"] && !allows {
			list = append(list, "Disallow: *")
		}
		fmt.Fprintf(&b, "User-agent: %s\n%s\n", name, strings.Join(list, "\n"))

		paths := map[string]bool{}
		for _, s := range p.states {
			paths[s.path.String()] = true
		}
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			var said []string
			for key, by := range p.prefers(path) {
				said = append(said, key+"="+by.states[key].String())
			}
			slices.Sort(said)
			if len(said) > 0 && !weak {
				fmt.Fprintf(&b, "Content-Usage: %s %s\n", path, strings.Join(said, ", "))
			}
		}
		b.WriteString("\n")
	}

	group("*", c.policyOf("*"), false)
	for _, name := range names {
		group(name, c.policyOf(name), name == veronica)
	}
	if c.named[veronica] != nil {
		group(nobody, c.policyOf("*"), true)
	} else {
		group(veronica, c.policyOf("*"), true)
	}
	return b.String()
}

// holder names the rule that is not kept.
type holder struct {
	reader, robot string
	file          string
	line          int
}

// decodes reports whether a reader takes a selector for a URI that may hold escapes.
func decodes(r readers.Reader) bool {
	return slices.ContainsFunc(r.Forms, func(f readers.Form) bool {
		return f == readers.Normal || f == readers.Quoted || f == readers.Requoted ||
			f == readers.Decoded
	})
}

var escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// leaks asks each reader, as each robot, for names that patterns are about, and returns
// the rules that deny what it may fetch, each with a name.
func leaks(in Input) map[holder]string {
	found := map[holder]string{}
	policies := Read(in)
	file := readers.Open(in.File)
	patterns := policies.Patterns()
	for l := range linesOf(in.File) {
		if l.Kind == readers.KindAllow && strings.HasPrefix(l.Value, "/") {
			p, ok := patternBelow("/", l.Value)
			if ok {
				patterns = append(patterns, p.String())
			}
		}
	}
	names := sites.Selectors(patterns)
	for _, r := range readers.All() {
		for _, robot := range append(policies.Robots(), "*") {
			agent := robot
			switch {
			case r.Agent != "" && robot == "*" && slices.Contains(policies.Robots(), r.Agent):
				continue
			case r.Agent != "" && robot != "*" && r.Agent != robot:
				continue
			case r.Agent == "" && slices.ContainsFunc(readers.All(), func(o readers.Reader) bool {
				return o.Agent == robot && o.Agent != ""
			}):
				continue
			case !r.Groups && robot != "*":
				continue
			case robot == "*":
				agent = "zz"
			}
			p := policies.For(robot)
			m := r.Matcher(r.Rules(file, agent))
			for _, sel := range names {
				if decodes(r) && escapes.MatchString(sel) {
					continue
				}
				if v := p.Decide(sel); !v.Allowed && m.Allowed(sel) {
					found[holder{r.Name, robot, v.File, v.Line}] = sel
				}
			}
		}
	}
	return found
}

// leakPreferences returns where a file permits more than the annotations.
func leaksPreferences(in Input) (list []string) {
	policies := Read(in)
	var text []byte
	for l := range robots.Parse(robots.RFC9309, in.File).Lines() {
		if l.Kind == readers.KindAllow || l.Kind == readers.KindDisallow {
			l.Text = "Disallow:\n"
		}
		text = append(text, l.Text...)
	}
	file := robots.Parse(robots.RFC9309, text)
	for _, robot := range append(policies.Robots(), "zz") {
		if robot == veronica || robot == "gopher-mcp" {
			continue
		}
		p := policies.For(robot)
		for _, sel := range sites.Selectors(policies.Patterns()) {
			want, got := p.Prefers(sel), file.Usage(robot, readers.URI.Of(sel))
			for key, value := range want {
				if value == "n" && got.Of(key) != readers.No {
					list = append(list, fmt.Sprintf("%s: %s %s", robot, sel, key))
				}
			}
			for _, s := range got {
				if s.Preference == readers.Yes && want[s.Key] != "y" {
					list = append(list, fmt.Sprintf("%s: %s %s", robot, sel, s.Key))
				}
			}
		}
	}
	return list
}

// TestRight checks files that keep the policy: readers of RFC 9309 take them for exactly
// that, and something explains each leak of another.
func TestRight(t *testing.T) {
	list := map[string]sites.Site{}
	for _, c := range sites.Cases {
		list[c.Name] = c.Site
	}
	for seed := *first; seed < *first+*drawn; seed++ {
		list[fmt.Sprint("seed ", seed)] = sites.Draw(rand.New(rand.NewPCG(seed, 22)))
	}
	bad := 0
	for name, s := range list {
		in := inputOf(s, []byte(right(s)))
		for _, f := range Check(in).Findings {
			switch {
			case bad > 8:
			case f.Robot != "*" && strings.Contains(f.Robot, "+") && f.Code == OtherLines:
			case f.Code == "" && f.Leak, f.Reader == "rfc9309", f.Reader == "google" &&
				f.Code != Index, f.Reader == Preferences:
				bad++
				t.Errorf("%s: %+v\n%s\n%s", name, f, s, in.File)
			}
		}
	}
}

// TestFaults spoils files as faults of a compiler would. The proof finds each leak that
// asking for names finds.
func TestFaults(t *testing.T) {
	found := map[string]int{}
	bad := 0
	for seed := *first; seed < *first+*drawn; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 22))
		s := sites.Draw(rnd)
		none := sites.Fault{Name: "none",
			Spoil: func(*rand.Rand, sites.Site, func(sites.Site) string) string {
				return right(s)
			}}
		for _, fault := range append(sites.Faults, none) {
			in := inputOf(s, []byte(fault.Spoil(rnd, s, right)))
			got := map[holder]bool{}
			for _, f := range Check(in).Findings {
				if f.Leak {
					got[holder{f.Reader, "", f.File, f.Line}] = true
				}
			}
			for leak, sel := range leaks(in) {
				found[fault.Name]++
				leak.robot = ""
				if !got[leak] {
					if bad++; bad < 4 {
						t.Errorf("seed %d, %s: %+v: %q\n%s\n%s", seed, fault.Name, leak,
							sel, s, in.File)
					}
				}
			}
			if list := leaksPreferences(in); len(list) > 0 && !got[holder{Preferences, "", "", 0}] {
				has := false
				for h := range got {
					has = has || h.reader == Preferences
				}
				if !has {
					t.Errorf("seed %d, %s: %v\n%s\n%s", seed, fault.Name, list, s, in.File)
				}
			}
		}
	}
	t.Log(bad, found)
}
