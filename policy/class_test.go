package policy

import (
	"errors"
	"strings"
	"testing"
)

// TestGroups: robots that are treated alike share a group, longer names stand before
// those that are parts of them, and veronica stands alone.
func TestGroups(t *testing.T) {
	const x = "\nDisallow: /x\n"
	for text, want := range map[string]string{
		"User-agent: foo" + x + "User-agent: bar" + x:                                               "* | bar foo",
		"User-agent: foo" + x + "User-agent: bar" + x + "User-agent: bar\nDisallow: /y\n":           "* | bar | foo",
		"User-agent: foo" + x + "User-agent: foobot\nDisallow: /y\n":                                "* | foobot | foo",
		"User-agent: ab" + x + "User-agent: b" + x + "User-agent: abc\nDisallow: /y\n":              "* | abc | ab b",
		"User-agent: abc" + x + "User-agent: b" + x + "User-agent: ab\nDisallow: /y\n":              "* | abc | ab | b",
		"User-agent: Veronica" + x + "User-agent: bar" + x:                                          "* | Veronica | bar",
		"User-agent: foo" + x + "User-agent: bar\nDisallow: /y\nUser-agent: foobar\nDisallow: /z\n": "* | foobar | bar | foo",
		"User-agent: foo\nDisallow: /z\n":                                                           "*",
		"User-agent: foo\nDisallow: /z\nUser-agent: bar" + x:                                        "* | bar",
		"User-agent: foo" + x + "User-agent: bar" + x + "Content-Usage: search=n\n":                 "* | bar | foo",
		"User-agent: abcdefgh" + x + "User-agent: b\nDisallow: /*z$\n":                              "* | abcdefgh | b",
		"Disallow: /*z$\nUser-agent: abcdefgh" + x:                                                  "* | veronica | abcdefgh",
		"Disallow: /*z$\nUser-agent: abcdefghi" + x:                                                 "* | abcdefghi | veronica",
	} {
		// Of the last, and of foobar, no more is said than to all.
		c := compileOf(map[string]string{"d/.robots": "Disallow: /z\n\n" + text}, "d/x")
		var got []string
		for group := range strings.SplitSeq(string(c.File()), "\n\n") {
			var names []string
			for line := range strings.Lines(group) {
				if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
					names = append(names, strings.TrimSpace(name))
				}
			}
			got = append(got, strings.Join(names, " "))
		}
		if got := strings.Join(got, " | "); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}

// TestAllowByName: an Allow opens by name what a ban by name denies, though it is said
// to all as well.
func TestAllowByName(t *testing.T) {
	c := compileOf(map[string]string{
		".robots":   "User-agent: foo\nUser-agent: bar\nDisallow: /d/\n",
		"d/.robots": "Allow: /x\n\nUser-agent: foo\nAllow: /x\n",
	}, "d/x")
	for agent, want := range map[string]bool{"foo": true, "bar": false, "zz": true} {
		if c.Explain(agent, "d/x", false).Allowed != want {
			t.Errorf("%s: %v\n%s", agent, !want, c.File())
		}
	}
	// A ban by name stays one if it is said to all as well.
	c = compileOf(map[string]string{"d/.robots": "Disallow: /e/\n\nUser-agent: foo\nDisallow: /e/\n", "d/e/.robots": "Allow: /x\n"}, "d/e/x")
	for agent, want := range map[string]bool{"foo": false, "zz": true} {
		if c.Explain(agent, "d/e/x", false).Allowed != want {
			t.Errorf("%s: %v\n%s", agent, !want, c.File())
		}
	}
	// A ban for all is none by name, though another annotation names the robot.
	c = compileOf(map[string]string{".robots": "Disallow: /d/\n", "d/.robots": "Allow: /x\n", "e/.robots": "User-agent: foo\nDisallow: /y\n"}, "d/x")
	for _, agent := range []string{"foo", "zz"} {
		if !c.Explain(agent, "d/x", false).Allowed || c.Explain(agent, "d/y", false).Allowed {
			t.Errorf("%s:\n%s", agent, c.File())
		}
	}
}

// TestNamedBelow: robots are named in a directory and below it, and each has a group; of one
// that is named in a directory that is denied nothing is told.
func TestNamedBelow(t *testing.T) {
	c := compileOf(map[string]string{"d/.robots": "User-agent: foo\nDisallow: /x\n", "d/e/.robots": "User-agent: bar\nDisallow: /y\n",
		"f/.robots": "User-agent: baz\nDisallow: /x\n" + strings.Repeat("Final: /x\n", maxTopFinals+1)}, "d/x", "d/e/y")
	for agent, want := range map[string]string{"foo": "d/x", "bar": "d/e/y"} {
		for _, name := range []string{"d/x", "d/e/y"} {
			if c.Explain(agent, name, false).Allowed == (name == want) {
				t.Errorf("%s, %s:\n%s", agent, name, c.File())
			}
		}
	}
	if strings.Contains(string(c.File()), "baz") {
		t.Errorf("got:\n%s", c.File())
	}
}

// TestGroupsOfNothing: where all is denied no robot has a group of its own.
func TestGroupsOfNothing(t *testing.T) {
	root := treeOf(map[string]string{".robots": "", "d/.robots": "User-agent: foo\nDisallow: /x\n"}, "d/x")
	root.Notes[0].Err = errors.New("it is a directory")
	const want = header + "\nUser-agent: *\nDisallow: /\nDisallow: *\n"
	if c := Compile(Input{Root: root}, nil); string(c.File()) != want {
		t.Errorf("got:\n%s", c.File())
	}
}
