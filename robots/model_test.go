package robots

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/internal/robotstest"
)

// refModel states some of the models once more, from the reference.
func refModel(name string, data []byte, agent, sel string) bool {
	switch name {
	case "gopher-strict":
		return Reference(GopherStrict, data, agent, sel)
	case "veronica2":
		return Reference(Veronica2, data, "veronica", sel)
	case "rfc9309-raw":
		return Reference(RFC9309, data, agent, sel)
	case "1994":
		return Reference(Standard1994, data, agent, sel)
	}
	groups := refGroups(RFC9309, string(data))
	both := append(refChoose(RFC9309, groups, agent), refChoose(RFC9309, groups, "*")...)
	return refGemini(both, sel)
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

func TestModelsAsReference(t *testing.T) {
	for range 5000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := robotstest.File(rnd)
		sel := "/" + robotstest.Selector(rnd)
		agent := []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
		for _, m := range Models() {
			if !slices.Contains([]string{"gopher-strict", "veronica2", "rfc9309-raw", "1994", "gemini"}, m.Name) {
				continue // held against the programs themselves
			}
			if insideEscape(data, sel) {
				continue
			}
			if got, want := m.Read(data, agent)(sel), refModel(m.Name, data, agent, sel); got != want {
				t.Fatalf("seed %d: %s: %q for %q in %q: %v, want %v", seed, m.Name, sel, agent, data, got, want)
			}
		}
	}
}

// TestModelsAndTheRoot: the empty selector is "/" to readers of web paths, and reached
// by "*" alone in others.
func TestModelsAndTheRoot(t *testing.T) {
	want := map[string]string{ // + where "/", "*" and both of them deny it
		"gopher-strict": "-++", "veronica2": "-++", "rfc9309": "+++", "rfc9309-raw": "+++", "google": "+++", "google-raw": "+++",
		"1994": "---", "first-match": "+-+", "gemini": "---", "gopher-mcp": "+++",
	}
	for _, m := range Models() {
		got := ""
		for _, rules := range []string{"Disallow: /\n", "Disallow: *\n", "Disallow: /\nDisallow: *\n"} {
			if m.Read([]byte("User-agent: *\n"+rules), "zed")("") {
				got += "-"
			} else {
				got += "+"
			}
		}
		if want[m.Name] != got {
			t.Errorf("%s: %s, want %s", m.Name, got, want[m.Name])
		}
		if !m.Read(nil, "zed")("/x") || m.Note == "" {
			t.Errorf("%s: denies without a file, or has no note", m.Name)
		}
	}
}

// TestGeminiObeysBoth: its own group and the * group bind it.
func TestGeminiObeysBoth(t *testing.T) {
	file := []byte("User-agent: zed\nDisallow: /own*\n\nUser-agent: *\nDisallow: /all\nDisallow: /a*b\n")
	for _, m := range Models() {
		allowed := m.Read(file, "zed")
		if both := !allowed("/own") && !allowed("/all"); both != (m.Name == "gemini" || m.Name == "gopher-strict") {
			t.Errorf("%s: own %v, all %v", m.Name, allowed("/own"), allowed("/all"))
		}
		if m.Name == "gemini" && !allowed("/ab") {
			t.Error("gemini obeys a pattern with an inner star")
		}
	}
}
