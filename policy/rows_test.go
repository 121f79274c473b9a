package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// outsider is a row that somebody else may add: it knows no *, and takes the first line
// that matches.
var outsider = readers.Reader{Name: "outsider", Note: "a row of a test", Dialect: robots.RFC9309, Groups: true, Allow: true, Dollar: true,
	Choice: readers.FirstMatch, Forms: []readers.Form{readers.Raw}, Bare: true}

// TestOutsidersRow: a reader that is added by one entry counts everywhere. Its limits
// are reported with file and line, and close nothing.
func TestOutsidersRow(t *testing.T) {
	in := inputOf(map[string]string{".robots": "Disallow: /*.zip$\nDisallow: /%23a\nDisallow: /b/\nAllow: /b/c\n"})
	before := Compile(in, nil)
	in.Readers = append(readers.All(), outsider)
	c := Compile(in, nil)
	if !slices.Equal(before.File(), c.File()) {
		t.Errorf("the file depends on the reader:\n%s", c.File())
	}
	if rows := c.Proof(); rows[len(rows)-2].Name != "outsider" || rows[len(rows)-2].Selectors == 0 || rows[len(rows)-2].Leaks == 0 {
		t.Errorf("not proven: %+v", rows)
	}
	answers := c.Explain("*", "x.zip", false).Readers
	if last := answers[len(answers)-1]; last != (ReaderAnswer{"outsider", true}) {
		t.Errorf("it is explained as %+v", last)
	}
	named := map[string]string{}
	for _, r := range c.Reports() {
		if slices.Contains(r.Readers, "outsider") {
			named[fmt.Sprintf("%s:%d", r.File, r.Line)] += r.Code + " "
		}
		if r.Code == CodeUnnamedLeak {
			t.Error(r)
		}
	}
	if fmt.Sprint(named) != "map[.robots:1:GLOB  .robots:2:NAME ]" {
		t.Errorf("reported is %v", named)
	}
	in.Readers = []readers.Reader{outsider}
	if list := Compile(in, nil).Proof(); len(list) != 2 || list[0].Name != "outsider" {
		t.Errorf("asked alone: %+v", list)
	}
	in = inputOf(map[string]string{".robots": "Content-Usage: search=n\nUser-agent: veronica\nDisallow: /x\n"})
	in.Readers = []readers.Reader{outsider}
	if c := Compile(in, nil); c.Denied("a", false) {
		t.Errorf("veronica's preferences: %v", c.Reports())
	}
	if leak := fmt.Sprint(Compile(inputOf(map[string]string{"b/.robots": "Disallow: /\nAllow: /c\n"}), nil).Closed("/b/", "b")); leak != "true" {
		t.Error("a spelling is open")
	}
}

// Which rows may obey an Allow that does not decide: with several groups for a robot no order
// of lines is right for those that take the first, with one it is wrong only for wildcards.
func TestTakesOthers(t *testing.T) {
	first := readers.Reader{Allow: true, Groups: true, Choice: readers.FirstMatch, Forms: []readers.Form{readers.URI}}
	with := func(change func(*readers.Reader)) *readers.Reader { r := first; change(&r); return &r }
	for i, c := range []struct {
		rd           *readers.Reader
		one, several bool
	}{
		{&first, false, true},
		{with(func(r *readers.Reader) { r.Star = true }), true, true},
		{with(func(r *readers.Reader) { r.EndStar = true }), true, true},
		{with(func(r *readers.Reader) { r.Dollar = true }), true, true},
		{with(func(r *readers.Reader) { r.Groups = false }), true, true},
		{with(func(r *readers.Reader) { r.Choice = readers.LongestMatch }), false, false},
		{with(func(r *readers.Reader) { r.Allow, r.Groups = false, false }), false, false},
	} {
		if one, several := takesOthers(c.rd, false), takesOthers(c.rd, true); one != c.one || several != c.several {
			t.Errorf("row %d: %v, with several groups %v", i, one, several)
		}
	}
}

// TestOutsidersLines: a row that obeys lines of other groups, or in another order, is
// named where it is let in.
func TestOutsidersLines(t *testing.T) {
	row := outsider
	row.Forms, row.Escapes = []readers.Form{readers.URI}, readers.Letter
	ordered, mixed := row, row
	ordered.Star, mixed.Choice, mixed.Groups = true, readers.LongestPattern, false
	parts := mixed
	parts.Groups, parts.Names = true, readers.Part
	for _, test := range []struct {
		row         readers.Reader
		notes, want string
	}{
		{ordered, "Allow: /*b\nDisallow: /a/b/\n", "READER"},
		{ordered, "Disallow: /a/b/\nAllow: /a/\n", ""},
		{mixed, "Disallow: /a\nUser-agent: foo\nAllow: /ab\n", "READER"},
		{mixed, "Disallow: /a\nUser-agent: foo\nDisallow: /b\n", ""},
		{parts, "User-agent: foobot\nDisallow: /a\nUser-agent: foo\nAllow: /ab\n", "PART-NAME"},
		{parts, "User-agent: bar\nDisallow: /a\nUser-agent: foo\nAllow: /ab\n", ""},
	} {
		in := inputOf(map[string]string{".robots": test.notes})
		in.Readers = append(readers.All(), test.row)
		codes := ""
		for _, r := range Compile(in, nil).Reports() {
			if len(r.Leaks) > 0 && slices.Contains(r.Readers, "outsider") && r.Code != CodeName && !strings.Contains(codes, r.Code) {
				codes += r.Code
			}
		}
		if codes != test.want {
			t.Errorf("%q: %q, not %q", test.notes, codes, test.want)
		}
	}
}

// drawn is a row of the table with one or two other abilities.
func drawn(rnd *rand.Rand) readers.Reader {
	r := readers.All()[rnd.IntN(len(readers.All()))]
	r.Name = "drawn"
	for range 1 + rnd.IntN(2) {
		for _, flag := range []*bool{&r.Groups, &r.First, &r.Everybody, &r.Loose, &r.Blank, &r.Allow, &r.Star, &r.EndStar, &r.Below, &r.Bare, &r.Index, &r.Dollar} {
			*flag = *flag != (rnd.IntN(12) == 0)
		}
		switch rnd.IntN(12) {
		case 0:
			r.Names = readers.Names(rnd.IntN(4))
		case 1:
			r.Choice = readers.Choice(rnd.IntN(3))
		case 2:
			r.Ties = 1 - r.Ties
		}
	}
	return r
}

// TestDrawnRows: whatever a row can, no site is closed on account of it, and it is let in
// nowhere that no report names.
func TestDrawnRows(t *testing.T) {
	for seed := *first; seed < *first+*sites; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 50))
		s := oracle.Draw(rnd)
		in := input(s)
		in.Readers = append(readers.All(), drawn(rnd))
		c := Compile(in, nil)
		check(t, fmt.Sprintf("seed %d %+v", seed, in.Readers[len(in.Readers)-1]), s, c)
	}
}
