package proof

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

// inputOf is a site with a file.
func inputOf(s sites.Site, file []byte) Input {
	homes, rest := s.Homes()
	in := Input{Programs: s.Programs, File: file, Notes: notesOf(rest, false)}
	for _, home := range homes {
		gopher, gemini := notesOf(home.Gopher, true), notesOf(home.Gemini, true)
		in.Notes = slices.Concat(in.Notes, gopher, gemini, besides(gopher, gemini),
			besides(gemini, gopher))
	}
	return in
}

func notesOf(list []sites.Note, strict bool) (notes []Note) {
	for _, n := range list {
		notes = append(notes, Note{Dir: n.Dir, File: n.File, Data: n.Data, Err: n.Err,
			Strict: strict})
	}
	return notes
}

// besides returns annotations once more, for the robots about which not they but those of the
// other tree have rules, directory by directory.
func besides(tree, other []Note) (list []Note) {
	for _, n := range tree {
		own := rulesByName(n)
		for _, o := range other {
			if o.Dir != n.Dir {
				continue
			}
			for _, name := range rulesByName(o) {
				if !slices.Contains(own, name) {
					n.Everybody = append(n.Everybody, strings.ToUpper(name))
				}
			}
		}
		if n.Everybody != nil {
			list = append(list, n)
		}
	}
	return list
}

// rulesByName lists the robots that the groups with rules name.
func rulesByName(n Note) (names []string) {
	for _, g := range readNote(n) {
		if g.speaks {
			names = append(names, g.names...)
		}
	}
	return names
}

// TestTwoTrees: of a home with two trees, a robot is denied what either denies to it, and
// nothing else.
func TestTwoTrees(t *testing.T) {
	tried := 0
	for seed := *first; seed < *first+20**drawn; seed++ {
		s := sites.Draw(rand.New(rand.NewPCG(seed, 21)))
		homes, rest := s.Homes()
		if len(homes) == 0 {
			continue
		}
		tried++
		gopher := Input{Programs: s.Programs, Notes: notesOf(rest, false)}
		gemini := gopher
		loose := gopher // for the patterns of Allows
		for _, home := range homes {
			gopher.Notes = slices.Concat(gopher.Notes, notesOf(home.Gopher, true))
			gemini.Notes = slices.Concat(gemini.Notes, notesOf(home.Gemini, true))
			loose.Notes = slices.Concat(loose.Notes, notesOf(home.Gopher, false),
				notesOf(home.Gemini, false))
		}
		both := Read(inputOf(s, nil))
		for _, robot := range append(both.Robots(), "*") {
			for _, sel := range sites.Selectors(Read(loose).Patterns()) {
				one, other := Read(gopher).For(robot).Decide(sel),
					Read(gemini).For(robot).Decide(sel)
				if got := both.For(robot).Decide(sel); got.Allowed != (one.Allowed &&
					other.Allowed) {
					t.Fatalf("seed %d, %s %q: %+v, alone %+v and %+v\n%s", seed, robot, sel,
						got, one, other, s)
				}
			}
		}
	}
	if tried == 0 && *drawn >= 20 {
		t.Error("no site has two trees")
	}
}

// TestCases compares the policy with the sentences about it, which list what robots may
// fetch (+), must not fetch (-), and what is preferred there.
func TestCases(t *testing.T) {
	for _, c := range sites.Cases {
		policies := Read(inputOf(c.Site, nil))
		for _, want := range c.Want {
			words := strings.Split(want, " ")
			p := policies.For(words[0])
			sel, states := "", map[string]string{}
			for _, word := range append(words[1:], "+") {
				if key, value, ok := strings.Cut(word, "="); ok &&
					!strings.ContainsAny(word[:1], "+-") {
					states[key] = value
					continue
				}
				if got := p.Prefers(sel); sel != "" && !maps.Equal(got, states) && len(states) > 0 {
					t.Errorf("%s: %s at %s: %v, not %v", c.Name, words[0], sel, got, states)
				}
				clear(states)
				if sel = word[1:]; sel != "" && p.Decide(sel).Allowed != (word[0] == '+') {
					t.Errorf("%s: %s: %s, but %+v", c.Name, words[0], word, p.Decide(sel))
				}
			}
		}
	}
}

// TestEverybody: in place of everybody an annotation may be for some robots. They are named,
// its other groups are as they are, and annotations of one directory are joined.
func TestEverybody(t *testing.T) {
	text := []byte("Disallow: /a\nUser-agent: *, foo\nDisallow: /b\nFinal: /c\nUser-agent: veronica\nDisallow: /d\n")
	some := Note{Dir: "/~bob/", File: "~bob/.robots", Data: text,
		Everybody: []string{"GPTBot", "bar"}}
	below := Note{Dir: "/~bob/x/", File: "~bob/x/.robots", Data: []byte("Allow: /\n")}
	all := some
	all.Data, all.Everybody = []byte("Disallow: /e\nUser-agent: bar\nDisallow: /f\n"), nil
	nobody := some
	nobody.Everybody = []string{}

	for _, c := range []struct {
		notes  []Note
		robots string
		want   map[string]string // what a robot is denied, of a to f
	}{
		{[]Note{some}, "bar foo gptbot veronica",
			map[string]string{"*": "", "gptbot": "abc", "bar": "abc", "foo": "bc",
				"veronica": "d"}},
		{[]Note{nobody}, "foo veronica",
			map[string]string{"*": "", "gptbot": "", "foo": "bc", "veronica": "d"}},
		{[]Note{below, some, all}, "bar foo gptbot veronica",
			map[string]string{"*": "e", "gptbot": "abc", "bar": "abcf", "foo": "bc",
				"veronica": "d"}},
	} {
		policies := Read(Input{Notes: c.notes})
		if got := strings.Join(policies.Robots(), " "); got != c.robots {
			t.Errorf("named are %q, not %q", got, c.robots)
		}
		for robot, want := range c.want {
			got := ""
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				if !policies.For(robot).Decide("/~bob/" + name).Allowed {
					got += name
				}
			}
			if got != want {
				t.Errorf("%s is denied %q, not %q", robot, got, want)
			}
		}
	}

	// What it denies them by name holds below, and is what joined directories state.
	some.Data = []byte("Disallow: /x/y\n")
	file := "User-agent: *\nAllow: /~bob/x/\n\nUser-agent: gptbot\nUser-agent: bar\nAllow: /~bob/x/\nDisallow: /~bob/x/y\n"
	rfc, _ := readers.Named("rfc9309")
	in := Input{Notes: []Note{some, below}, File: []byte(file), Readers: []readers.Reader{rfc}}
	for _, in.Joined = range [][]string{nil, {"/~bob/"}} {
		if list := findings(in, true); len(list) > 0 {
			t.Errorf("joined %q: %q", in.Joined, list)
		}
		spoilt := in
		spoilt.File = []byte(strings.Replace(file, "User-agent: gptbot\n", "", 1))
		if list := findings(spoilt, true); !slices.Contains(list, "rfc9309  ~bob/.robots:1") {
			t.Errorf("joined %q, without gptbot: %q", in.Joined, list)
		}
	}
}
