package robots

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/internal/robotstest"
)

// refReader states the models once more, from the reference.
func refReader(name string, data []byte, agent, sel string) bool {
	switch name {
	case "gopher-strict":
		return Reference(GopherStrict, data, agent, sel)
	case "veronica2":
		return Reference(Veronica2, data, agent, sel)
	case "rfc9309":
		return Reference(RFC9309, data, agent, sel)
	case "1994":
		return Reference(Standard1994, data, agent, sel)
	}
	groups := refGroups(RFC9309, string(data))
	if name == "first-match" {
		return refFirstMatch(refChoose(RFC9309, groups, agent), sel)
	}
	both := append(refChoose(RFC9309, groups, agent), refChoose(RFC9309, groups, "*")...)
	return refGemini(both, sel)
}

func refFirstMatch(groups []refGroup, sel string) bool {
	sel = refPath(sel)
	for _, g := range groups {
		for _, r := range g.rules {
			if _, ok := refMatch(RFC9309, g, r, sel); ok || sel == "/robots.txt" {
				return r.allow || sel == "/robots.txt"
			}
		}
	}
	return true
}

func refGemini(groups []refGroup, sel string) bool {
	for _, g := range groups {
		for _, r := range g.rules {
			p := strings.TrimSuffix(r.pattern, "*")
			if !r.allow && p != "" && !strings.Contains(p, "*") && strings.HasPrefix(sel, p) {
				return false
			}
		}
	}
	return true
}

func TestReadersAsReference(t *testing.T) {
	for range 5000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := robotstest.File(rnd)
		sel := "/" + robotstest.Selector(rnd)
		agent := []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
		for _, r := range Readers() {
			if got, want := r.Read(data, agent)(sel), refReader(r.Name, data, agent, sel); got != want {
				t.Fatalf("seed %d: %s: %q for %q in %q: %v, want %v", seed, r.Name, sel, agent, data, got, want)
			}
		}
	}
}

// TestReadersAndTheRoot: the empty selector is "/" to readers after RFC 9309,
// and reached by "*" alone in those before.
func TestReadersAndTheRoot(t *testing.T) {
	want := map[string]string{ // + where "/", "*" and both of them deny it
		"gopher-strict": "-++", "veronica2": "-++", "rfc9309": "+++", "1994": "---", "first-match": "+++", "gemini": "---",
	}
	for _, r := range Readers() {
		got := ""
		for _, rules := range []string{"Disallow: /\n", "Disallow: *\n", "Disallow: /\nDisallow: *\n"} {
			if r.Read([]byte("User-agent: *\n"+rules), "zed")("") {
				got += "-"
			} else {
				got += "+"
			}
		}
		if strings.Replace(want[r.Name], "-++", "-++", 1) != got {
			t.Errorf("%s: %s, want %s", r.Name, got, want[r.Name])
		}
		if !r.Read(nil, "zed")("/x") || r.Note == "" {
			t.Errorf("%s: denies without a file, or has no note", r.Name)
		}
	}
}

// TestGeminiObeysBoth: its own group and the * group bind it.
func TestGeminiObeysBoth(t *testing.T) {
	file := []byte("User-agent: zed\nDisallow: /own*\n\nUser-agent: *\nDisallow: /all\nDisallow: /a*b\n")
	for _, r := range Readers() {
		allowed := r.Read(file, "zed")
		if both := !allowed("/own") && !allowed("/all"); both != (r.Name == "gemini" || r.Name == "gopher-strict") {
			t.Errorf("%s: own %v, all %v", r.Name, allowed("/own"), allowed("/all"))
		}
		if r.Name == "gemini" && !allowed("/ab") {
			t.Error("gemini obeys a pattern with an inner star")
		}
	}
}
