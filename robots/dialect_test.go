package robots

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots/readers"
)

// decisions are the requirements, each with the smallest file that shows it.
// "+" before a selector: allowed; "-": denied.
var decisions = []struct {
	id      string
	dialect Dialect
	file    string
	agent   string
	want    string // selectors, separated by blanks
}{
	{"G3", Gopher, "Disallow: /a\r\nDisallow: /b\n", "x", "-/a -/b +/c"},
	{"G3", Gopher, "Disallow: /a\rb\n", "x", "+/a -/a\rb"},
	{"G4", readers.GopherStrict, "User-agent: y\nDisallow: /a\nfoo\nDisallow:/b", "x",
		"-/a -/b +/c"},
	{"G4", Gopher, "Disallow: /a\nUser-agent: y\nDisallow: /b", "x", "-/a +/b"},
	{"G4", Gopher, "Disallow:\n", "x", "+/a"},
	{"G5", Gopher, "Disallow:\t  /a \t\n", "x", "-/a +/b"},
	{"G6", Gopher, "Disallow: a\n", "x", "-a -ab +/a +ba"},
	{"G7", Gopher, "Disallow: /a*c\n", "x", "-/ac -/abc -/a/b/c/d -/a\nc +/ab +a/c"},
	{"G8", Gopher, "Disallow: /a$\nDisallow: /priv\n", "x", "+/a -/a$ -/a$b -/privilege.txt"},
	{"G9", Gopher, "Disallow: /a # all\n# Disallow: /b\nDisallow: /c#d\n", "x", "-/a +/b -/c -/ce"},
	{"G10", Gopher, "Disallow: /a\nAllow: /a/b\n", "x", "-/a/b"},
	{"G10", readers.GopherStrict, "User-agent: y\nAllow: /a/b\nDisallow: /a\n", "x", "-/a/b"},
	{"G10", Gopher, "Disallow: /%41\n", "x", "+/A -/%41"}, // bytes are never decoded

	{"R1", RFC9309, "User-agent: a\nUser-agent: b\n\nDisallow: /x\nUser-agent: c\nDisallow: /y\n",
		"b", "-/x +/y"},
	{"R1", RFC9309, "User-agent: a\nUser-agent: b\n\nDisallow: /x\nUser-agent: c\nDisallow: /y\n",
		"c", "+/x -/y"},
	{"R2", RFC9309, " USER-AGENT\t:  a # b\r disallow :/x#y\r\nAllow: /x/z", "a", "-/x +/x/z"},
	{"R2", RFC9309, "User-agent: a\nAllow /x\n: /y\nDisallow /x y\n", "a", "+/x +/y"},
	{"R2", Gopher, "User-agent: a\nDisallow /x\n: /y\nDisalow: /x\n", "a", "+/x +/y"},
	{"R2", RFC9309, "User-agent: a\nDisallow: /x y\n", "a", "+/x -/x%20y"},
	{"R2", RFC9309, "User-agent: a\nDisallow: /x\x00y\n", "a", "-/x -/xz"},
	{"R3", RFC9309, "User-agent: MJ12bot/1.4\nDisallow: /x\n\nUser-agent: mj12BOT\nDisallow: /y\n",
		"mj12bot (+u)", "-/x -/y"},
	{"R3", RFC9309, "User-agent: bot\nDisallow: /x\nUser-agent: botany\nDisallow: /y\n",
		"bots", "+/x +/y"},
	{"R3", RFC9309, "User-agent: bot*\nDisallow: /x\n", "bot", "-/x"},
	{"R4", RFC9309, "User-agent: *\nDisallow: /x\nUser-agent: a\nDisallow: /y\nUser-agent: *\nDisallow: /z\n", "b", "-/x +/y -/z"},
	{"R4", RFC9309, "User-agent: *\nDisallow: /x\nUser-agent: a\nDisallow: /y\n", "a", "+/x -/y"},
	{"R4", RFC9309, "User-agent: a\nDisallow: /x\n", "b", "+/x"},
	{"R5", RFC9309, "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nAllow: /d\nDisallow: /d\n", "x", "-/a +/a/b -/a/b/c +/d +/A"},
	{"R5", RFC9309, "User-agent: *\nDisallow: /\n", "x",
		"+/robots.txt -/robots.txt2 +http://h/robots.txt"},
	{"R5", RFC9309, "User-agent: *\nDisallow: /foo*\nAllow: /foo\n", "x", "-/foo"},
	{"R5", RFC9309, "User-agent: *\nDisallow: x\n", "x", "+/x"},
	{"R6", RFC9309, "User-agent: *\nDisallow: /%41%2f\nDisallow: /é\nDisallow: /%7e\n", "x",
		"-/A%2F +/A/ -/%C3%A9 -/%c3%a9 -/é -/~ +/%25"},
	{"R7", RFC9309, "User-agent: *\nDisallow: /a*b$\nDisallow: /%2A\nDisallow: /%24\nDisallow: /c$d\n", "x", "-/ab -/axxb +/abc -/* +/x -/$ -/c$d"},
	// Behind a star an escaped reserved byte matches an escaped one alone, in the query, too;
	// behind a "?" of the pattern both are the same.
	{"R6", RFC9309, "User-agent: *\nDisallow: /*%2Fb\nDisallow: /q*?%3D\nDisallow: /r*=z\n", "x",
		"+/a?x/b -/a?x%2fb -/a%2Fb? +/a/b -/qa?= -/qa?%3d -/qa?b%2Fb -/r?%3Dz -/r?=z"},
	{"R8", RFC9309, "Disallow: /x\nUser-agent: a\nDisallow: /y\n", "a", "+/x -/y"},
	{"R9", RFC9309, "User-agent: *\nCrawl-delay: 3\nUser-agent: a\nSitemap: s\nDisallow: /x\n", "b", "-/x"},
	{"R10", RFC9309, "\ufeffUser-agent: *\nDisallow: /x\n\xff\xfe\n", "a", "-/x"},

	{"E7124", RFC9309, "User-agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", "foobot", "-/example/page/disallowed.gif +/example/page/disallow.gif"},
	{"E7128", RFC9309, "User-agent: *\nDisallow: /foo/bar/\u30c4\nDisallow: /q/%E3%83%84\n", "x",
		"-/foo/bar/%E3%83%84 -/q/\u30c4 +/foo/bar/%E3%84%84"},
	{"E7995", RFC9309, "User-agent: *\nDisallow: *.gif$\n", "x",
		"-/a.gif -/b/c.gif +/a.gif?z +/a.gifs"},
	{"E8895", RFC9309, "User-agent: a, b\nDisallow: /x\n", "a", "-/x"},
	{"E8895", RFC9309, "User-agent: a, b\nDisallow: /x\n", "b", "+/x"},

	{"S1", readers.Standard1994, "User-agent: a\nDisallow: /x\n\nDisallow: /y\n", "a", "-/x +/y"},
	{"S2", readers.Standard1994, "User-agent: a\nUser-agent: b\nDisallow: /x\nDisallow: /y\n",
		"b", "-/x -/y"},
	{"S3", readers.Standard1994, "User-agent: *\nDisallow: /x\n\nUser-agent: a\nDisallow: /y\n",
		"a", "+/x -/y"},
	{"S3", readers.Standard1994, "User-agent: *\nDisallow: /x\n\nUser-agent: a\nDisallow: /y\n",
		"b", "-/x +/y"},
	{"S4", readers.Standard1994, "User-agent: *\nDisallow: /a*b\nDisallow: /c$\n", "a",
		"+/axb -/a*b +/c -/c$d"},
	{"S5", readers.Standard1994,
		"User-agent: a\nDisallow:\n\nUser-agent: *\nDisallow: /\n", "a", "+/x"},
	{"S6", readers.Standard1994, "User-agent: Bot/2\nDisallow: /x\n", "SuperBOTany/1.0", "-/x"},
	{"S6", readers.Standard1994, "User-agent: 1.0\nDisallow: /x\n", "bot/1.0", "+/x"},
	{"S7", readers.Standard1994,
		"User-agent: *\nFoo: bar\nDisallow: /x\nAllow: /x/y\n", "a", "-/x/y"},
	{"S8", readers.Standard1994, "User-agent: *\n# note\n  # note\nDisallow: /x\n", "a", "-/x"},
	{"S9", readers.Standard1994, "", "a", "+/x"},

	{"C1", readers.Extended,
		"User-agent: a\nVisit-time: 0600-0800\nUser-agent: b\nDisallow: /x\n", "a", "+/x"},
	{"C1", readers.Extended, "User-agent: a\nUser-agent: b\nDisallow: /x\n\nDisallow: /y\n",
		"a", "-/x -/y"},
	{"C2", readers.Extended, "User-agent: a\nDisallow: /x#y # z\n#Disallow: /z\n", "a",
		"+/x -/x#y +/z"},
	{"C3", readers.Extended, "User-agent: a\nRobot-version: 2.0\nDisallow: /x\n", "a", "-/x +/xy"},
	{"C3", readers.Extended, "User-agent: a\nRobot-version: 2.4.1\nDisallow: /x\n", "a", "+/xy"},
	{"C3", readers.Extended,
		"User-agent: a\nDisallow: /y\nRobot-version: 2.0\nDisallow: /x\n", "a", "-/xy"},
	{"C3", readers.Extended,
		"User-agent: a\nRobot-version: 2.1\nDisallow: /x\n\nUser-agent: *\nDisallow: /d\n",
		"a", "+/x -/d"},
	{"C3", readers.Extended, "User-agent: a\nRobot-version: 7\nDisallow: /x\n", "a", "-/xy"},
	{"C4", readers.Extended, "User-agent: a\nDisallow: /x\nDisallow: /a*b\nAllow: /x/y\n", "a",
		"-/xz +/axb +/x/y"},
	{"C5", readers.Extended, "User-agent: a\nRobot-version: 2.0\nDisallow: *.gif\nDisallow: /x\n",
		"a", "-/a/b.gif +/a.gif2 -/x +/x/"},
	{"C6", readers.Extended, "User-agent: a\nRobot-version: 2.0\nAllow: /x\n", "a", "+/x +/y"},
	// The longest pattern decides, whatever the order.
	{"C10", readers.Extended, "User-agent: a\nRobot-version: 2.0\nAllow: /d/*\nDisallow: /d/x/*\nAllow: /d/x/y/*\n",
		"a", "+/d/a -/d/x/a +/d/x/y/a"},
	// "?" and "[...]" are ordinary bytes.
	{"C11", readers.Extended, "User-agent: a\nRobot-version: 2.0\nDisallow: /q?\nDisallow: /[ab]*\nDisallow: /b\\*\n",
		"a", "-/q? +/qa -/[ab]c +/a -/b\\c +/b*"},
	// What cannot be understood is ignored, and no one is written to.
	{"C12", readers.Extended, "User-agent: a\nRobot-version: 2.0\nDisallow: /x\nExpression: ^/z\n",
		"a", "-/x +/z"},

	// The example of the Extended text: "newchives" holds "chives", and is named itself.
	{"S3", readers.Extended, extendedExample, "newchives",
		"+/images/index.html -/images/a.gif +/blackhole/info99 -/order.cgi"},
	{"S3", readers.Extended, extendedExample, "chives", "-/images/index.html -/x"},
	{"S3", readers.Standard1994,
		"User-agent: chives\nDisallow: /\n\nUser-agent: newchives\nDisallow: /x\n",
		"newchives/1.0", "+/y -/x"},
	{"S3", readers.Standard1994,
		"User-agent: new\nDisallow: /a\n\nUser-agent: chives\nDisallow: /b\n",
		"newchives", "-/a +/b"},

	{"gemini", readers.Gemini,
		"User-agent: *\nDisallow: /a*b\nAllow: /a*b/c\nDisallow: /d$\nCrawl-delay: 5\nDisallow: /e\n", "x", "-/a*b/c +/axb +/d -/d$ -/e/f"},
	{"gemini", readers.Gemini,
		"User-agent: archiver\nUser-agent: indexer\nDisallow: /a\nUser-agent: *\nDisallow: /b\n",
		"indexer", "-/a +/b -gemini://h/a"},

	{"veronica", readers.Veronica2,
		"User-agent: veronica\nDisallow: /p/\nAllow: /p/q\nDisallow: */z/\n", "veronica",
		"-/p -/p/q +/path -/x/z +/x/zz -/x/z/"},
	{"veronica", readers.Veronica2, "Disallow: /\n", "veronica", "+ -/x"},
	{"a name with a star is nobody's", Gopher, starred, "GoodBot", "-/private/x +/x"},
	{"a name with a star is nobody's", readers.Veronica2, starred, "veronica", "-/private/x +/x"},
	{"a name with a star is nobody's", RFC9309, starred, "BadBot", "-/private/x +/x"},
	{"a name with a star is nobody's", readers.Standard1994, starred, "GoodBot", "-/private/x +/x"},
	{"a name with a star is nobody's", readers.Extended, starred, "GoodBot", "-/private/x +/x"},
	{"urls", RFC9309, "User-agent: *\nDisallow: /$\nDisallow: /?q\n", "x",
		"- -/ -http://h -http://h#/x -http://h?q -http://h/?q=1 +http://h/x +x://h/?p"},
}

