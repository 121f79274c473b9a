package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

// findings returns the leaks of a proof (or its over-blocks) as "reader code file:line".
func findings(in Input, leak bool) (list []string) {
	for _, f := range Check(in).Findings {
		if text := fmt.Sprintf("%s %s %s:%d", f.Reader, f.Code, f.File, f.Line); f.Leak == leak &&
			!slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// rootInput is a site with one annotation, and a file.
func rootInput(note, file string) Input {
	return Input{Notes: []Note{{Dir: "/", File: ".robots", Data: []byte(note)}}, File: []byte(file)}
}

// TestForgottenLines removes what is written for readers that know less. Nothing excuses
// that: the readers could have been told.
func TestForgottenLines(t *testing.T) {
	group := regexp.MustCompile(`(?s)User-agent: veronica\n.*?\n\n`)
	for _, value := range []string{"/*.zip$", "/caf%C3%A9$", "/a%20b$", "/*%/b", "/x$", "/a%23b",
		"/a%2Ab", "/a%24", "/a%20", "/é$", "/a%01b", "/a%C2%A0", "/a%E2%80%A8b", "/*/$"} {
		s := sites.Of(map[string]string{"/": "Disallow: " + value + "\n"})
		list := findings(inputOf(s, []byte(group.ReplaceAllString(right(s), ""))), true)
		for _, want := range []string{"gopher-strict  .robots:1", "veronica2  .robots:1"} {
			if !slices.Contains(list, want) {
				t.Errorf("%s without weak lines: %q", value, list)
			}
		}
		for _, text := range findings(inputOf(s, []byte(right(s))), true) {
			if strings.Contains(text, "  ") || strings.HasPrefix(text, "gopher-strict") ||
				strings.HasPrefix(text, "veronica2") {
				t.Errorf("%s: %s\n%s", value, text, right(s))
			}
		}
	}

	// So is a directory that is denied as a whole.
	s := sites.Of(map[string]string{"/a#/": "Disallow: /\n"})
	if list := findings(inputOf(s, []byte(group.ReplaceAllString(right(s), ""))),
		true); !slices.Contains(list, "gopher-strict  a#/.robots:1") {
		t.Errorf("a directory with a # without weak lines: %q", list)
	}

	// What a program answers is told the same readers.
	for _, program := range []string{"/now/", "/cgi", "/*.dcgi"} {
		s := sites.Of(map[string]string{"/": "Disallow: /b\n"}, program)
		list := findings(inputOf(s, []byte(group.ReplaceAllString(right(s), ""))), true)
		if !slices.Contains(list, "gopher-strict  :0") {
			t.Errorf("program %s without weak lines: %q", program, list)
		}
	}

	for _, test := range []struct{ value, line string }{{"/a b/", "Disallow: /a b/\n"},
		{"/é", "Disallow: /é\n"}, {"/a?", "Disallow: /a?\n"}} {
		s := sites.Of(map[string]string{"/": "Disallow: " + test.value + "\n"})
		file := strings.ReplaceAll(right(s), test.line, "")
		for _, want := range []string{"gemini  .robots:1", "1994  .robots:1"} {
			if list := findings(inputOf(s, []byte(file)), true); !slices.Contains(list, want) {
				t.Errorf("%s without its raw form: %q\n%s", test.value, list, file)
			}
		}
	}
	for _, test := range []struct{ value, line, want string }{
		{"/a%20$", "Disallow: /a $\n", "google-raw  .robots:1"},
		{"/é*", "Disallow: /é\n", "1994  .robots:1"},
	} {
		s := sites.Of(map[string]string{"/": "Disallow: " + test.value + "\n"})
		file := strings.ReplaceAll(right(s), test.line, "")
		if list := findings(inputOf(s, []byte(file)), true); !slices.Contains(list, test.want) {
			t.Errorf("%s without its raw form: %q\n%s", test.value, list, file)
		}
	}
}

// TestCodes shows why a reader does not keep a rule, by files that are right.
func TestCodes(t *testing.T) {
	for _, c := range []struct{ want, note string }{
		{"1994 GLOB .robots:1", "Disallow: /a*b\n"},
		{"first-match GLOB .robots:1", "Disallow: /*longer\nDisallow: /\nAllow: /pub/\n"},
		{"1994 ANCHOR .robots:1", "Disallow: /a$\n"},
		{"google-raw DIGITS .robots:1", "Disallow: /*9.txt\n"},
		{"longest-match DIGITS .robots:1", "Disallow: /d/\nAllow: /*A\n"},
		{"longest-match DIGITS .robots:1", "Disallow: /d/\nAllow: /*3Ab\n"},
		{"longest-match DIGITS .robots:1", "Disallow: /d/x\nAllow: /*3*A\n"},
		{"google INDEX .robots:1", "Disallow: /a/\nAllow: /a/index.html\n"},
		{"longest-match MATCHED-LENGTH .robots:1", "Disallow: /ab*c\nAllow: /ab*\n"},
		{"first-match NAME .robots:1", "Disallow: /\nAllow: /pub/*.txt$\n"},
		{"rfc9309-raw NAME .robots:1", "Disallow: /a%2541\n"},
		{"1994 NAME .robots:1", "Disallow: /a%23b\n"},
		{"gopher-strict ANCHOR .robots:1", "Disallow: /$\n"},
		{"rfc9309 READER .robots:2",
			"User-agent: archiver\nDisallow: /b\nUser-agent: indexer\nDisallow: /\nAllow: /b\n"},
		{"google-raw NAME .robots:1", "Disallow: /é/\nAllow: /é/é/\n"},
		{"google-raw NAME .robots:1", "Disallow: /é/%25C3%25A9/日本/\nDisallow: /é/\nAllow: /é/é/\n"},
		{"google-raw NAME .robots:1",
			"Disallow: /*é/%25C3%25A9$\nDisallow: /*é$\nAllow: /b/*é/é$\n"},
		{"google-raw NAME .robots:1", "Disallow: /*é*\nAllow: /éé$\n"},
		{"google-raw NAME .robots:1",
			"Disallow: /é/%25C3%25A9/éé$\nDisallow: /é/\nAllow: /é/é/*éé*\n"},
		{"first-match PART-NAME .robots:1", "Disallow: /a\nUser-agent: foo\nDisallow: /b\n"},
	} {
		s := sites.Of(map[string]string{"/": c.note})
		if list := findings(inputOf(s, []byte(right(s))), true); !slices.Contains(list, c.want) {
			t.Errorf("%q: no %q among %q", c.note, c.want, list)
		}
	}

	// What holds for several robots is found once.
	s := sites.Of(map[string]string{
		"/": "User-agent: foo\nUser-agent: bar\nDisallow: /a$\nUser-agent: bar\nDisallow: /b\n"})
	seen := map[string]bool{}
	for _, f := range Check(inputOf(s, []byte(right(s)))).Findings {
		f.Robot, f.Examples = "", nil
		if text := fmt.Sprint(f); seen[text] {
			t.Errorf("twice: %s", text)
		} else {
			seen[text] = true
		}
	}
	in := rootInput("Disallow: /\n", "User-agent: *\nDisallow: /\n")
	in.Readers = []readers.Reader{{Name: "own", Groups: true,
		Forms: []readers.Form{readers.Raw}, Bare: true}}
	if list := findings(in, true); !slices.Equal(list, []string{"own ROOT-MENU .robots:1"}) {
		t.Errorf("the root menu: %q", list)
	}
}

// TestForeignAllow reads a file in which a robot has an Allow of other robots. No reader's
// way to count excuses that.
func TestForeignAllow(t *testing.T) {
	note := "Disallow: /\nAllow: /d/*x\nUser-agent: foo\nDisallow: /d/x/index.html*\n"
	foo := "\n\nUser-agent: foo\nDisallow: /d/x/index.html*\nDisallow: /d/x/index.html\n"
	for allow, want := range map[string]bool{"Allow: /d/*x\n": true, "": false} {
		list := findings(rootInput(note,
			"User-agent: *\nAllow: /d/*x\nDisallow: /"+foo+allow), true)
		if got := slices.Contains(list, "longest-match  .robots:4"); got != want {
			t.Errorf("%q: %q", allow, list)
		}
	}

	// Nor does a wider Allow of the robot's own, or a name that readers write otherwise.
	note = "User-agent: foo\nDisallow: /é/\nAllow: /\nUser-agent: bar\nAllow: /é/x\n"
	list := findings(rootInput(note,
		"User-agent: *\nDisallow: /.robots\n\nUser-agent: foo\nDisallow: /%C3%A9/\nDisallow: /é/\nAllow: /%C3%A9/x\nAllow: /\n"), true)
	if !slices.Contains(list, "rfc9309-raw  .robots:2") {
		t.Errorf("beside an Allow of everything: %q", list)
	}
}

// TestLinesAlone reads files in which one line is two to some reader. Their annotation is
// the one that the line is about.
func TestLinesAlone(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"Disallow: /b/x\u2028User-agent: zz", "longest-match  b/.robots:0"},
		{"Disallow: /b/x\u0085y", "first-match  b/.robots:0"},
		{"Disallow: /b/x\x0cDisallow: /c", "longest-match  b/.robots:0"},
		{"Disallow: /b/x\x00y", "rfc9309  b/.robots:0"},
		{"Allow: /b/y\u00a0", "first-match  b/.robots:0"},
		{"# note\u2029Allow: /", "longest-match  .robots:0"},
		{"User-agent: foo\u2028Disallow: /", "first-match  b/.robots:0"},
		{"Comment: we Disallow /c", "temoto NAME .robots:0"},
	} {
		in := rootInput("Disallow: /a\n",
			"User-agent: *\nDisallow: /a\nDisallow: /b/\n"+c.line+"\n")
		in.Notes = append(in.Notes,
			Note{Dir: "/b/", File: "b/.robots",
				Data: []byte("Disallow: /\nUser-agent: foo\nDisallow: /z\n")})
		if list := findings(in, true); !slices.Contains(list, c.want) {
			t.Errorf("%q: no %q among %q", c.line, c.want, list)
		}
	}
	in := rootInput("Disallow: /é/\n",
		"User-agent: *\nDisallow: /%C3%A9/\nDisallow: /é/\nDisallow: /é/*\u2000\n")
	if list := findings(in, true); len(list) > 0 {
		t.Errorf("a name that is not ASCII: %q", list)
	}
}

