package policy

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

var (
	sites = flag.Uint64("sites", 60, "how many sites the laws are tried on")
	first = flag.Uint64("first", 0, "the number of the first of them")
)

// input is a drawn site for the compiler.
func input(s oracle.Site) Input {
	in := Input{Programs: s.Programs}
	for _, n := range s.Notes {
		in.Annotations = append(in.Annotations, Annotation(n))
	}
	return in
}

// asks returns the name by which a reader asks as a robot that annotations name, "*"
// being none of them. A robot that is a row of the table reads as that row does.
func asks(p *oracle.Policy, r readers.Reader, robot string) (agent string, ok bool) {
	isRow := func(r readers.Reader) bool { return r.Agent == robot }
	switch {
	case r.Agent != "" && robot == "*":
		return r.Agent, !slices.Contains(p.Robots(), r.Agent)
	case r.Agent != "":
		return robot, robot == r.Agent
	case robot == "*":
		return "zz", true
	}
	return robot, !slices.ContainsFunc(readers.All(), isRow)
}

// spellings are what a reader may ask for a canonical selector.
func spellings(r readers.Reader, sel string) []string {
	list := []string{sel, r.Asks(sel[1:])}
	if dir, ok := strings.CutSuffix(sel, "/"); ok && dir != "" {
		list = append(list, dir, r.Asks(dir[1:]))
	}
	if sel == "/" {
		list = list[:1]
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// broken returns how a compiled site breaks the first two laws.
func broken(s oracle.Site, c *Compiled) (list []string) {
	p := oracle.New(s.Notes, s.Programs, c.shut)
	for _, leak := range c.Unproven() {
		list = append(list, leak.String())
	}
	named := map[string]bool{}
	for _, r := range c.Reports() {
		if r.Code == CodeUnnamedLeak {
			list = append(list, r.String())
		}
		for _, reader := range r.Readers {
			named[fmt.Sprint(reader, r.File, r.Line)] = true
			named[reader] = named[reader] || r.Code == CodeIndex || r.Code == CodeName && isAllow(c, r) // it is wider than it is meant
		}
	}
	sels := p.Selectors()
	for _, reader := range c.readers {
		reading := reader.Read(c.File())
		for _, robot := range append(p.Robots(), "*") {
			agent, ok := asks(p, reader, robot)
			if !ok {
				continue
			}
			rules := p.For(robot)
			for _, sel := range sels {
				if decodes(reader) && escapes.MatchString(sel) {
					continue // it takes such names for others: the disk is asked for them
				}
				want := rules.Decide(sel)
				for _, spelling := range spellings(reader, sel) {
					got := reading.Allowed(agent, spelling)
					exact := reader.Name == "rfc9309" || reader.Name == "google" && !named[reader.Name]
					switch {
					case got == want.Allowed, got && c.Closed(sel, spelling), got && !exact && (named[reader.Name] || named[fmt.Sprint(reader.Name, want.File, want.Line)]):
					case got:
						list = append(list, fmt.Sprintf("leak: %s called %s into %q: %+v", reader.Name, agent, spelling, want))
					case exact && spelling == sel:
						list = append(list, fmt.Sprintf("over-block: %s called %s out of %q: %+v", reader.Name, agent, spelling, want))
					}
				}
			}
		}
	}
	return append(list, preferred(s, p, c.File())...)
}

// decodes reports whether a reader takes a selector for a URI that may hold escapes.
func decodes(r readers.Reader) bool {
	return slices.ContainsFunc(r.Forms, func(f readers.Form) bool { return f == readers.Normal || f == readers.Quoted || f == readers.Requoted })
}

func isAllow(c *Compiled, r Report) bool {
	i := slices.IndexFunc(c.notes, func(n *note) bool {
		return slices.ContainsFunc(n.from, func(a Annotation) bool { return a.File == r.File })
	})
	return i >= 0 && slices.ContainsFunc(c.Rules(c.notes[i].sel, r.File), func(rule AnnotationRule) bool { return rule.Line == r.Line && rule.Allow })
}

// preferred returns where a file states other preferences than the annotations: with
// wildcards it may state more that are n.
func preferred(s oracle.Site, p *oracle.Policy, data []byte) (list []string) {
	widened := regexp.MustCompile(`(?m)^Content-Usage: /\S*[*$]`).MatchString(s.String())
	file := robots.Parse(robots.RFC9309, data)
	for _, robot := range append(p.Robots(), "zz") {
		rules := p.For(robot)
		for _, sel := range p.Selectors() {
			want, got := p.Preferences(robot, sel), map[string]string{}
			if robot == "veronica" || !rules.Decide(sel).Allowed || !file.Allowed(robot, oracle.Escape(sel)) {
				continue
			}
			for _, said := range file.Usage(robot, oracle.Escape(sel)) {
				if said.Preference == robots.No || said.Preference == robots.Yes && (!widened || want[said.Key] != "n") {
					got[said.Key] = said.Preference.String()
				}
			}
			if widened {
				maps.DeleteFunc(got, func(key, value string) bool { return value == "n" && want[key] != "n" })
				maps.DeleteFunc(want, func(key, value string) bool { return value == "y" && got[key] == "" })
			}
			if !maps.Equal(want, got) {
				list = append(list, fmt.Sprintf("%s: preferences of %q: %v, want %v", robot, sel, got, want))
			}
		}
	}
	return list
}

var escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decode takes escapes for their bytes.
func decode(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		raw, _ := url.PathUnescape(e)
		return raw
	})
}

