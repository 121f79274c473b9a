package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots/readers"
)

// right writes a file that says the policy of a site to readers of RFC 9309.
func right(s oracle.Site) string {
	in := input(s, nil)
	r := &Result{}
	p := newProver(in, r, r)
	names := slices.Sorted(maps.Keys(p.named))
	names = slices.DeleteFunc(names, func(name string) bool { return !p.named[name] || slices.Contains(virtual, name) })
	if p.struck != nil {
		names = append(names, virtual...)
	}
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
	return b.String()
}

var globUsage = regexp.MustCompile(`(?m)^Content-Usage: \S*[*$]`)

// TestFaults: a file that says the policy is faultless to readers of RFC 9309; of one that
// was spoilt the proof finds what asking for every selector of the oracle finds.
func TestFaults(t *testing.T) {
	rfc, _ := readers.Named("rfc9309")
	found := map[string]int{}
	for seed := range uint64(15) {
		rnd := rand.New(rand.NewPCG(seed, 22))
		s := oracle.Draw(rnd)
		o := oracle.New(s.Notes, s.Programs, nil)
		globs := slices.ContainsFunc(s.Notes, func(n oracle.Note) bool { return globUsage.Match(n.Data) })
		for _, fault := range append(oracle.Faults, oracle.Fault{Name: "none", Spoil: func(*rand.Rand, oracle.Site, func(oracle.Site) string) string { return right(s) }}) {
			in := input(s, []byte(fault.Spoil(rnd, s, right)))
			in.Closed = func(_, _ string) bool { return true }
			got := map[bool]bool{}
			for _, f := range Check(in, nil).Findings {
				got[f.Leak] = got[f.Leak] || f.Reader == "rfc9309"
				if fault.Name == "none" && (f.Reader == "rfc9309" || f.Reader == Preferences && !globs) {
					t.Fatalf("seed %d: %+v\n%s\n%s", seed, f, s, in.File)
				}
			}
			read := rfc.Read(in.File)
			for _, robot := range append([]string{"*"}, o.Robots()...) {
				for _, sel := range o.Selectors() {
					if robot == "veronica" || robot == "gopher-mcp" || read.Allowed(robot, sel) == o.For(robot).Decide(sel).Allowed {
						continue
					}
					if leak := read.Allowed(robot, sel); !got[leak] {
						t.Fatalf("seed %d, %s: %q for %s, a leak: %v\n%s\n%s", seed, fault.Name, sel, robot, leak, s, in.File)
					}
					found[fault.Name]++
				}
			}
		}
	}
	if len(found) < 20 {
		t.Errorf("only %v were seen", found)
	}
}

// judged are trees with the readers that take the file otherwise than the annotations: !
// those that are let in, ? those that are kept out.
var judged = []struct{ notes, file, want string }{
	{"Disallow: /x*y\n", "User-agent: *\nDisallow: /x*y\n", "1994! first-match! gemini!"},
	{"Disallow: /x$\n", "User-agent: *\nDisallow: /x$\n", "1994! first-match! gemini! gopher-strict! veronica2!"},
	{"Disallow: /x\nAllow: /xy\n", "User-agent: *\nDisallow: /x\nAllow: /xy\n", "1994? first-match? gemini? gopher-mcp? gopher-strict? veronica2?"},
	{"Disallow: /a%2541\n", "User-agent: *\nDisallow: /a%2541\n", "1994! 1994? first-match! first-match? gemini! gemini? google-raw! google-raw? gopher-mcp? gopher-strict! gopher-strict? longest-match! longest-match? rfc9309-raw! rfc9309-raw? veronica2! veronica2?"},
	{"Disallow: /~a\n", "User-agent: *\nDisallow: /%7Ea\n", "1994! 1994? first-match? gemini! gemini? google! google-raw! google-raw? gopher-mcp? gopher-strict! gopher-strict? longest-match? rfc9309-raw? veronica2! veronica2?"},
	{"Disallow: /a/\nAllow: /a/index.html\n", "User-agent: *\nAllow: /a/index.html\nDisallow: /a/\n", "1994? gemini? google! google-raw! gopher-mcp? gopher-strict? veronica2?"},
	{"Disallow: /*b$\nAllow: /aaaa\n", "User-agent: *\nDisallow: /*b$\nAllow: /aaaa\n", "1994! first-match! gemini! gopher-mcp? gopher-strict! longest-match? veronica2!"},
	{"User-agent: veronica\nDisallow: /b\n", "User-agent: veronica\nDisallow: /b\n\nUser-agent: *\nDisallow: /.robots\n", "1994? first-match? gopher-strict? longest-match?"},
	{"", "User-agent: *\nDisallow: 0/a\n", "gopher-mcp?"},
	{"Disallow: /a b\n", "User-agent: *\nDisallow: /a%20b\n", "1994! 1994? first-match? gemini! gemini? google-raw! google-raw? gopher-mcp? gopher-strict! gopher-strict? longest-match? rfc9309-raw? veronica2! veronica2?"},
	{"Disallow: /a\nUser-agent: x\nDisallow:\n", "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /.robots\n", "1994! first-match! gemini? gopher-strict? longest-match!"},
	{"Disallow: /a\nUser-agent: bot\nDisallow: /b\n", "User-agent: *\nDisallow: /a\n\nUser-agent: bot\nDisallow: /b\n", "1994! 1994? first-match! first-match? gemini? gopher-strict? longest-match! longest-match?"},
	{"", "User-agent: *\nDisallow: /p/\n", "1994? first-match? gemini? google-raw? google? gopher-mcp? gopher-strict? longest-match? rfc9309-raw? rfc9309? veronica2?"},
	{"Disallow: /log$\nAllow: /log\n", "User-agent: *\nDisallow: /log$\nAllow: /log\n", "1994! first-match! gemini! gopher-strict! longest-match! veronica2!"},
	{"Content-Usage: train-ai=n\n", "User-agent: *\nDisallow: /.robots\n", "preferences!"},
}

// TestRows: every row of the table is asked, and differs from each other one on some tree.
func TestRows(t *testing.T) {
	seen := map[string]string{}
	for i, c := range judged {
		in := Input{Notes: []Note{{Dir: "/", File: ".robots", Data: []byte(c.notes)}}, File: []byte(c.file), Closed: func(_, _ string) bool { return true }}
		var got []string
		for _, f := range Check(in, nil).Findings {
			mark := f.Reader + map[bool]string{true: "!", false: "?"}[f.Leak]
			if !slices.Contains(got, mark) {
				got = append(got, mark)
				seen[f.Reader] += fmt.Sprint(i, f.Leak, " ")
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d. %q: %q\nwant %q", i, c.notes, strings.Join(got, " "), c.want)
		}
	}
	other := map[string]string{}
	for _, r := range readers.All() {
		if o := other[seen[r.Name]]; o != "" {
			t.Errorf("no tree tells %s from %s: %s", r.Name, o, seen[r.Name])
		}
		other[seen[r.Name]] = r.Name
	}
}
