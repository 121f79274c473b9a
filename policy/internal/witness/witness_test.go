package witness

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
)

// right writes a file that says the policy of a site to readers of RFC 9309.
func right(s oracle.Site) []byte {
	in := input(s, nil)
	r := &Result{}
	r.notes = map[[2]string]*noteText{}
	p := newProver(in, r, r)
	names := slices.Sorted(maps.Keys(p.classes))
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	var b strings.Builder
	for _, robot := range append([]string{"*"}, names...) {
		of := policyOf(s, robot)
		fmt.Fprintf(&b, "User-agent: %s\nDisallow: /.robots\n", robot)
		for _, r := range of.rules {
			text := "Disallow: "
			if r.allow {
				text = "Allow: "
			}
			if r.struck {
				continue
			}
			pad := ""
			if r.Size == shutSize {
				pad = strings.Repeat("*", 60)
			}
			b.WriteString(text + strings.Join(r.Pieces, "*") + pad)
			if r.Whole {
				b.WriteString("$")
			}
			b.WriteString("\n")
		}
		for _, r := range of.states {
			if form := strings.Join(r.Pieces, "*"); true {
				var said []string
				for key, by := range of.prefers(form) {
					said = append(said, key+"="+by.states.Of(key).String())
				}
				slices.Sort(said)
				if r.Whole {
					form += "$"
				}
				fmt.Fprintf(&b, "Content-Usage: %s %s\n", form, strings.Join(said, ", "))
			}
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

var globUsage = regexp.MustCompile(`(?m)^Content-Usage: \S*[*$]`)

func TestExact(t *testing.T) {
	bad := 0
	for seed := range uint64(300) {
		s := oracle.Draw(rand.New(rand.NewPCG(seed, 22)))
		in := input(s, right(s))
		in.Closed = func(canonical, spelling string) bool { return true }
		r := Check(in, nil)
		globs := slices.ContainsFunc(s.Notes, func(n oracle.Note) bool { return globUsage.Match(n.Data) })
		for _, f := range r.Findings {
			if f.Reader == "rfc9309" || f.Reader == Preferences && !globs {
				if bad++; bad < 5 {
					t.Errorf("%d: %+v\n%s\n%s", seed, f, dump(s), in.File)
				}
			}
		}
	}
}
