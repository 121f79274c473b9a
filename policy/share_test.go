package policy

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
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

// TestBorrowers: who takes more than a share is denied as a whole, the largest first, and
// only until the file fits; who is within the share keeps what the rules say.
func TestBorrowers(t *testing.T) {
	notes := many(300, "Disallow: /drafts/\n")
	for i := range 9 {
		notes[fmt.Sprintf("~mallory/%d/.robots", i)] = rulesOf(1000,
			"Disallow: /something-else-to-be-said-%04d/\n")
	}
	for i := range 4 {
		notes[fmt.Sprintf("~nick/%d/.robots", i)] = rulesOf(900, "Disallow: /nick%03d/\n")
	}
	for i := range 3 { // what is repeated counts once
		notes[fmt.Sprintf("~nick/again%d/.robots", i)] = strings.Repeat(
			"Disallow: /"+strings.Repeat("repeated-", 26)+"/\n", 1000)
	}
	c := compileOf(notes)
	if list := denied(c); !slices.Equal(list, []string{"COARSENED ~mallory/0/.robots"}) {
		t.Fatalf("denied: %q", list)
	}
	for name, want := range map[string]bool{"~mallory/x": true, "~nick/x": false,
		"~nick/3/nick899/x": true, "~u00299/drafts/x": true, "~u00299/x": false} {
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

// TestJoined: homes that name many robots are joined before any is denied. What a joined
// home denies to some robots that it names it denies to all of them; nothing changes for
// other robots, or below other directories.
func TestJoined(t *testing.T) {
	notes := many(300, "Disallow: /drafts-that-are-not-yet-to-be-read-by-anybody-else/\n")
	list := rulesOf(40, "User-agent: bot%[1]d\nDisallow: /%[1]d/\nAllow: /%[1]d/x\n")
	notes["~ann/.robots"] = "Disallow: /all/\nAllow: /all/open\n" + list
	notes["~ann/a/.robots"] = rulesOf(1001, "Disallow: /%d/\n") // too many: denied
	notes["~ann/b/.robots"] = "User-agent: bot3\nDisallow: /deep/\n"
	notes["~bob/.robots"] = "User-agent: bot3\nDisallow: /three/\nUser-agent: other\nDisallow:\nDisallow: /o/\n"
	c := compileOf(notes)
	if got := denied(c); !slices.Equal(got, []string{"TOO-LARGE ~ann/a/.robots"}) ||
		!slices.Equal(c.joined, []string{"/~ann/"}) {
		t.Fatalf("denied: %q, joined: %q", got, c.joined)
	}
	for _, test := range []struct {
		robot, name string
		allowed     bool
	}{
		{"bot1", "~ann/1/y", false}, {"bot1", "~ann/1/x", false}, {"bot1", "~ann/2/y", false},
		{"bot1", "~ann/all/y", false}, {"bot1", "~ann/all/open", false},
		{"bot1", "~ann/x", true}, {"bot1", "~bob/three/", true}, {"bot3", "~bob/three/", false},
		{"bot3", "~ann/1/y", false}, {"bot1", "~ann/b/deep/y", false}, {"bot1", "~ann/b/y", true},
		{"zed", "~ann/1/y", true}, {"zed", "~ann/all/y", false}, {"zed", "~ann/all/open", true},
		{"other", "~ann/1/y", true}, {"other", "~bob/o/", false},
	} {
		if e := c.Explain(test.robot, test.name,
			strings.HasSuffix(test.name, "/")); e.Allowed != test.allowed ||
			e.Joined != (!e.Allowed && test.robot != "zed" && strings.HasPrefix(e.By.File, "~ann/")) {
			t.Errorf("%s is allowed %s: %+v", test.robot, test.name, e)
		}
	}
	said := map[int]bool{}
	for _, r := range c.Reports() {
		if r.Code == CodeJoined && r.File == "~ann/.robots" {
			said[r.Line] = true
		} else if r.Code == CodeJoined && r.File != "~ann/b/.robots" {
			t.Errorf("not joined: %v", r)
		}
	}
	if !said[1] || !said[2] || !said[4] || !said[5] {
		t.Errorf("not every line of the joined annotation is named: %v", said)
	}
}

// TestLists: where hundreds of homes have a list of robots, in many variants, none is
// denied, and the robots share few groups.
func TestLists(t *testing.T) {
	for _, root := range []string{"",
		"User-agent: bot007-crawler\nUser-agent: bot100-crawler\nDisallow: /\n"} {
		notes := lists(600)
		notes[".robots"] = root
		c := compileOf(notes)
		if list := denied(c); len(list) > 0 || len(c.File()) > maxBytes {
			t.Errorf("%d bytes, denied: %q", len(c.File()), list)
		}
		for robot, want := range map[string]bool{"zed": true, "bot050-crawler": false} {
			if e := c.Explain(robot, "~user0001/x", false); e.Allowed != want {
				t.Errorf("%s is allowed x: %v", robot, e.Allowed)
			}
		}
	}
}

// TestTooManyAuthors: where not even the lines fit that deny borrowers, one line denies all
// homes and leaves the rest open; directories that are no homes close the site, and the
// message names -users.
func TestTooManyAuthors(t *testing.T) {
	notes := many(26_000, "Disallow: /x\n")
	notes["pub/.robots"] = "Disallow: /y\n"
	notes[".robots"] = "Allow: /~u00003/open\n"
	for i := range 9 { // which is denied before, and stays so
		notes[fmt.Sprintf("big/%d/.robots", i)] = rulesOf(1000,
			"Disallow: /something-else-to-be-said-%04d/\n")
	}
	c := compileOf(notes)
	if list := denied(c); !slices.Equal(list, []string{"COARSENED big/0/.robots",
		"TOO-LARGE ~u00000/.robots"}) ||
		!strings.Contains(string(c.File()), "\nDisallow: /~\n") {
		t.Fatalf("%.200q\n%.200s", list, c.File())
	}
	for name, want := range map[string]bool{"~u00001/q": true, "~u00003/open": true, "~new/": true,
		"pub/y": true, "pub/x": false, "x": false} {
		if c.DeniedToAll(name, false) != want {
			t.Errorf("%s is denied: %v", name, !want)
		}
	}
	others := map[string]string{}
	for i := range 30_000 {
		others[fmt.Sprintf("d%05d/.robots", i)] = "Disallow: /x\n"
	}
	c = compileOf(others)
	if list := denied(c); len(list) != 1 || string(c.File()) != header+"\n"+string(DenyAll()) {
		t.Fatalf("%.200q\n%.200s", list, c.File())
	}
	if message := c.Reports()[0].Message; !strings.Contains(message,
		"30000 directories have annotations; with lines like theirs about") ||
		!strings.Contains(message, "-users") {
		t.Errorf("it says %q", message)
	}
}

// TestBounds: an annotation past a bound closes its directory, and the message has the
// number and the bound; one at the bound closes nothing.
func TestBounds(t *testing.T) {
	tops := func(n int) map[string]string {
		notes := map[string]string{"d/last/.robots": rulesOf(n, "Disallow: /%d\n"),
			"e/.robots": "Disallow: /x\n"}
		for i := range 10 {
			notes[fmt.Sprintf("d/%d/.robots", i)] = rulesOf(999, "Disallow: /%d\n")
		}
		return notes
	}
	for name, test := range map[string]struct {
		at, past   map[string]string
		file, says string
	}{
		"rules": {notesOf("d/", rulesOf(1000, "Disallow: /%d\n")),
			notesOf("d/", rulesOf(9000, "Disallow: /%d\n")), "d/.robots",
			"9000 rules; the bound is 1000"},
		"Allows": {notesOf("d/", rulesOf(1000, "Allow: /%d\n")),
			notesOf("d/", rulesOf(1001, "Allow: /%d\n")), "d/.robots",
			"1001 rules; the bound is 1000"},
		"usages": {notesOf("d/", rulesOf(1000, "Content-Usage: /%d search=n\n")),
			notesOf("d/", rulesOf(1001, "Content-Usage: /%d search=n\n")), "d/.robots",
			"1001 rules; the bound is 1000"},
		"globs": {notesOf("d/", rulesOf(600, "Disallow: /*%d\n")+"Disallow: /x*\n"),
			notesOf("d/", rulesOf(990, "Disallow: /*%d%%41$\n")), "d/.robots",
			"990 patterns with a * before their end; the bound is 600"},
		"bytes": {notesOf("d/", strings.Repeat("#", maxAnnotation)),
			notesOf("d/", strings.Repeat("#", maxAnnotation+1)), "d/.robots", "more than 500 KiB"},
		"a top": {tops(10), tops(11), "d/0/.robots", "10001 rules; the bound is 10000"},
		"its root": {root(rulesOf(1000, "Disallow: /%d\n")), root(rulesOf(1001, "Disallow: /%d\n")),
			".robots", "1001 rules; the bound is 1000"},
	} {
		if list := denied(compileOf(test.at)); len(list) > 0 {
			t.Errorf("%s: at the bound: %q", name, list)
		}
		c := compileOf(test.past)
		if list := denied(c); !slices.Equal(list, []string{"TOO-LARGE " + test.file}) ||
			!strings.Contains(c.Reports()[0].Message, test.says) {
			t.Errorf("%s: %q %v", name, list, c.Reports())
		}
		if !c.DeniedToAll("d/anything", false) ||
			c.DeniedToAll("e/y", false) != (name == "its root") {
			t.Errorf("%s: not the directory is denied, or more\n%s", name, c.File())
		}
		for _, n := range c.notes {
			if len(n.rules) > maxRules {
				t.Errorf("%s: %d rules are kept", name, len(n.rules))
			}
		}
	}
}

// TestUnnamedLeak: a leak that no report names denies the directory of its rule, not the
// site; what that does not cure is unproven.
func TestUnnamedLeak(t *testing.T) {
	faulty := func(spoil func(string) string) *work {
		w := work{Compiled: &Compiled{readers: readers.All()},
			in: inputOf(map[string]string{"a/.robots": "Disallow: /x\n",
				"b/.robots": "Disallow: /x\nUser-agent: veronica\nDisallow: /y\n"}),
			left: map[string]bool{}}
		for range 10 {
			w.read()
			w.fit()
			w.file = []byte(spoil(string(w.file)))
			if w.prove() {
				break
			}
		}
		return &w
	}
	once := faulty(func(file string) string {
		return strings.Replace(file, "Disallow: /a/x\n", "", 1)
	})
	if list := once.said; len(list) != 1 || list[0].Code != CodeUnnamedLeak ||
		list[0].File != "a/.robots" || !strings.Contains(list[0].Message, `into "/a/x`) ||
		len(once.Unproven()) > 0 {
		t.Errorf("%v, %v", list, once.Unproven())
	}
	rfc := robots.Parse(robots.RFC9309, once.file)
	if rfc.Allowed("zed", "/a/") || !rfc.Allowed("zed", "/b/") || rfc.Allowed("zed", "/b/x") {
		t.Errorf("the file:\n%s", once.file)
	}
	hers := faulty(func(file string) string {
		return strings.ReplaceAll(file, "Disallow: /b/y\n", "")
	})
	if list := hers.said; len(list) != 1 || list[0].File != "b/.robots" ||
		!strings.Contains(list[0].Message, "lets robot veronica into") {
		t.Errorf("of veronica: %v\n%s", list, hers.file)
	}
	always := faulty(func(string) string { return "User-agent: *\nDisallow: /b/\n" })
	if list := always.Unproven(); len(list) == 0 || list[0].String() == "" ||
		always.denied["/"] != nil {
		t.Errorf("unproven: %v, %v", list, always.said)
	}
}

// A file that is too large says less to readers that know only Disallow, and what they lose is reported. It closes
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
		"Content-Usage: train-ai=n\nDisallow: /a$\n": {"veronica": true,
			"Veronica": true, "foo": false},
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

// TestOwnRobotsDenied: of 5,000 homes that each name a robot of their own hardly any is
// denied, since each pays for its robot's name, too.
func TestOwnRobotsDenied(t *testing.T) {
	c := compileOf(own(5000))
	if len(c.shut) > 60 || len(c.file) > maxBytes {
		t.Errorf("%d homes are denied, the file has %d bytes", len(c.shut), len(c.file))
	}
}

// TestOwnRobots: twice as many homes that each name a robot of their own take about twice
// the memory to compile, not four times as much.
func TestOwnRobots(t *testing.T) {
	for _, text := range []string{"Disallow: /\n", "Disallow: /\nAllow: /pub/\n"} {
		spent := func(homes int) uint64 {
			notes := map[string]string{}
			for i := range homes {
				notes[fmt.Sprintf("~u%04d/.robots",
					i)] = fmt.Sprintf("Disallow: /drafts/\nUser-agent: robot%04d\n", i) + text
			}
			in := inputOf(notes)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := Compile(in)
			runtime.ReadMemStats(&after)
			if len(c.joined) != homes || len(c.shut) > 0 {
				t.Errorf("%d homes of %d are joined, %q are denied", len(c.joined), homes, c.shut)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := spent(1000), spent(2000); many > 3*few {
			t.Errorf("%q: 1,000 homes take %d bytes, 2,000 take %d", text, few, many)
		}
	}
}