// TestTemoto reads files as temoto/robotstxt: it finds patterns with * or $ anywhere, the first
// of equally long ones decides, and each word of a line may be a field.
func TestTemoto(t *testing.T) {
	for _, c := range []struct {
		notes, lines string
		leaks        bool
	}{
		{"Disallow: /secret/\nAllow: /*.txt$\n", "Disallow: /secret/\nAllow: /*.txt$\n", true},
		{"Disallow: /s/\nAllow: /s/*.txt$\n", "Disallow: /s/\nAllow: /s/*.txt$\n", false},
		{"Disallow: /s/\nAllow: /s.txt\n", "Allow: /s.txt\nDisallow: /s/\n", false},
		{"Disallow: /a/bbbbb\nAllow: /a/b*b$\n", "Disallow: /a/bbbbb\nAllow: /a/b*b$\n", false},
		{"Disallow: /a/bbbbb\nAllow: /a/b*b$\n", "Allow: /a/b*b$\nDisallow: /a/bbbbb\n", true},
		{"Disallow: /s\n", "Disallow: /s\nComment: we Allow /s/x\n", true},
		{"Disallow: /s\n", "Disallow: /s\nComment: we would Allow /s/x\n", false},
	} {
		list := findings(rootInput(c.notes, "User-agent: *\n"+c.lines), true)
		if got := slices.Contains(list, "temoto NAME .robots:1"); got != c.leaks {
			t.Errorf("%q: leaks: %v, among %q", c.lines, got, list)
		}
	}
}

