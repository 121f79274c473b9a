package robots

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces make files and selectors that have something to do with each other.
var (
	filePieces = []string{
		"User-agent: *\n", "User-agent: foo\n", "user-agent:foo/1.0\r\n", "User-agent: Foobar\n",
		"Disallow: ", "Allow: ", "Disallow:", "\n", "\r", "\r\n", "\n\n", " # note\n", "#", " #", "\t",
		"/", "a", "b", "*", "$", "/a/", "/a", "a*b", "%41", "%2f", "%2A", "%24", "é", "%", "/a$", "/*a", "a/\n",
		"Crawl-delay: 3\n", "Robot-version: 2.0\n", "Robot-version: 2.1\n", "Robot-version: 1.1\n", "Sitemap: x\n",
		"\x00", "\ufeff", ":", "nonsense\n",
	}
	selectorPieces = []string{"/", "a", "b", "A", "*", "$", "%41", "%2f", "%2F", "é", "%C3%A9", "%", "/a/", "http://h", "?", "#", ":"}
)

func randomText(rnd *rand.Rand, pieces []string, most int) string {
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// randomFile is text at random, or, half of the time, rules that often match.
func randomFile(rnd *rand.Rand) []byte {
	if rnd.IntN(2) == 0 {
		return []byte(randomText(rnd, filePieces, 40))
	}
	var b strings.Builder
	b.WriteString("User-agent: *\nUser-agent: foo\n")
	for range rnd.IntN(8) {
		b.WriteString([]string{"Disallow: ", "Allow: ", "User-agent: foo\nDisallow: ", "Disallow: *"}[rnd.IntN(4)])
		b.WriteString([]string{"/", "/", "", "*"}[rnd.IntN(4)] + randomText(rnd, []string{"a", "b", "*", "$", "/", "%61"}, 4) + "\n")
	}
	return []byte(b.String())
}

// TestDecideAsReference tries files at random; a seed that fails is printed.
func TestDecideAsReference(t *testing.T) {
	agents := []string{"*", "foo", "Foo/2.0", "foobar", "bar", ""}
	for range 20000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := randomFile(rnd)
		sel := randomText(rnd, selectorPieces, 8)
		d := Dialects()[rnd.IntN(int(IRCv3))]
		sameAsReference(t, d, data, agents[rnd.IntN(len(agents))], sel)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func sameAsReference(t *testing.T, d Dialect, data []byte, agent, sel string) {
	t.Helper()
	f := Parse(d, data)
	got, want := f.Decide(agent, sel), Reference(d, data, agent, sel)
	if got.Allowed != want || f.Allowed(agent, sel) != want {
		t.Errorf("%s: %q for %q in %q: %+v, want %v", d, sel, agent, data, got, want)
	}
	all := append(refAll(d, data, agent, sel), refFound{}, refFound{})
	if got.Reason != RobotsFile && (got.Rule.Line != all[0].line || got.RunnerUp.Line != all[1].line) {
		t.Errorf("%s: %q for %q in %q: %+v, want %v", d, sel, agent, data, got, all)
	}
}

// FuzzParse: whatever comes, each dialect prints what it read, its lines are the
// text, and it decides as the naive model does.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\n"), "foo", "/axb")
	f.Add([]byte("\ufeffDisallow: /\r\nAllow: %41\rx"), "foo", "/A")
	f.Add([]byte("User-agent: foo\nRobot-version: 2.0\nDisallow: *.gif\n"), "foo", "/x.gif")
	f.Fuzz(func(t *testing.T, data []byte, agent, sel string) {
		for _, d := range Dialects() {
			checkParse(t, d, data)
			checkLint(t, d, data)
			if d != IRCv3 && len(data) < 2000 && len(sel) < 500 {
				sameAsReference(t, d, data, agent, sel)
			}
		}
	})
}

// checkParse: parse, print, parse again.
func checkParse(t *testing.T, d Dialect, data []byte) {
	t.Helper()
	f := Parse(d, data)
	if printed := f.AppendTo(nil); !bytes.Equal(printed, data) {
		t.Fatalf("%s: printed %q, read %q", d, printed, data)
	}
	var lines []byte
	number := 0
	for l := range f.Lines() {
		number++
		if l.Number != number || !strings.Contains(l.Text, l.Value) {
			t.Fatalf("%s: line %d of %q is %+v", d, number, data, l)
		}
		lines = append(lines, l.Text...)
	}
	if !bytes.Equal(lines, data) {
		t.Fatalf("%s: the lines give %q, read %q", d, lines, data)
	}
}

// checkLint: a diagnostic has a line of the file, and no octet of it raw.
func checkLint(t *testing.T, d Dialect, data []byte) {
	t.Helper()
	lines := 0
	f := Parse(d, data)
	for range f.Lines() {
		lines++
	}
	last := 0
	for _, g := range f.Lint() {
		if g.Line < last || g.Line > lines || g.Code == "" || strings.ContainsFunc(g.Message, isControl) {
			t.Fatalf("%s: %q: %+v", d, data, g)
		}
		last = g.Line
	}
}

// FuzzGlob compares the matcher with the table of the naive model.
func FuzzGlob(f *testing.F) {
	f.Add("/a*b*c", "/axbxc", true)
	f.Add("*a*a*ab", "aaaaab", false)
	f.Fuzz(func(t *testing.T, pattern, text string, whole bool) {
		if len(pattern)*len(text) > 1<<16 {
			return
		}
		if got, want := globMatch(pattern, text, whole), refGlob(pattern, text, whole); got != want {
			t.Fatalf("globMatch(%q, %q, %v) = %v", pattern, text, whole, got)
		}
		if refGlob(pattern, text, whole) && !pairsOf(text).includes(pairsOf(pattern)) {
			t.Fatalf("the filter drops %q for %q", pattern, text)
		}
	})
}
