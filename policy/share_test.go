package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
)

// many makes annotations of so many users, with the same text.
func many(n int, text string) map[string]string {
	notes := map[string]string{}
	for i := range n {
		notes[fmt.Sprintf("~u%05d/.robots", i)] = text
	}
	return notes
}

// rulesOf returns so many different rules.
func rulesOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// denied lists the files of the reports that say that a directory is denied.
func denied(c *Compiled) (list []string) {
	for _, r := range c.Reports() {
		if r.Code == CodeCoarsened || r.Code == CodeTooLarge || r.Code == CodeUnnamedLeak {
			list = append(list, r.Code+" "+r.File)
		}
	}
	slices.Sort(list)
	return list
}

// TestBareLinesGoFirst: 8,000 users of two lines each keep their homes open; the file is
// written without lines that lack a slash, and the server closes these spellings.
func TestBareLinesGoFirst(t *testing.T) {
	c := compileOf(many(8000, "Disallow: /drafts/\nDisallow: /private/\n"))
	if list := denied(c); len(list) > 0 || len(c.File()) > maxBytes {
		t.Fatalf("%d bytes, denied: %q", len(c.File()), list)
	}
	if bytes := string(c.File()); strings.Contains(bytes, ": ~") || strings.Count(bytes, "Disallow: /~u") != 16000 {
		t.Error("a line without a slash is left, or another lost")
	}
	for sel, want := range map[string]bool{"/~u07999/drafts/x": true, "/~u00000/x": false} {
		if c.Denied(sel[1:], false) != want || want && !c.Closed(sel, sel[1:]) {
			t.Errorf("%s is denied: %v, closed without a slash: %v", sel, !want, c.Closed(sel, sel[1:]))
		}
	}
	few := string(compileOf(many(4000, "Disallow: /drafts/\nDisallow: /private/\n")).File())
	if !strings.Contains(few, "\nDisallow: ~u00000/drafts/\n") {
		t.Error("bare lines are left out of a file that is small enough")
	}
	half := many(4500, "Disallow: /drafts/\nDisallow: /private/\n") // fits without bare lines, weak readers' whole group in it
	half["odd/.robots"] = "Disallow: /*x%23y/\n"
	if c := compileOf(half); !strings.Contains(string(c.File()), "\nUser-agent: veronica\n") || strings.Contains(string(c.File()), ": ~") {
		t.Errorf("%d bytes, without bare lines: the group for weak readers is cut, or bare lines are not", len(c.File()))
	}
}

// TestBorrowers: who takes more than a share is denied as a whole, the largest first, and
// only until the file fits; who is within the share keeps what the rules say.
func TestBorrowers(t *testing.T) {
	notes := many(300, "Disallow: /drafts/\n")
	for i := range 9 {
		notes[fmt.Sprintf("~mallory/%d/.robots", i)] = rulesOf(1000, "Disallow: /something-else-to-be-said-%04d/\n")
	}
	for i := range 4 {
		notes[fmt.Sprintf("~nick/%d/.robots", i)] = rulesOf(900, "Disallow: /nick%03d/\n")
	}
	c := compileOf(notes)
	if list := denied(c); !slices.Equal(list, []string{"COARSENED ~mallory/0/.robots"}) {
		t.Fatalf("denied: %q", list)
	}
	for name, want := range map[string]bool{"~mallory/x": true, "~nick/x": false, "~nick/3/nick899/x": true, "~u00299/drafts/x": true, "~u00299/x": false} {
		if c.DeniedToAll(name, false) != want {
			t.Errorf("%s is denied: %v", name, !want)
		}
	}
	for _, r := range c.Reports() {
		if r.Code == CodeCoarsened && !strings.Contains(r.Message, "of 512000; its share is 16") {
			t.Errorf("it says %q", r.Message)
		}
	}
	delete(notes, "~mallory/8/.robots")
	for i := range 6 {
		delete(notes, fmt.Sprintf("~mallory/%d/.robots", i))
	}
	if list := denied(compileOf(notes)); len(list) > 0 {
		t.Errorf("what others do not use is not lent: %q", list)
	}
}

// Groups that several name cost none of them more than its own lines as long as the others
// name them. If that leaves nobody to deny, all who name them are.
func TestBorrowersTogether(t *testing.T) {
	notes := many(300, "Disallow: /drafts-that-are-not-yet-to-be-read-by-anybody-else/\n")
	list := rulesOf(40, "User-agent: bot%[1]d\nDisallow: /%[1]d/\n")
	notes["~ann/.robots"], notes["~bob/.robots"] = list, list
	if got := denied(compileOf(notes)); !slices.Equal(got, []string{"COARSENED ~ann/.robots", "COARSENED ~bob/.robots"}) {
		t.Errorf("denied: %q", got)
	}
}