// TestDenied checks directories that are denied as a whole, and what is not read there.
func TestDenied(t *testing.T) {
	notes := []Note{
		{Dir: "/", File: ".robots", Data: []byte("Allow: /b/x\n")},
		{Dir: "/b/", File: "b/.robots", Err: errors.New("no")},
		{Dir: "/b/c/", File: "b/c/.robots", Data: []byte("Allow: /\n")},
		{Dir: "/~u/", File: "~u/.robots", Data: []byte("Allow: /\n")},
	}
	in := Input{Notes: notes, Shut: []string{"/d/", "/~"},
		File: []byte("User-agent: *\nAllow: /b/x\nDisallow: /b/\nDisallow: /b/**\nDisallow: /d/\nDisallow: /~\n")}
	rfc, _ := readers.Named("rfc9309")
	in.Readers = []readers.Reader{rfc}
	if list := findings(in, true); len(list) > 0 {
		t.Errorf("%q", list)
	}
	for line, want := range map[string]string{"Disallow: /b/**\n": "rfc9309  b/.robots:0",
		"Disallow: /d/\n": "rfc9309  :0", "Disallow: /~\n": "rfc9309  :0"} {
		spoilt := in
		spoilt.File = []byte(strings.Replace(string(in.File), line, "", 1))
		if list := findings(spoilt, true); !slices.Contains(list, want) {
			t.Errorf("without %q: %q", line, list)
		}
	}
}

