package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCases(t *testing.T) {
	for _, c := range Cases {
		p := c.Policy()
		for _, want := range c.Want {
			words := strings.Fields(want)
			rules := p.For(words[0])
			sel, states := "", map[string]string{}
			for _, word := range append(words[1:], "+") {
				if key, value, ok := strings.Cut(word, "="); ok {
					states[key] = value
					continue
				}
				if got := p.Preferences(words[0], sel); sel != "" && !maps.Equal(got, states) && len(states) > 0 {
					t.Errorf("%s: %s of %s: %v, want %v", c.Name, words[0], sel, got, states)
				}
				clear(states)
				if sel = word[1:]; sel != "" && rules.Decide(sel).Allowed != (word[0] == '+') {
					t.Errorf("%s: %s: %s, but %+v", c.Name, words[0], word, rules.Decide(sel))
				}
			}
		}
	}
}

// TestPatterns: by text that is drawn, patterns meet if some matches both, and one
// covers another if none matches that alone.
func TestPatterns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	text := func(letters string) string {
		var b strings.Builder
		for range rnd.IntN(6) {
			b.WriteByte(letters[rnd.IntN(len(letters))])
		}
		return b.String()
	}
	for range 20000 {
		p, q, lit := text("ab**")+[]string{"", "$"}[rnd.IntN(2)], text("ab**")+[]string{"", "$"}[rnd.IntN(2)], text("ab")
		both, meets := Meet(p, q)
		rest, ok := remains(p, lit)
		if meets && !(Match(p, both) && Match(q, both)) {
			t.Fatalf("%q and %q do not meet in %q", p, q, both)
		}
		for range 30 {
			s := text("abc")
			inP, inQ := Match(p, s), Match(q, s)
			if inP && inQ && !meets || inQ && !inP && covers(p, q) {
				t.Fatalf("%q and %q: %q; meet %v, covers %v", p, q, s, meets, covers(p, q))
			}
			carried := !ok
			for _, r := range rest {
				carried = carried || Match(r, s)
			}
			if carried != Match(p, lit+s) {
				t.Fatalf("%q behind %q: %q; %q", p, lit, rest, s)
			}
		}
	}
}

// TestDraw: what is drawn is about everything, and has something to decide.
func TestDraw(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(300) {
		s := Draw(rand.New(rand.NewPCG(seed, 1)))
		p := s.Policy()
		for _, robot := range append(p.Robots(), "*") {
			rules := p.For(robot)
			for _, sel := range p.Selectors() {
				v := rules.Decide(sel)
				seen[fmt.Sprintf("%v named %v line %v program %v", v.Allowed, robot != "*", v.Line > 0, v.File == "")]++
			}
		}
		for _, word := range []string{"Final: /*", "Content-Usage", "Allow: /*", "archiver", "ChatGPT", "%", "$", "Disallow:\n"} {
			if strings.Contains(s.String(), word) {
				seen[word]++
			}
		}
	}
	if len(seen) < 7+8 {
		t.Errorf("not everything is drawn: %v", seen)
	}
	t.Log(seen)
}

// TestWeights: Final, names and wildcards meet in the sites that are drawn, each in one
// of twenty at least.
func TestWeights(t *testing.T) {
	const sites = 400
	seen := map[string]int{}
	for seed := range uint64(sites) {
		p, met := Draw(rand.New(rand.NewPCG(seed, 5))).Policy(), map[string]bool{}
		final, glob := map[string]bool{}, map[string]bool{}
		for _, s := range p.sheets {
			for _, g := range s.groups {
				for _, r := range g.rules {
					at := fmt.Sprint(r.file, r.line)
					final[at], glob[at] = r.final, strings.Contains(r.text, "*")
				}
			}
		}
		for _, robot := range append(p.Robots(), "*") {
			counts := map[string]bool{}
			for _, r := range p.rules(robot) {
				at := fmt.Sprint(r.file, r.line)
				if counts[at] = true; r.file != "" && r.file != r.dir[1:]+".robots" {
					met[fmt.Sprintf("carried, Final %v", final[at])] = true
				}
				if r.file == "" && r.dir != "/" {
					met["a program is carried"] = true
				}
			}
			for _, s := range p.sheets {
				_, list := s.count(robot, func(r *rule) bool { return r.allow })
				for _, a := range list {
					if at := fmt.Sprint(a.file, a.line); !counts[at] && a.text != "" {
						met[fmt.Sprintf("struck, wildcard %v, named %v", glob[at], robot != "*")] = true
					}
				}
			}
		}
		for what := range met {
			seen[what]++
		}
	}
	for _, what := range []string{"carried, Final true", "carried, Final false", "a program is carried", "struck, wildcard true, named true", "struck, wildcard true, named false", "struck, wildcard false, named true", "struck, wildcard false, named false"} {
		if seen[what] < sites/20 {
			t.Errorf("%s: in %d of %d", what, seen[what], sites)
		}
	}
	t.Log(seen)
}