// TestTooManyAuthors: a site that is too large without a borrower is denied, and the
// message says how many authors fit.
func TestTooManyAuthors(t *testing.T) {
	c := compileOf(many(26_000, "Disallow: /x\n"))
	if list := denied(c); !slices.Equal(list, []string{"TOO-LARGE ~u00000/.robots"}) || string(c.File()) != header+"\n"+string(DenyAll()) {
		t.Fatalf("%q\n%.200s", list, c.File())
	}
	if message := c.Reports()[0].Message; !strings.HasPrefix(message, "the whole site is denied: ") || !strings.Contains(message, "26000 directories have annotations; with lines like theirs about 24380 fit") {
		t.Errorf("it says %q", message)
	}
}

// TestPrice: a group for robots counts against who names them, and nobody is charged more
// than the file would be shorter without those names.
func TestPrice(t *testing.T) {
	long := rulesOf(1000, "Disallow: /something-to-say-%06d/\n")
	notes := many(100, "Disallow: /drafts/\n")
	for i := range 6 {
		notes[fmt.Sprintf("~ann/%d/.robots", i)] = long
	}
	notes["~bob/.robots"] = rulesOf(30, "User-agent: bot%d\nDisallow: /%[1]d/\n") // a group each, with Ann's lines in it
	c := compileOf(notes)
	if list := denied(c); !slices.Equal(list, []string{"COARSENED ~bob/.robots"}) {
		t.Errorf("denied: %q", list)
	}
	delete(notes, "~bob/.robots")
	if list := denied(compileOf(notes)); len(list) > 0 {
		t.Errorf("without Bob's robots: %q", list)
	}
}

// TestBounds: an annotation past a bound closes its directory, and the message has the
// number and the bound; one at the bound closes nothing.
func TestBounds(t *testing.T) {
	tops := func(n int) map[string]string {
		notes := map[string]string{"d/last/.robots": rulesOf(n, "Disallow: /%d\n"), "e/.robots": "Disallow: /x\n"}
		for i := range 10 {
			notes[fmt.Sprintf("d/%d/.robots", i)] = rulesOf(999, "Disallow: /%d\n")
		}
		return notes
	}
	for name, test := range map[string]struct {
		at, past   map[string]string
		file, says string
	}{
		"rules":    {notesOf("d/", rulesOf(1000, "Disallow: /%d\n")), notesOf("d/", rulesOf(9000, "Disallow: /%d\n")), "d/.robots", "9000 rules; the bound is 1000"},
		"Allows":   {notesOf("d/", rulesOf(1000, "Allow: /%d\n")), notesOf("d/", rulesOf(1001, "Allow: /%d\n")), "d/.robots", "1001 rules; the bound is 1000"},
		"usages":   {notesOf("d/", rulesOf(1000, "Content-Usage: /%d search=n\n")), notesOf("d/", rulesOf(1001, "Content-Usage: /%d search=n\n")), "d/.robots", "1001 rules; the bound is 1000"},
		"globs":    {notesOf("d/", rulesOf(64, "Disallow: /*%d\n")+"Disallow: /x*\n"), notesOf("d/", rulesOf(990, "Disallow: /*%d%%41$\n")), "d/.robots", "990 patterns with a * before their end; the bound is 64"},
		"bytes":    {notesOf("d/", strings.Repeat("#", maxAnnotation)), notesOf("d/", strings.Repeat("#", maxAnnotation+1)), "d/.robots", "more than 500 KiB"},
		"a top":    {tops(10), tops(11), "d/0/.robots", "10001 rules; the bound is 10000"},
		"its root": {root(rulesOf(1000, "Disallow: /%d\n")), root(rulesOf(1001, "Disallow: /%d\n")), ".robots", "1001 rules; the bound is 1000"},
	} {
		if list := denied(compileOf(test.at)); len(list) > 0 {
			t.Errorf("%s: at the bound: %q", name, list)
		}
		c := compileOf(test.past)
		if list := denied(c); !slices.Equal(list, []string{"TOO-LARGE " + test.file}) || !strings.Contains(c.Reports()[0].Message, test.says) {
			t.Errorf("%s: %q %v", name, list, c.Reports())
		}
		if !c.DeniedToAll("d/anything", false) || c.DeniedToAll("e/y", false) != (name == "its root") {
			t.Errorf("%s: not the directory is denied, or more\n%s", name, c.File())
		}
		for _, n := range c.notes {
			if len(n.rules) > maxRules {
				t.Errorf("%s: %d rules are kept", name, len(n.rules))
			}
		}
	}
}

