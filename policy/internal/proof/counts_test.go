package proof_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
	"github.com/gophd/gophd/robots/readers"
	"pgregory.net/rapid"
)

// TestCounts holds what the proof counts against every reader asked for every
// spelling, of files that have nothing to do with the annotations.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, few := prooftest.Draw(t, prooftest.Vile)
		file := []byte("User-agent: *\n" + prooftest.DrawRules(t, few, false) + prooftest.DrawRules(t, few, false))
		for robot, rows := range proof.Counts(input(root, string(file)), false) {
			for _, m := range proof.Models() {
				got, asked := rows[m.Name]
				if !asked { // another class is this reader's
					continue
				}
				if want := bruteCount(root, typed(m, file, robot), robot, m); got != want {
					t.Fatalf("%s as %s: %d leaks and over-blocks, want %d\n%s\n%s", m.Name, robot, got, want, file, dumpTree(root, "/"))
				}
			}
		}
	})
}

func bruteCount(root *prooftest.Dir, allows func(byte, string) bool, robot string, m readers.Reader) (n [2]int) {
	for _, r := range prooftest.Resources(root, nil) {
		denied := prooftest.Decide(r.Path, robot, r.Sel).Denied()
		typ := byte('0')
		if r.IsDir() {
			typ = '1'
		}
		exact := m.Forms[0] == readers.URI
		for _, s := range r.Spellings(robot) {
			if first, _, _ := strings.Cut(s, "/"); m.Choice == readers.FirstMatch && strings.Contains(first, ":") {
				continue
			}
			switch got := allows(typ, s); {
			case got && denied && !closed(r.Sel, s) && (exact || !prooftest.InEscape(r.Path, robot, r.Sel)):
				n[0]++
			case !got && !denied:
				n[1]++
			}
		}
	}
	return n
}

func dumpTree(d *prooftest.Dir, sel string) string {
	text := fmt.Sprintf("%q: %q\n%s", sel, d.Files, d.Text)
	for _, sub := range d.Dirs {
		text += dumpTree(sub, sel+sub.Name+"/")
	}
	return text
}

// TestPatternsAreAskedOnce: whether the directory that patterns begin in exists or not,
// each costs the same number of questions.
func TestPatternsAreAskedOnce(t *testing.T) {
	asked := func(patterns int, files map[string]string) (n int) {
		text := ""
		for i := range patterns {
			text += fmt.Sprintf("Disallow: /d/*x%d.zip$\n", i)
		}
		files["u/.robots"] = text
		for _, r := range check(newTree(files), "User-agent: *\nDisallow: /u/\n", nil).Rows {
			n += r.Selectors
		}
		return n
	}
	here := func(n int) int { return asked(n, map[string]string{"u/d/a": ""}) }
	later := func(n int) int { return asked(n, map[string]string{"u/a": ""}) }
	if a, b := here(40)-here(20), later(40)-later(20); a != b || a == 0 {
		t.Errorf("twenty patterns more cost %d questions where there is the directory, %d where there is none", a, b)
	}
}

// TestDeniedTwice: a leak is one although a longer pattern, whose star ends inside of an
// escape, denies the same.
func TestDeniedTwice(t *testing.T) {
	count := func(text string) map[string][2]int {
		root := newTree(map[string]string{"d/.robots": text, "d/é/x": ""})
		return proof.Counts(input(root, "User-agent: *\nDisallow: /z\n"), false)["*"]
	}
	if once, twice := count("Disallow: /\n"), count("Disallow: /\nDisallow: /*A\n"); !maps.Equal(once, twice) || once["gopher-strict"][0] == 0 {
		t.Errorf("by one pattern: %v, and by two: %v", once, twice)
	}
}

func typed(m readers.Reader, file []byte, robot string) func(byte, string) bool {
	return m.Read(file).Agent(robot).AllowedAs
}
