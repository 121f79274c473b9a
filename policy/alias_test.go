package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
)

// TestAliases: an alias is denied as a whole if a rule may deny something at or below its
// target, and is left alone if none does or the rule covers both names.
func TestAliases(t *testing.T) {
	for _, test := range []struct {
		notes           string // "dir: rule; dir: rule"
		alias, target   string
		want            string // a line of the file
		denied, allowed string // selectors
	}{
		{"/: Disallow: /phlog/drafts/", "/blog/", "/phlog/", "Disallow: /blog/", "/blog/a.txt",
			"/phlog/a.txt"},
		{"/secret/: Disallow: /", "/sub/inn/", "/secret/inner/", "Disallow: /sub/inn/",
			"/sub/inn/s.txt", "/sub/a.txt"},
		{"/phlog/: Disallow: /d.txt", "/blog/", "/phlog/", "Disallow: /blog/", "/blog/", ""},
		{"/phlog/d/: Final: /x", "/blog/", "/phlog/", "Disallow: /blog/",
			"/blog/d/x", "/phlog/d/y"},
		{"/: Disallow: /*.zip$", "/blog/", "/phlog/", "Disallow: /blog/", "/blog/a.txt",
			"/phlog/a.txt"},
		{"/: Disallow: /*.zip$", "/new.txt", "/phlog/a.txt", "", "", "/new.txt"},
		{"/: Disallow: /phlog/*.txt$", "/new", "/phlog/a.txt", "Disallow: /new",
			"/new", "/phlog/a"},
		{"/secret/: Disallow: /", "/new.txt", "/secret/a.txt", "Disallow: /new.txt",
			"/new.txt", "/secre"},
		{"/: Disallow: /secret/; /: Allow: /new.txt", "/new.txt", "/secret/a.txt",
			"Disallow: /new.txt", "/new.txt", ""},
		{"/secret/: User-agent: Bot\nDisallow: /", "/blog/", "/secret/", "Disallow: /blog/",
			"/blog/x", ""},
		{"/: Disallow: /p", "/pub/", "/phlog/", "Disallow: /p", "/pub/", "/a"},
		{"/: Disallow: /other/", "/blog/", "/phlog/", "", "", "/blog/x"},
		{"/: Disallow: /phlogs/", "/blog/", "/phlog/", "", "", "/blog/x"},
		{"/other/: Disallow: /\nAllow: /a/", "/blog/", "/phlog/", "", "", "/blog/x"},
	} {
		var in Input
		for rule := range strings.SplitSeq(test.notes, "; ") {
			dir, text, _ := strings.Cut(rule, ": ")
			in.Annotations = append(in.Annotations,
				Annotation{Dir: dir, File: strings.Trim(dir+".robots", "/"),
					Data: []byte(text + "\n")})
		}
		in.Aliases = []Alias{{test.alias, test.target}}
		c := Compile(in)
		said := false
		for _, r := range c.Reports() {
			if r.Code != CodeAlias || r.File != strings.Trim(test.alias, "/") {
				continue
			}
			said = true
			if isFile := !strings.HasSuffix(test.alias, "/"); slices.Contains(r.Readers,
				"first-match") != isFile {
				t.Errorf("%s: %v is let in", test.notes, r.Readers)
			}
		}
		if wanted := test.want == "Disallow: "+test.alias; said != wanted {
			t.Errorf("%s: reported: %v", test.notes, said)
		}
		if !strings.Contains(string(c.File()), test.want+"\n") || len(c.Unproven()) > 0 {
			t.Errorf("%s: no %q, or unproven (%v), in\n%s", test.notes, test.want,
				c.Unproven(), c.File())
		}
		if test.denied != "" && !c.deniedToAny(strings.Trim(test.denied, "/"),
			strings.HasSuffix(test.denied, "/")) {
			t.Errorf("%s: %s is allowed:\n%s", test.notes, test.denied, c.File())
		}
		if test.allowed != "" &&
			c.deniedToAny(strings.Trim(test.allowed, "/"), strings.HasSuffix(test.allowed, "/")) {
			t.Errorf("%s: %s is denied:\n%s", test.notes, test.allowed, c.File())
		}
	}
}

// TestAliasOfAlias: what a denied alias denies, an alias of a directory above it shows.
func TestAliasOfAlias(t *testing.T) {
	in := Input{
		Annotations: []Annotation{{Dir: "/archive/", File: "archive/robots.txt",
			Data: []byte("Disallow: /x\n")}},
		Aliases: []Alias{{"/blog/", "/phlog/"}, {"/phlog/old/", "/archive/"},
			{"/z/", "/other/"}},
	}
	c := Compile(in)
	for _, name := range []string{"blog/old/x", "phlog/old/x", "archive/x"} {
		if !c.deniedToAny(name, false) {
			t.Errorf("%s is allowed:\n%s", name, c.File())
		}
	}
	if c.deniedToAny("z/a", false) || c.deniedToAny("phlog/a", false) {
		t.Errorf("too much is denied:\n%s", c.File())
	}
}

// TestAliasBesideHandWritten: a hand-written robots.txt is not served as it is where an
// alias would show what it denies.
func TestAliasBesideHandWritten(t *testing.T) {
	in := Input{
		Annotations: []Annotation{{Dir: "/", File: "robots.txt",
			Data: []byte("# mine\nUser-agent: *\nDisallow: /phlog/drafts/\n")}},
		Aliases: []Alias{{"/blog/", "/phlog/"}},
	}
	if c := Compile(in); !c.deniedToAny("blog/drafts/x", false) {
		t.Errorf("the alias is allowed:\n%s", c.File())
	}
}

// deniedToAny reports whether any robot is denied a resource.
func (c *Compiled) deniedToAny(name string, dir bool) bool {
	uri := escape(selector.Canonical(name, dir))
	return slices.ContainsFunc(c.robots, func(j judged) bool { return j.denies(uri) })
}