// TestJoined checks that all robots that joined directories name are told what these
// directories deny to any of them, and may be told no more.
func TestJoined(t *testing.T) {
	notes := []Note{
		{Dir: "/", File: ".robots",
			Data: []byte("User-agent: foo\nDisallow: /*.zip$\nUser-agent: baz\nDisallow: /q\n")},
		{Dir: "/~a/", File: "~a/.robots",
			Data: []byte("Disallow: /x\nAllow: /pub/\nUser-agent: foo\nDisallow: /y\nUser-agent: bar\nAllow: /y/z\nFinal: /w\nContent-Usage: train-ai=n, search=y\n")},
		{Dir: "/~b/", File: "~b/.robots",
			Data: []byte("User-agent: veronica\nDisallow: /t\nUser-agent: *\nDisallow: /v\nUser-agent: bar\nDisallow: /u\n")},
	}
	list := []string{"/~a/x", "/~a/y", "/~a/w", "/~b/v", "/~b/u"}
	joined := "Disallow: " + strings.Join(list, "\nDisallow: ") + "\n"
	everybody := "User-agent: *\nDisallow: /~a/x\nAllow: /~a/pub/\nDisallow: /~b/v\n\n"
	rest := "User-agent: veronica\nDisallow: /~a/x\nAllow: /~a/pub/\nDisallow: /~b/t\n\nUser-agent: baz\nDisallow: /~a/x\nAllow: /~a/pub/\nDisallow: /q\nDisallow: /~b/v\n"
	file := everybody + "User-agent: foo\nDisallow: /*.zip$\n" + joined +
		"Content-Usage: /~a/ train-ai=n\n\nUser-agent: bar\n" + joined +
		"Content-Usage: /~a/ train-ai=n\n\n" + rest
	rfc, _ := readers.Named("rfc9309")
	in := Input{Notes: notes, Joined: []string{"/~a/", "/~b/"}, File: []byte(file),
		Readers: []readers.Reader{rfc}}
	if r := Check(in); len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
	for _, line := range append(list, "/q") {
		spoilt := in
		at := strings.LastIndex(file, "Disallow: "+line+"\n")
		spoilt.File = []byte(file[:at] + file[at+len("Disallow: "+line+"\n"):])
		if list := findings(spoilt, true); len(list) == 0 {
			t.Errorf("without the last %q nothing is found", line)
		}
	}
	spoilt := in
	spoilt.File = []byte(strings.Replace(file, "/~a/y\n", "/~a/\n", 1))
	if list := findings(spoilt, false); len(list) == 0 {
		t.Error("a line that nobody stated is not found")
	}
	spoilt.File = []byte(strings.Replace(file, "train-ai=n", "train-ai=n, search=y", 1))
	if list := findings(spoilt, true); !slices.Contains(list, "preferences  :0") {
		t.Errorf("a joined y: %q", list)
	}
}