const starred = "User-agent: *\nDisallow: /private/\n\nUser-agent: *GoodBot*\nAllow: /\n\nUser-agent: *BadBot\nDisallow: /\n"

const extendedExample = `User-agent: chives
Robot-version: 1.0
Disallow: /

User-agent: alfred
User-agent: newchives
User-agent: oscarbot
Robot-version: 2.0.0 2.0	# uses 2.0.0 2.0 spec
Allow: *index.html		# allow any index pages
Allow: /images/index.html	# make sure we index this
Allow: /blackhole/info* 	# as well as these
Disallow: *			# nothing else will be allowed
Disallow: *.cgi
Disallow: /images*
`

func TestDecisions(t *testing.T) {
	for _, c := range decisions {
		f := Parse(c.dialect, []byte(c.file))
		wants := strings.Split(c.want, " ")
		for _, want := range slices.Repeat(wants, 3) { // without an index, and with it
			if got := f.Decide(c.agent, want[1:]); got.Allowed != (want[0] == '+') {
				t.Errorf("%s: %s: %q, %q for %q: got %+v", c.id, c.dialect, c.file,
					want[1:], c.agent, got)
			}
		}
	}
}

// TestDecide: R5, and what the explanation says.
func TestDecide(t *testing.T) {
	f := Parse(RFC9309, []byte("User-agent: a\nUser-agent: b\nDisallow: /\nAllow: /%7Ex\nAllow: /~\n\nUser-agent: *\nDisallow: /y\n"))
	got := f.Decide("a", "/~xy")
	want := Decision{
		Allowed:  true,
		Rule:     Rule{Allow: true, Pattern: "/%7Ex", Line: 4},
		RunnerUp: Rule{Allow: true, Pattern: "/~", Line: 5},
		Agents:   []Agent{{"a", 1}, {"b", 2}},
		Reason:   OwnGroup,
		Pattern:  "/~x",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if d := Parse(readers.Veronica2, []byte("Disallow: /a*b/\n")).Decide("x",
		"/ab/xb"); d.Rule.Line != 1 || d.RunnerUp.Line != 0 {
		t.Errorf("a rule that matches twice is its own runner-up: %+v", d)
	}
	for reason, d := range map[Reason]Decision{
		DefaultGroup: f.Decide("c", "/y"),
		NoGroup:      Parse(RFC9309, []byte("User-agent: a\nDisallow: /\n")).Decide("c", "/y"),
		Ungrouped:    Parse(Gopher, []byte("Disallow: /\n")).Decide("c", "/y"),
		EveryRule:    Parse(readers.GopherStrict, []byte("Disallow: /\n")).Decide("c", "/y"),
		RobotsFile:   f.Decide("c", "/robots.txt"),
	} {
		if d.Reason != reason {
			t.Errorf("reason %q, want %q", d.Reason, reason)
		}
	}
}

func TestZeroValuesAllow(t *testing.T) {
	var none *File
	for _, f := range []*File{none, {}, Parse(RFC9309, nil)} {
		if !f.Decide("a", "/").Allowed || !f.Allowed("a", "/") ||
			!f.Agent("a").Allowed("/") || !f.Absent() ||
			len(f.Groups())+len(f.Fields("a"))+len(f.Sitemaps())+len(f.AppendTo(nil))+f.Size()+
				len(f.Agent("a").Groups()) > 0 ||
			f.Truncated() || f.UTF16() || f.Readable() != nil || len(f.Usage("a", "/")) > 0 {
			t.Errorf("%+v", f)
		}
		for range f.Lines() {
			t.Error("a line")
		}
	}
	for _, r := range []*Rules{nil, {}} {
		if !r.Decide("/").Allowed || !r.Allowed("/") || r.Groups() != nil || r.Usage("/") != nil {
			t.Errorf("%+v deny", r)
		}
	}
	f, err := ParseReader(RFC9309, nil, -1)
	if err != nil || !f.Absent() {
		t.Errorf("no reader: %+v, %v", f, err)
	}
	if none.Dialect() != Gopher {
		t.Error("the dialect of none is", none.Dialect())
	}
}

// TestReadable: what may be the bytes of a text, and what the first line may hold.
func TestReadable(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "hello\tthere\r\n\v\f": true, "\x1a": true, "\x1b[1m": true, "\x08": false,
		"\x0e": false, "\x1f": false, "\x01": false,
		"Disallow: /\x01\n": true, "a\x00\nDisallow: /a\n": false, "Disallow: /a\n\x00": true,
		"\x1f\x8b": false, "(\xb5/\xfd": false, "PK\x03\x04": false,
		strings.Repeat("a", 1023) + "\x01": false, strings.Repeat("a", 1024) + "\x01": true,
	} {
		if err := Parse(RFC9309, []byte(text)).Readable(); (err == nil) != want ||
			err != nil && !errors.Is(err, ErrUnreadable) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestWhoIsBound: the reason is NoGroup unless a rule binds a robot; a name that is
// empty or a star is nobody's own.
func TestWhoIsBound(t *testing.T) {
	for _, c := range []struct {
		dialect     Dialect
		file, agent string
		want        Reason
	}{
		{Gopher, "Sitemap: x\n", "a", NoGroup},
		{Gopher, "Disallow: /x\n", "a", Ungrouped},
		{RFC9309, "Disallow: /x\n", "a", NoGroup},
		{readers.GopherStrict, "Sitemap: x\n", "a", EveryRule},
		{readers.Standard1994, "User-agent:\nDisallow: /x\n", "a", NoGroup},
		{readers.Standard1994, "User-agent: *\nDisallow: /x\n", "a*", DefaultGroup},
		{readers.Standard1994, "User-agent: a\nDisallow: /x\n", "xax", OwnGroup},
		{readers.Extended, "User-agent: a\nRobot-version: 2.1\nDisallow: /x\n", "a", NoGroup},
	} {
		f := Parse(c.dialect, []byte(c.file))
		f.Agent("another") // the second robot is looked up in the table
		for range 2 {
			if d := f.Decide(c.agent, "/y"); d.Reason != c.want {
				t.Errorf("%s: %q: %s is bound because %q", c.dialect, c.file, c.agent, d.Reason)
			}
		}
	}
}

func TestDialectNames(t *testing.T) {
	for _, d := range readers.Dialects() {
		if got, err := readers.ParseDialect(d.String()); got != d || err != nil {
			t.Errorf("%s: %v, %v", d, got, err)
		}
	}
	if _, err := readers.ParseDialect("ircv3"); err == nil ||
		!slices.Contains(readers.Dialects(), readers.Gemini) {
		t.Error("an unknown dialect parses")
	}
}

// TestLimit: R14, the partial last line is dropped.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		dialect Dialect
		text    string
		limit   int64
		want    string
	}{
		{RFC9309, "Allow: /a\nDisallow: /b\n", 14, "Allow: /a\n"},
		{RFC9309, "Allow: /a\rDisallow: /b\n", 14, "Allow: /a\r"},
		{RFC9309, "Allow: /a\nDisallow: /b\n", 23, "Allow: /a\nDisallow: /b\n"},
		{Gopher, "Disallow: /secret", 12, ""},
	} {
		f, err := ParseReader(c.dialect, strings.NewReader(c.text), c.limit)
		if err != nil || string(f.AppendTo(nil)) != c.want {
			t.Errorf("%q to %d: %q, %v", c.text, c.limit, f.AppendTo(nil), err)
		}
	}
	long := strings.Repeat("#\n", DefaultLimit)
	f, err := ParseReader(RFC9309, strings.NewReader(long), 0)
	if err != nil || len(f.AppendTo(nil)) != DefaultLimit {
		t.Errorf("%d bytes, %v", len(f.AppendTo(nil)), err)
	}
}

