package readers

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var pairs = flag.Int("pairs", 2_000, "how many random pairs of patterns are compared")

// plainMatch matches a pattern as it is written, byte by byte.
func plainMatch(pattern, s string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return s == ""
	case pattern[0] == '*':
		return plainMatch(pattern[1:], s) || s != "" && plainMatch(pattern, s[1:])
	}
	return s != "" && s[0] == pattern[0] && plainMatch(pattern[1:], s[1:])
}

// drawPattern draws up to four letters, up to three of which may be preceded by stars.
func drawPattern(rnd *rand.Rand, most int) string {
	var b strings.Builder
	stars := 3
	star := func() {
		if stars > 0 && rnd.IntN(3) == 0 {
			stars--
			b.WriteString(strings.Repeat("*", 1+rnd.IntN(2)))
		}
	}
	for range rnd.IntN(most + 1) {
		star()
		b.WriteByte("aaab/.%"[rnd.IntN(7)])
	}
	star()
	if rnd.IntN(3) == 0 {
		b.WriteByte('$')
	}
	return b.String()
}

// words returns all strings of up to n of the letters.
func words(letters string, n int) []string {
	all := []string{""}
	for from := 0; n > 0; n-- {
		to := len(all)
		for _, word := range all[from:to] {
			for i := range letters {
				all = append(all, word+letters[i:i+1])
			}
		}
		from = to
	}
	return all
}

// set is a set of words by number.
type set []uint64

func matched(words []string, match func(string) bool) set {
	s := make(set, len(words)/64+1)
	for i, word := range words {
		if match(word) {
			s[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

// TestPatternsCompared compares Covers, Meets and Meeting with every string of up to
// seven bytes. The pairs have at most four and three letters, so that each string that
// tells them apart is among these.
func TestPatternsCompared(t *testing.T) {
	all := words("ab/.%", 7)
	rnd := rand.New(rand.NewPCG(41, 6))
	type drawn struct {
		text string
		Pattern
		set
	}
	var long, short []drawn
	for i := range min(2*max(*pairs/100, 60), 2000) {
		text := drawPattern(rnd, 3+i%2)
		p := ParsePattern(text)
		d := drawn{text, p, matched(all, func(s string) bool { return plainMatch(text, s) })}
		if i%2 == 0 {
			short = append(short, d)
		} else {
			long = append(long, d)
		}
	}

	known := map[string]set{} // by the text of a meeting
	met, covered, refused := 0, 0, 0
	for range *pairs {
		a, b := &long[rnd.IntN(len(long))], &short[rnd.IntN(len(short))]
		if rnd.IntN(2) == 0 {
			a, b = b, a
		}
		common, covers, meets := make(set, len(a.set)), true, false
		for i := range common {
			common[i] = a.set[i] & b.set[i]
			covers = covers && b.set[i]&^a.set[i] == 0
			meets = meets || common[i] != 0
		}
		if got := a.Covers(&b.Pattern); got != covers {
			t.Fatalf("%q covers %q: %v", a.text, b.text, got)
		}
		if got := a.Meets(&b.Pattern); got != meets {
			t.Fatalf("%q meets %q: %v", a.text, b.text, got)
		}

		list, ok := a.Meeting(&b.Pattern)
		if !ok {
			refused++
			continue
		}
		joint := make(set, len(common))
		for _, p := range list {
			of, ok := known[p.String()]
			if !ok {
				of = matched(all, p.Match)
				known[p.String()] = of
			}
			for i := range joint {
				joint[i] |= of[i]
			}
		}
		if !slices.Equal(joint, common) {
			t.Fatalf("the meeting of %q and %q: %+v", a.text, b.text, list)
		}
		for i := range list {
			for j := range list {
				if i != j && list[i].Covers(&list[j]) {
					t.Fatalf("the meeting of %q and %q: %+v covers %+v", a.text, b.text,
						list[i], list[j])
				}
			}
		}
		if meets {
			met++
		}
		if covers {
			covered++
		}
	}
	if met < *pairs/20 || covered < *pairs/100 || refused == 0 {
		t.Errorf("%d meet, %d covered, %d refused", met, covered, refused)
	}
}

// TestMeeting shows the meetings of patterns that authors write.
func TestMeeting(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"/~bob/phlog/", "/*.zip$", "/~bob/phlog/*.zip$ 18"},
		{"/~bob/*.txt", "/*.dcgi/", "/~bob/*.dcgi/*.txt 18 /~bob/*.txt*.dcgi/ 18"},
		{"/wiki/*.txt$", "/*.dcgi/", "/wiki/*.dcgi/*.txt$ 19"},
		{"/*.txt$", "/cgi-bin/", "/cgi-bin/*.txt$ 15"},
		{"/cgi*bin/hello", "/cgi-bin/", "/cgi-bin/*bin/hello 19 /cgi-bin/hello 14"},
		{"/d/*", "/*.cgi$", "/d/*.cgi$ 9"},
		{"/a", "/ab", "/ab 3"},
		{"/a$", "/*a", "/a$ 3"},
		{"/a$", "/a", "/a$ 3"},
		{"/a", "/b", ""},
		{"/*ab$", "/*ba$", ""},
		{"/*aba$", "/*aba", "/*aba$ 6"},
		{"/a*b*c", "/*d*e", "false"},
	} {
		a := ParsePattern(c.a)
		b := ParsePattern(c.b)
		for range 2 {
			list, ok := a.Meeting(&b)
			var got []string
			for _, p := range list {
				got = append(got, p.String()+" "+strconv.Itoa(p.Size))
			}
			slices.Sort(got)
			if !ok {
				got = []string{"false"}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s and %s: %q, not %q", c.a, c.b, text, c.want)
			}
			a, b = b, a
		}
	}
}

// TestParsePattern prints what it parses.
func TestParsePattern(t *testing.T) {
	for _, text := range []string{"/", "/a", "/a$", "/a*", "/a*$", "/a*b", "/a*b$", "*$", "*",
		"/**", "/a$$"} {
		p := ParsePattern(text)
		if got := p.String(); got != text || p.Size != len(text) {
			t.Errorf("%q: %q, size %d", text, got, p.Size)
		}
	}
}

// TestMeetingIsBounded compares names of many equal letters, which overlap everywhere.
func TestMeetingIsBounded(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	a, b := Pattern{Pieces: []string{"/", long + "b"}},
		Pattern{Pieces: []string{"/", "b" + long}, Whole: true}
	if _, ok := a.Meeting(&b); !a.Meets(&b) || ok {
		t.Error("100,000 bytes were compared with each other")
	}
}