// TestJoiningOpensNothing compares policies with and without joined directories: no robot
// may fetch more, and nothing changes for others or elsewhere.
func TestJoiningOpensNothing(t *testing.T) {
	list := []sites.Site{sites.Of(map[string]string{
		"/":    "User-agent: foo\nDisallow: /*.zip$\nAllow: /~a/*/z\n",
		"/~a/": "Disallow: /x\nAllow: /pub/y/\nUser-agent: bar\nDisallow: /y\n",
		"/~b/": "User-agent: foo\nDisallow: /q\n",
	})}
	for seed := *first; seed < *first+*drawn; seed++ {
		list = append(list, sites.Draw(rand.New(rand.NewPCG(seed, 24))))
	}
	changed := 0
	for i, s := range list {
		in := inputOf(s, nil)
		alone := Read(in)
		for j, n := range in.Notes {
			if top := topOf(n.Dir); n.Dir != "/" &&
				!slices.Contains(in.Joined, top) && (i+j)%3 > 0 {
				in.Joined = append(in.Joined, top)
			}
		}
		joined := Read(in)
		for _, robot := range append(alone.Robots(), "*") {
			before, after := alone.For(robot), joined.For(robot)
			for _, sel := range sites.Selectors(alone.Patterns()) {
				was, is := before.Decide(sel), after.Decide(sel)
				if was.Allowed == is.Allowed {
					continue
				}
				changed++
				if is.Allowed || !joined.c.joined[robot] || !joined.c.tops[topOf(sel)] {
					t.Fatalf("site %d, %s %q: %+v, joined %+v\n%s%q", i, robot, sel, was,
						is, s, in.Joined)
				}
			}
		}
	}
	if changed == 0 {
		t.Error("joining changed nothing")
	}
}

// TestPreferences compares preferences of annotations and files.
func TestPreferences(t *testing.T) {
	for _, c := range []struct{ note, file, leak, block string }{
		{"Content-Usage: search=n\nContent-Usage: /d/ train-ai=y\n",
			"Content-Usage: search=n\nContent-Usage: /d/ search=n, train-ai=y\n", "", ""},
		{"Content-Usage: search=n\nContent-Usage: /d/ train-ai=y\n",
			"Content-Usage: search=n\nContent-Usage: /d/ train-ai=y\n",
			"preferences  .robots:1", ""},
		{"Content-Usage: search=y\n", "Content-Usage: search=n\n", "", "preferences  .robots:1"},
		{"Content-Usage: search=n\n", "", "preferences  .robots:1", ""},
		{"Disallow: /x\n", "Disallow: /x\nContent-Usage: /d/ search=y\n", "preferences  :0", ""},
		{"Disallow: /x\n", "Disallow: /x\nContent-Usage: /*d search=y\n", "preferences  :0", ""},
		{"Content-Usage: search=n\n", "Content-Usage: search=n\nContent-Usage: search=y\n", "", ""},
	} {
		in := rootInput(c.note, "User-agent: *\n"+c.file)
		in.Readers = []readers.Reader{}
		leak, block := strings.Join(findings(in, true), ","), strings.Join(findings(in, false), ",")
		if leak != c.leak || block != c.block {
			t.Errorf("%q, %q: %q and %q, not %q and %q", c.note, c.file, leak, block,
				c.leak, c.block)
		}
	}
}

// TestRows gives each row of the table a file that lets it in.
func TestRows(t *testing.T) {
	for _, c := range []struct{ reader, note, file string }{
		{"veronica2", "User-agent: veronica\nDisallow: /a\n", "User-agent: *\n"},
		{"rfc9309", "Disallow: /a%2521\n",
			"User-agent: *\nDisallow: /a\nAllow: /%61%2521\nUser-agent: z\nDisallow: /a\n"},
		{"rfc9309-raw", "Disallow: /a?b\n", "User-agent: *\nDisallow: /a%3Fb\n"},
		{"google", "Disallow: /a b\n", "User-agent: *\nDisallow: /a b\n"},
		{"1994", "Disallow: /a\n", "User-agent: *\nDisallow: /*\nDisallow: /a%23\n"},
		{"first-match", "Disallow: /a\n", "User-agent: *\nDisallow:\nDisallow: /a\n"},
		{"longest-match", "Disallow: /a\n",
			"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /a*\n"},
		{"gemini", "Disallow: /a?b\n",
			"User-agent: *\nDisallow: /*b\nUser-agent: z\nDisallow: /a\n"},
		{"gopher-mcp", "Disallow: /a\n", "User-agent: *\nDisallow: /a\nUser-agent: gopher-mcp\n"},
		{"gopher-strict", "Disallow: /a$\n", "User-agent: *\nDisallow: /a$\n"},
		{"google-raw", "Disallow: /a b\n",
			"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /a%20b\n"},
	} {
		r, _ := readers.Named(c.reader)
		in := rootInput(c.note, c.file)
		in.Readers = []readers.Reader{r}
		if list := findings(in, true); len(list) == 0 {
			t.Errorf("%s is not let in: %q", c.reader, list)
		}
	}
}

