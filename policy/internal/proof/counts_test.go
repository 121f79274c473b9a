package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
	"github.com/gophd/gophd/robots"
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
				if want := bruteCount(root, m.ReadTyped(file, robot), robot, m); got != want {
					t.Fatalf("%s as %s: %d leaks and over-blocks, want %d\n%s\n%s", m.Name, robot, got, want, file, dumpTree(root, "/"))
				}
			}
		}
	})
}

func bruteCount(root *prooftest.Dir, allows func(byte, string) bool, robot string, m robots.Model) (n [2]int) {
	for _, r := range prooftest.Resources(root, nil) {
		denied := prooftest.Decide(r.Path, robot, r.Sel).Denied()
		typ := byte('0')
		if r.IsDir() {
			typ = '1'
		}
		exact := m.Forms[0] == robots.URI
		for _, s := range r.Spellings(robot) {
			if first, _, _ := strings.Cut(s, "/"); m.First() && strings.Contains(first, ":") {
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
