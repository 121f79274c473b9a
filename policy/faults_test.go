package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// found returns the leaks that the proof finds in a file, as "reader file:line". With
// closed no spelling without a slash is served.
func found(s oracle.Site, file string, closed bool) (list []string) {
	in := proof.Input{Programs: s.Programs, File: []byte(file), Readers: readers.All(), Closed: func(canonical, spelling string) bool { return closed && spelling != canonical }}
	for _, n := range s.Notes {
		in.Notes = append(in.Notes, proof.Note(n))
	}
	for _, f := range proof.Check(in, nil).Findings {
		if f.Leak && f.Reader == proof.Preferences {
			list = append(list, f.Reader)
		} else if f.Leak {
			list = append(list, fmt.Sprintf("%s %s:%d", f.Reader, f.File, f.Line))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// leaks are those that brute force finds: each reader, as each robot, is asked for
// what the oracle takes for worth asking.
func leaks(s oracle.Site, file string, closed bool) (list []string) {
	p := s.Policy()
	parsed := readers.Open([]byte(file))
	for _, reader := range readers.All() {
		reading := reader.ReadFile(parsed)
		for _, robot := range append(p.Robots(), "*") {
			agent, ok := asks(p, reader, robot)
			if !ok {
				continue
			}
			rules := p.For(robot)
			for _, sel := range p.Selectors() {
				if v := rules.Decide(sel); !v.Allowed && (reading.Allowed(agent, sel) || !closed && sel != "/" && reading.Allowed(agent, reader.Asks(sel[1:]))) {
					list = append(list, fmt.Sprintf("%s %s:%d", reader.Name, v.File, v.Line))
				}
			}
		}
	}
	rfc := robots.Parse(robots.RFC9309, []byte(file))
	for _, robot := range append(p.Robots(), "zz") {
		rules := p.For(robot)
		for _, sel := range p.Selectors() {
			got, want := rfc.Usage(robot, oracle.Escape(sel)), p.Preferences(robot, sel)
			for _, s := range got {
				if rules.Decide(sel).Allowed && s.Preference == robots.Yes && want[s.Key] != "y" && robot != "veronica" {
					list = append(list, proof.Preferences)
				}
			}
			for key, value := range want {
				if rules.Decide(sel).Allowed && rfc.Allowed(robot, oracle.Escape(sel)) && value == "n" && got.Of(key) != robots.No && robot != "veronica" {
					list = append(list, proof.Preferences)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestFaults spoils files as faults of a compiler would: the proof finds each leak that
// brute force finds, and each fault leaks somewhere.
func TestFaults(t *testing.T) {
	right := func(s oracle.Site) string { return string(Compile(input(s), nil).File()) }
	for _, fault := range oracle.Faults {
		spoilt := 0
		for seed := uint64(0); spoilt < 2; seed++ {
			if seed == 500 {
				t.Fatalf("%s: nothing is spoilt", fault.Name)
			}
			rnd := rand.New(rand.NewPCG(seed, 9))
			s := oracle.Draw(rnd)
			file := fault.Spoil(rnd, s, right)
			want := leaks(s, file, false)
			if len(want) == 0 || file == right(s) {
				continue
			}
			spoilt++
			got := found(s, file, false)
			for _, leak := range want {
				if !slices.Contains(got, leak) {
					t.Errorf("%s, seed %d: %s, but found is %q\n%s== file\n%s", fault.Name, seed, leak, got, s, file)
				}
			}
		}
	}
}

// TestRowsAlone: for each row of the table of readers there is a file that misleads it
// alone.
func TestRowsAlone(t *testing.T) {
	for _, test := range []struct{ reader, note, file string }{
		{"gopher-strict", "Disallow: /a$\n", "User-agent: *\nDisallow: /a\nDisallow: *a$\nUser-agent: veronica\nDisallow: /a\nDisallow: a/\n"},
		{"veronica2", "User-agent: veronica\nDisallow: /a\n", "User-agent: *\n"},
		{"rfc9309", "Disallow: /a%2521\n", "User-agent: *\nDisallow: /a\nAllow: /%61%2521\nUser-agent: z\nDisallow: /a\n"},
		{"rfc9309-raw", "Disallow: /a%2521\n", "User-agent: *\nDisallow: /a\nAllow: /%61%21\nUser-agent: z\nDisallow: /a\n"},
		{"google", "Disallow: /a b\n", "User-agent: *\nDisallow: /a b\n"},
		{"google-raw", "Disallow: /a b\n", "User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /a%20b\n"},
		{"1994", "Disallow: /a\n", "User-agent: *\nDisallow: /*\nDisallow: /a%23\n"},
		{"first-match", "Disallow: /a\n", "User-agent: *\nDisallow:\nDisallow: /a\n"},
		{"longest-match", "Disallow: /a\n", "User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /a*\n"},
		{"gemini", "Disallow: /a?b\n", "User-agent: *\nDisallow: /*b\nUser-agent: z\nDisallow: /a\n"},
		{"gopher-mcp", "Disallow: /a\n", "User-agent: *\nDisallow: /a\nUser-agent: gopher-mcp\n"},
	} {
		s := oracle.Of(map[string]string{"/": test.note})
		closed := test.reader != "gopher-strict"
		list := leaks(s, test.file, closed)
		if len(list) != 1 || !strings.HasPrefix(list[0], test.reader+" ") || !slices.Contains(found(s, test.file, closed), list[0]) {
			t.Errorf("%s: %q", test.reader, list)
		}
	}
}