// TestNames finds robots that files and annotations name, and what they contain.
func TestNames(t *testing.T) {
	right := "User-agent: *\nDisallow: /a\n\nUser-agent: foobot\nDisallow: /c\n\nUser-agent: foo\nDisallow: /b\n"
	in := rootInput("Disallow: /a\nUser-agent: foo\nDisallow: /b\nUser-agent: foobot\nDisallow: /c\n", right)
	old, _ := readers.Named("first-match")
	in.Readers = []readers.Reader{old}
	for _, f := range Check(in).Findings {
		if f.Leak && f.Code != PartName {
			t.Errorf("%+v", f)
		}
	}
	in.File = []byte("User-agent: *\nDisallow: /a\n\nUser-agent: foo\nDisallow: /b\n\nUser-agent: foobot\nDisallow: /c\n")
	if list := findings(in, true); !slices.Contains(list, "first-match  .robots:5") {
		t.Errorf("a part of a name stands first: %q", list)
	}
	long := strings.Repeat("n", 100_000) // in time, too
	in = rootInput("Disallow: /a\nUser-agent: "+long+"\nDisallow: /b\n",
		"User-agent: *\nDisallow: /a\n\nUser-agent: "+long+"\nDisallow: /a\n")
	if list := findings(in, true); !slices.Contains(list, "rfc9309  .robots:3") {
		t.Errorf("a long name: %q", list)
	}
	in = rootInput("Disallow: /a\n",
		"User-agent: *\nDisallow: /a\n\nUser-agent: zz\nDisallow: /.robots\n")
	if list := findings(in, true); !slices.Contains(list, "rfc9309  .robots:1") {
		t.Errorf("a robot that nobody named: %q", list)
	}
}

// TestLongerLine finds a line that denies what an Allow of the policy opens.
func TestLongerLine(t *testing.T) {
	file := "User-agent: *\nAllow: /xy\nDisallow: /x\n"
	in := rootInput("Disallow: /x\nAllow: /xy\n", file+"Disallow: /xyz\n")
	if list := findings(in, false); !slices.Contains(list, "rfc9309  .robots:2") {
		t.Errorf("%q", list)
	}
	in.File = []byte(file)
	if list := findings(in, false); slices.Contains(list, "rfc9309  .robots:2") {
		t.Errorf("without the line: %q", list)
	}
}

// TestSameEachTime proves a file twice.
func TestSameEachTime(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 25))
		s := sites.Draw(rnd)
		in := inputOf(s, []byte(sites.Faults[rnd.IntN(len(sites.Faults))].Spoil(rnd, s, right)))
		for _, n := range in.Notes[:len(in.Notes)/2] {
			in.Joined = append(in.Joined, topOf(n.Dir))
		}
		if first, again := Check(in), Check(in); !reflect.DeepEqual(first, again) {
			t.Fatalf("seed %d: %+v\n%+v", seed, first.Findings, again.Findings)
		}
	}
}

// TestOverBlocks asks readers of RFC 9309 for names. The proof finds each line by which
// they are denied more than the policy denies.
func TestOverBlocks(t *testing.T) {
	rfc, _ := readers.Named("rfc9309")
	found := 0
	for seed := *first; seed < *first+*drawn; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 23))
		s := sites.Draw(rnd)
		for _, fault := range sites.Faults {
			in := inputOf(s, []byte(fault.Spoil(rnd, s, right)))
			in.Readers = []readers.Reader{rfc}
			has := len(findings(in, false)) > 0
			policies := Read(in)
			names := sites.Selectors(policies.Patterns())
			for _, robot := range append(policies.Robots(), "*") {
				p, m := policies.For(robot),
					rfc.Matcher(rfc.Rules(readers.Open(in.File),
						strings.Replace(robot, "*", "zz", 1)))
				for _, sel := range names {
					if p.Decide(sel).Allowed && !m.Allowed(sel) {
						if found++; !has {
							t.Fatalf("seed %d, %s: %s %q\n%s\n%s", seed, fault.Name, robot,
								sel, s, in.File)
						}
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no fault denied too much")
	}
}