// invented returns a piece of a rule in the file that no author wrote.
func invented(s oracle.Site, file []byte) string {
	said := "/.robots " + strings.Join(s.Programs, "? ") + "?"
	for _, n := range s.Notes {
		said += n.Dir + " " + string(n.Data) + decode(string(n.Data))
	}
	for line := range strings.Lines(string(file)) {
		_, value, _ := strings.Cut(strings.TrimSpace(line), "llow: ")
		for _, piece := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("/*$", r) }) {
			if raw := strings.TrimSuffix(decode(piece), "?"); !strings.Contains(said, raw) && !strings.Contains(said, decode(raw)) && !strings.Contains(said, piece) {
				return piece
			}
		}
	}
	return ""
}

// TestLaws: what is compiled is exact, closed and silent.
func TestLaws(t *testing.T) {
	for _, c := range oracle.Cases {
		check(t, c.Name, c.Site, Compile(input(c.Site), nil))
	}
	for seed := *first; seed < *first+*sites; seed++ {
		s := oracle.Draw(rand.New(rand.NewPCG(seed, 5)))
		check(t, fmt.Sprint("seed ", seed), s, Compile(input(s), nil))
	}
}

func check(t *testing.T, name string, s oracle.Site, c *Compiled) {
	t.Helper()
	list := broken(s, c)
	if piece := invented(s, c.File()); piece != "" {
		list = append(list, fmt.Sprintf("no author wrote %q", piece))
	}
	if len(list) > 0 {
		t.Errorf("%s: %s\n%s== file\n%s== reports %v", name, list[0], s, c.File(), c.Reports())
	}
}

// TestEdits: what is compiled with what was before is what is compiled without, and
// that does not change.
func TestEdits(t *testing.T) {
	for seed := *first; seed < *first+*sites/4; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 6))
		s := oracle.Draw(rnd)
		c := Compile(input(s), nil)
		for range 4 {
			if more := oracle.Draw(rnd).Notes; len(s.Notes) > 0 && rnd.IntN(3) == 0 {
				s.Notes = slices.Delete(slices.Clone(s.Notes), 0, 1)
			} else {
				s.Notes = slices.Concat(s.Notes, more[:min(1, len(more))])
			}
			was := bytes.Clone(c.File())
			next, fresh := Compile(input(s), c), Compile(input(s), nil)
			if !bytes.Equal(next.File(), fresh.File()) || next.Hash() != fresh.Hash() || fmt.Sprint(next.Reports()) != fmt.Sprint(fresh.Reports()) || !bytes.Equal(was, c.File()) {
				t.Fatalf("seed %d:\n%s== file\n%s== fresh\n%s%v\n%v", seed, s, next.File(), fresh.File(), next.Reports(), fresh.Reports())
			}
			c = next
		}
	}
}

// TestTildes: what is proven of "/~bob/" is not carried over to "/%7Ebob/", nor the other
// way around.
func TestTildes(t *testing.T) {
	var prev *Compiled
	for _, root := range []string{"Disallow: /~bob/x\n", "Disallow: /%7Ebob/x\n", "Disallow: /%257Ebob/x\n"} {
		for _, dir := range []string{"~bob/", "%7Ebob/"} {
			for _, text := range []string{"Disallow: /a\n", "Allow: /x\n", "Allow: /xy\nDisallow: /*b$\n"} {
				in := inputOf(map[string]string{".robots": root, dir + ".robots": text})
				next, fresh := Compile(in, prev), Compile(in, nil)
				if !bytes.Equal(next.File(), fresh.File()) || fmt.Sprint(next.Reports(), next.Proof()) != fmt.Sprint(fresh.Reports(), fresh.Proof()) {
					t.Errorf("%q, %s %q:\n%s%v\n%s%v", root, dir, text, next.File(), next.Reports(), fresh.File(), fresh.Reports())
				}
				s := oracle.Of(map[string]string{"/": root, "/" + dir: text})
				check(t, dir, s, next)
				prev = next
			}
		}
	}
}