// TestManyPairs: a top-level directory whose patterns make too many pairs is denied, and
// no other.
func TestManyPairs(t *testing.T) {
	notes := map[string]string{"e/.robots": "Disallow: /x\n"}
	for i := range 10 {
		notes[fmt.Sprintf("d/%d/.robots", i)] = "Disallow: /q\n"
		notes["d/"+strings.Repeat("s/", i)+".robots"] = rulesOf(60, "Disallow: /*a%d\n") + rulesOf(900, "Allow: /b%d\n")
	}
	c := compileOf(notes)
	if list := denied(c); !slices.Equal(list, []string{"TOO-LARGE d/.robots"}) || !strings.Contains(c.Reports()[0].Message, "100000 pairs") {
		t.Errorf("%q: %v", list, c.Reports()[0])
	}
	if !c.DeniedToAll("d/x", false) || c.DeniedToAll("e/y", false) {
		t.Errorf("not d/ is denied, or more")
	}
}

// TestUnnamedLeak: a leak that no report names denies the directory of its rule, not the
// site; what that does not cure is unproven.
func TestUnnamedLeak(t *testing.T) {
	faulty := func(spoil func(string) string) *work {
		w := work{Compiled: compileOf(map[string]string{"a/.robots": "Disallow: /x\n", "b/.robots": "Disallow: /x\n"}), denied: map[string]*note{}, stale: true}
		for round := 0; round < 5; round++ {
			w.write()
			w.file = []byte(spoil(string(w.file)))
			if w.prove(nil, round) {
				break
			}
		}
		return &w
	}
	once := faulty(func(file string) string { return strings.Replace(file, "Disallow: /a/x\n", "", 1) })
	if list := once.said; len(list) != 1 || list[0].Code != CodeUnnamedLeak || list[0].File != "a/.robots" || !strings.Contains(list[0].Message, `into "/a/x"`) || len(once.Unproven()) > 0 {
		t.Errorf("%v, %v", list, once.Unproven())
	}
	rfc := robots.Parse(robots.RFC9309, once.file)
	if rfc.Allowed("zed", "/a/") || !rfc.Allowed("zed", "/b/") || rfc.Allowed("zed", "/b/x") {
		t.Errorf("the file:\n%s", once.file)
	}
	always := faulty(func(string) string { return "User-agent: *\nDisallow: /b/\n" })
	if list := always.Unproven(); len(list) == 0 || list[0].String() == "" || always.denied["/"] != nil && len(list) == 0 {
		t.Errorf("unproven: %v, %v", list, always.said)
	}
}

// A file that is too large even without its lines for selectors that lack a slash says
// less to readers that know only Disallow, and what they lose is reported. It closes
// nobody's directory.
func TestWeakCut(t *testing.T) {
	notes := map[string]string{".robots": "Disallow: /*.zip$\nDisallow: /attic/log$\n"}
	for i := range 6500 {
		notes[fmt.Sprintf("~u%04d/.robots", i)] = "Disallow: /private/\nAllow: /private/pub/\n"
	}
	c := compileOf(notes)
	if len(c.shut) > 0 || len(c.Unproven()) > 0 {
		t.Errorf("%d directories are denied, %d leaks are unproven", len(c.shut), len(c.Unproven()))
	}
	for _, reader := range []string{"veronica2", "gopher-strict", "rfc9309", "1994"} {
		if reads(t, reader, c.File(), veronica)("/~u0001/private/x") {
			t.Errorf("%s may fetch a private file", reader)
		}
	}
	named := map[string]bool{}
	for _, r := range c.Reports() {
		for _, reader := range r.Readers {
			named[fmt.Sprint(r.Code, r.Line, reader)] = true
		}
	}
	for _, want := range []string{CodeAnchor + "1veronica2", CodeAnchor + "2veronica2"} {
		if !named[want] {
			t.Errorf("no report is %s: %v", want, named)
		}
	}
}

// Explain says why the group for veronica states no preference.
func TestNoUsage(t *testing.T) {
	for text, agents := range map[string]map[string]bool{
		"Content-Usage: train-ai=n\nDisallow: /a$\n": {"veronica": true, "Veronica": true, "foo": false},
		"Disallow: /a$\n": {"veronica": false},
	} {
		c := compileOf(map[string]string{".robots": text})
		for agent, want := range agents {
			if e := c.Explain(agent, "b", false); (e.NoUsage != "") != want {
				t.Errorf("%q: %s: %q, %v", text, agent, e.NoUsage, e.Usage)
			}
		}
	}
}
