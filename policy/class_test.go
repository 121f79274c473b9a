package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// groupsIn returns the names of the robots of each group of a file.
func groupsIn(file []byte) string {
	var got []string
	for group := range strings.SplitSeq(string(file), "\n\n") {
		var names []string
		for line := range strings.Lines(group) {
			if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		got = append(got, strings.Join(names, " "))
	}
	return strings.Join(got, " | ")
}

// TestGroups: robots that are treated alike share a group, longer names stand before
// those that are parts of them, and veronica stands alone.
func TestGroups(t *testing.T) {
	const x = "\nDisallow: /x\n"
	for text, want := range map[string]string{
		"User-agent: foo" + x + "User-agent: bar" +
			x: "* | bar foo",
		"User-agent: foo\nUser-agent: bar" +
			x: "* | bar foo",
		"User-agent: foo, bar" + x +
			"User-agent: bar\nDisallow: /y\n": "* | bar | foo",
		"User-agent: foo" + x + "User-agent: foobot\nDisallow: /y\n": "* | foobot | foo",
		"User-agent: ab, b" + x +
			"User-agent: abc\nDisallow: /y\n": "* | abc | ab b",
		"User-agent: abc, b" + x +
			"User-agent: ab\nDisallow: /y\n": "* | abc | ab | b",
		"User-agent: longer" + x +
			"User-agent: ab, b\nDisallow: /y\n": "* | ab b | longer",
		"User-agent: Veronica, bar" +
			x: "* | Veronica | bar",
		"User-agent: foo" + x + "User-agent: bar\nDisallow: /y\nUser-agent: foobar\nDisallow: /z\n": "* | foobar | bar | foo",
		"Disallow: /a\n\nUser-agent: foo\nCrawl-delay: 1\n":                                         "*",
		"Disallow: /a\n\nUser-agent: bot" + x +
			"User-agent: robot\nCrawl-delay: 1\n": "* | robot | bot",
		"User-agent: foo" + x + "User-agent: bar" + x +
			"Content-Usage: search=n\n": "* | bar | foo",
		"User-agent: abcdefgh" + x +
			"User-agent: b\nDisallow: /*z$\n": "* | abcdefgh | b",
		"Disallow: /*z$\nUser-agent: abcdefgh" +
			x: "* | abcdefgh | veronica",
		"Disallow: /*z$\nUser-agent: abcdefghi" +
			x: "* | abcdefghi | veronica",
		"Disallow: /*z$\nUser-agent: veronica" +
			x: "* | gopher-strict | veronica",
		"Disallow: /*z$\nUser-agent: veronica, gopher-strict" +
			x: "* | gopher-strict- | gopher-strict | veronica",
		"User-agent: ChatGPT Agent" +
			x: "* | ChatGPT Agent ChatGPT",
		"User-agent: ChatGPT Agent" + x +
			"User-agent: ChatGPT\nDisallow: /y\n": "* | ChatGPT Agent ChatGPT",
		"User-agent: indexer" + x: "* | researcher archiver webproxy | indexer",
		"User-agent: indexer, archiver" +
			x: "* | researcher webproxy | archiver indexer",
	} {
		c := compileOf(map[string]string{"d/.robots": text})
		if got := groupsIn(c.File()); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}

// TestAgentLines: which robots a value of User-agent names, and what is said of it.
func TestAgentLines(t *testing.T) {
	for agent, want := range map[string]struct{ bound, free, severity string }{
		"foo":             {"foo FOO", "foobot", ""},
		"foo/1.1":         {"foo", "", "notice"},
		"Baiduspider+(x)": {"Baiduspider", "", "notice"},
		"foo, bar":        {"foo bar", "", "notice"},
		"ChatGPT Agent":   {"ChatGPT", "Agent", ""},
		"*":               {"foo *", "", ""},
		"* all":           {"foo *", "", ""},
		"*Bot*":           {"", "Bot foo", "error"},
		"a;b, foo":        {"a foo", "b", "notice"},
		", ,":             {"", "foo", "error"},
		"/1.1":            {"", "foo", "error"},
	} {
		c := compileOf(map[string]string{"d/.robots": "User-agent: " + agent + "\nDisallow: /x\n"})
		for _, robot := range strings.Fields(want.bound) {
			if c.Explain(robot, "d/x", false).Allowed {
				t.Errorf("%q does not bind %s\n%s", agent, robot, c.File())
			}
		}
		for _, robot := range strings.Fields(want.free) {
			if !c.Explain(robot, "d/x", false).Allowed {
				t.Errorf("%q binds %s\n%s", agent, robot, c.File())
			}
		}
		severity, lost := "", false
		for _, r := range c.Reports() {
			if r.Code == "R3-AGENT" && (severity == "" || r.Severity == diag.Error) {
				severity = string(r.Severity)
			}
			lost = lost || r.Code == CodeLost && r.Line == 2
		}
		if severity != want.severity || lost != (want.bound == "") {
			t.Errorf("%q: %q, %v: %v", agent, severity, lost, c.Reports())
		}
	}
}

// TestStruckAllows: two robots are treated alike, and each explanation names the lines of
// its own robot.
func TestStruckAllows(t *testing.T) {
	c := compileOf(map[string]string{
		".robots":   "User-agent: foo\nFinal: /d/x\n\nUser-agent: bar\nFinal: /d/x\n",
		"d/.robots": "User-agent: foo\nAllow: /x1\nAllow: /x12\n\nUser-agent: bar\nAllow: /x1\nAllow: /x12\n",
	})
	for robot, want := range map[string]string{"foo": "2 by 2, 3 by 2", "bar": "6 by 5, 7 by 5"} {
		var got []string
		for _, s := range c.Explain(robot, "d/x12", false).Struck {
			got = append(got, fmt.Sprintf("%d by %d", s.Allow.Line, s.By.Line))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, not %s", robot, text, want)
		}
	}
}

// TestExplainVeronica names the line of her group, which has selectors as they are sent.
func TestExplainVeronica(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /?$\nUser-agent: veronica\nDisallow: /?$\n"})
	if e := c.Explain(veronica, "?", false); e.Allowed || e.Text != "Disallow: /?" {
		t.Errorf("%+v\n%s", e, c.File())
	}
}

// TestOverrules: which rule would decide, were there not the one that does: one of the same group.
func TestOverrules(t *testing.T) {
	c := compileOf(root("Disallow: /x/\nUser-agent: a\nDisallow: /\nDisallow: /x/y\n"))
	for _, test := range []struct {
		robot         string
		by, overrules int
	}{{"*", 1, 0}, {"a", 4, 3}} {
		e := c.Explain(test.robot, "x/y", false)
		overrules := 0
		if e.Overrules != nil {
			overrules = e.Overrules.Line
		}
		if e.By.Line != test.by || overrules != test.overrules {
			t.Errorf("%s: line %d decides and overrules line %d", test.robot, e.By.Line, overrules)
		}
	}
}