func TestAbsent(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "# nothing\n": true, "<html><a href=\"http://x/\">": true,
		"iError\t\terror.host\t1\r\n3'robots.txt': no\tfake\t(NULL)\t0\r\n.\r\n": true,
		"Disallow:\n": false, "User-agent: *\n": false, "Crawl-delay: 3\n": false,
	} {
		if got := Parse(Gopher, []byte(text)).Absent(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestGroups(t *testing.T) {
	f := Parse(RFC9309, []byte("Sitemap: s\nAllow: x\nUser-agent: a/1\nDisallow: /p # q\nCrawl-Delay: 3\n\nUser-agent: *\nComment: hi\n"))
	want := []Group{
		{Rules: []Rule{{Allow: true, Pattern: "x", Line: 2}}, Fields: []Field{{"sitemap", "s", 1}}},
		{Agents: []Agent{{"a", 3}}, Rules: []Rule{{Allow: false, Pattern: "/p", Line: 4}},
			Fields: []Field{{"crawl-delay", "3", 5}}},
		{Agents: []Agent{{"*", 7}}, Fields: []Field{{"comment", "hi", 8}}},
	}
	if got := f.Groups(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if got := fmt.Sprint(f.Fields("a")); got != "[{sitemap s 1} {crawl-delay 3 5}]" {
		t.Errorf("fields of a: %s", got)
	}
}

// TestDecisionJSON: a decision is stored and read back as the same.
func TestDecisionJSON(t *testing.T) {
	f := Parse(RFC9309, []byte("User-agent: *\nDisallow: /a\nAllow: /%61b\n"))
	for _, path := range []string{"/ab", "/a", "/x", "/robots.txt"} {
		d := f.Decide("mybot", path)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again Decision
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%s: %s: %+v, %v, want %+v", path, text, again, err, d)
		}
	}
	text, _ := json.Marshal(f.Decide("mybot", "/ab"))
	if want := `{"allowed":true,"rule":{"allow":true,"pattern":"/%61b","line":3},"runner_up":{"allow":false,"pattern":"/a","line":2},` +
		`"agents":[{"token":"*","line":1}],"reason":"default-group","pattern":"/ab"}`; string(text) != want {
		t.Errorf("got %s", text)
	}
	if err := json.Unmarshal([]byte(`{"reason":"because"}`), new(Decision)); err == nil {
		t.Error("an unknown reason is read")
	}
	for r := range Reason(len(reasonNames)) {
		if reasonNames[r] == "" || reasonTexts[r] == "" {
			t.Errorf("reason %d has no name", r)
		}
	}
}

// TestCrawlDelay: the longest that binds a robot, wherever it stands.
func TestCrawlDelay(t *testing.T) {
	f := Parse(RFC9309, []byte("Crawl-delay: 1\nUser-agent: a\nCrawl-delay: 2.5\nCrawl-delay: soon\nDisallow: /\n\nUser-agent: *\nAllow: /\n\nUser-agent: b\nCrawl-delay: 99999999999\nAllow: /\n"))
	for agent, want := range map[string]time.Duration{"a": 2500 * time.Millisecond,
		"c": time.Second, "b": readers.MaxDelay} {
		if got, ok := f.CrawlDelay(agent); !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", agent, got, ok, want)
		}
	}
	for _, none := range []*Rules{nil, {}} {
		for _, s := range []RuleSets{{none, f.Agent("a")}, {f.Agent("a"), none}} {
			if got, ok := s.CrawlDelay(); !ok || got != 2500*time.Millisecond {
				t.Errorf("beside a set of nothing: %v", got)
			}
		}
	}
	for _, f := range []*File{nil, Parse(Gopher, nil)} {
		if got, ok := f.CrawlDelay("a"); ok {
			t.Errorf("%v", got)
		}
	}
}

// TestStarRuns: a run of stars matches as one star does, and counts as what it is.
func TestStarRuns(t *testing.T) {
	f := Parse(RFC9309, []byte("User-agent: *\nDisallow: /"+strings.Repeat("*", 300_000)+
		"b$\nAllow: /*b\nAllow: /a****\nDisallow: /a*bb\n"))
	for range 3 {
		for path, want := range map[string]int{"/xb": 2, "/xbc": 3, "/ab": 2, "/abb": 2,
			"/a": 4, "/abbc": 4} {
			if d := f.Decide("x", path); d.Rule.Line != want {
				t.Errorf("%s: line %d decides, want %d", path, d.Rule.Line, want)
			}
		}
	}
}

// TestNames: R3; a name is the first word, cut at the first byte outside
// [A-Za-z0-9_.-]. 87 of 4,231 real files have names that need it.
func TestNames(t *testing.T) {
	for value, want := range map[string]string{
		"GPTBot, ClaudeBot": "GPTBot",
		"Baiduspider+(+http://www.baidu.com/search/spider.htm)": "Baiduspider",
		"Yahoo! Slurp": "Yahoo",
		"GPTBot:":      "GPTBot", "GPTBot*": "GPTBot", "MJ12bot/v1.4": "MJ12bot",
		"Web.Bot_2-x;q": "Web.Bot_2-x", "\tbot\x00": "bot", "caf\u00e9": "caf",
		"*": "*", "* ": "*", "* x": "*", "*\tGPTBot": "*", "*\u00a0": "*", "*Bot*": "", "**": "",
		"*, x": "", "": "", "'GPTBot'": "", "\u30ed": "",
	} {
		if got := readers.ProductToken(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		f := Parse(RFC9309, []byte("User-agent: other\nAllow: /\n\nUser-agent: "+value+
			"\nDisallow: /\n"))
		for range 3 {
			if bound := !f.Allowed("x", "/a"); bound != (want == "*") {
				t.Errorf("%q binds everybody: %v", value, bound)
			}
			if want != "" && want != "*" && f.Allowed(strings.ToUpper(want)+"/2.0 (+x)", "/a") {
				t.Errorf("%q does not bind %s", value, want)
			}
		}
	}
}
