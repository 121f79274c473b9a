package robots

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/internal/robotstest"
	"github.com/gophd/gophd/robots/readers"
)

// TestDecideAsReference tries files at random; a seed that fails is printed.
func TestDecideAsReference(t *testing.T) {
	agents := []string{"*", "foo", "Foo/2.0", "foobar", "bar", ""}
	for range 20000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := robotstest.File(rnd)
		sel := robotstest.Selector(rnd)
		d := readers.Dialects()[rnd.IntN(len(readers.Dialects()))]
		sameAsReference(t, d, data, agents[rnd.IntN(len(agents))], sel)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// afterStar is a pattern whose star may end inside of an escape.
var afterStar = regexp.MustCompile(`\*(?i:[0-9a-f]|%3[0-9]|%[46][1-6])`)

// insideEscape reports whether some pattern of a file may match from inside of an escape
// on: "*A" matches "/%C3%A9" by the letter, and to the reference an escape is one.
func insideEscape(data []byte, sel string) bool {
	return afterStar.Match(data) && strings.Contains(readers.NormalPath(sel), "%")
}

func sameAsReference(t *testing.T, d Dialect, data []byte, agent, sel string) {
	t.Helper()
	if insideEscape(data, sel) {
		return
	}
	f := Parser{Dialect: d, Literal: true}.Parse(data)
	want := Reference(d, data, agent, sel)
	all := append(refAll(d, data, agent, sel), refFound{}, refFound{})
	for range 3 { // without an index, and with it
		got := f.Decide(agent, sel)
		if got.Allowed != want || f.Allowed(agent, sel) != want {
			t.Errorf("%s: %q for %q in %q: %+v, want %v", d, sel, agent, data, got, want)
		}
		if got.Reason != RobotsFile &&
			(got.Rule.Line != all[0].line || got.RunnerUp.Line != all[1].line) {
			t.Errorf("%s: %q for %q in %q: %+v, want %v", d, sel, agent, data, got, all)
		}
	}
}

// FuzzParse: whatever comes, each dialect prints what it read, its lines are the
// text, and it decides as the naive model does.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\n"), "foo", "/axb")
	f.Add([]byte("\ufeffDisallow: /\r\nAllow: %41\rx"), "foo", "/A")
	f.Add([]byte("User-agent: foo\nRobot-version: 2.0\nDisallow: *.gif\n"), "foo", "/x.gif")
	f.Add([]byte("User-agent: *\nAllow: */\nDisallow: */\nAllow: */\n"), "foo", "/")     // the second rule is the runner-up
	f.Add([]byte("User-agent: *\nDisallow: *?*%2F\nDisallow: *%2F\n"), "foo", "/?a=%2f") // which matches here in a form of the first
	f.Fuzz(func(t *testing.T, data []byte, agent, sel string) {
		for _, d := range readers.Dialects() {
			checkParse(t, d, data)
			if _, wide := readers.DecodeUTF16(data); !wide && len(data) < 2000 && len(sel) < 500 {
				sameAsReference(t, d, data, agent, sel)
			}
		}
	})
}

// checkParse: parse, print, parse again.
func checkParse(t *testing.T, d Dialect, data []byte) {
	t.Helper()
	f := Parse(d, data)
	data, _ = readers.DecodeUTF16(data)
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
