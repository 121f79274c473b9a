package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tree makes a tree of lines: a path, for a directory with a final slash; after
// a path that ends in .robots, or is robots.txt, a tab and its text, with | for
// the end of a line.
func tree(lines ...string) *Dir {
	root := &Dir{}
	for _, l := range lines {
		path, text, noted := strings.Cut(l, "\t")
		d, name := root, path
		for {
			first, rest, more := strings.Cut(name, "/")
			if !more {
				break
			}
			d, name = sub(d, first), rest
		}
		switch {
		case noted:
			d.Notes = append(d.Notes, &Annotation{File: path, Data: []byte(strings.ReplaceAll(text, "|", "\n") + "\n")})
		case name != "":
			d.Files = append(d.Files, name)
			slices.Sort(d.Files)
		}
	}
	return root
}

func sub(d *Dir, name string) *Dir {
	i, ok := searchDir(d, name)
	if !ok {
		d.Dirs = slices.Insert(d.Dirs, i, &Dir{Name: name})
	}
	return d.Dirs[i]
}

func TestFile(t *testing.T) {
	for _, test := range []struct {
		name string
		tree *Dir
		want []string
	}{
		{"nothing said", tree("a", "d/b"), []string{"User-agent: *", "Allow: /", "Disallow: /.robots"}},
		{"a directory", tree("a", "d/b", "d/.robots\tDisallow: /"), []string{"User-agent: *", "Disallow: /d", "Disallow: d"}},
		{"the whole site", tree("a", "d/b", ".robots\tDisallow: /"), []string{"User-agent: *", "Disallow: /", "Disallow: *", "Disallow: a", "Disallow: d"}},
		{"an exception", tree("a", "drafts/about.txt", "drafts/x", "drafts/.robots\tDisallow: /|Allow: /about.txt"), []string{
			"User-agent: *",
			"Allow: /drafts/about.txt$", "Allow: drafts/about.txt$",
			"Disallow: /drafts/*$", "Disallow: /drafts/x",
			"Disallow: drafts/*$", "Disallow: drafts/x",
		}},
		{"a name that begins another", tree("x.txt", "x.txt.gz", ".robots\tDisallow: /x.txt$"), []string{
			"User-agent: *", "Allow: /x.txt.gz$", "Allow: x.txt.gz$", "Disallow: /x.txt", "Disallow: x.txt",
		}},
		{"a closed spelling", tree("dir/x", "dirt.txt", "dir/.robots\tDisallow: /"), []string{
			"User-agent: *", "Disallow: /dir/", "Disallow: dir/",
		}},
		{"robots by name", tree("a/x", "b/x", "a/.robots\tUser-agent: foo|Disallow: /", "b/.robots\tDisallow: /|User-agent: bar|Disallow:"), []string{
			"User-agent: *", "Disallow: /b", "Disallow: b", "",
			"User-agent: bar", "Allow: /", "Disallow: /.robots", "",
			"User-agent: foo", "Disallow: /a", "Disallow: /b", "Disallow: a", "Disallow: b",
		}},
		{"fields of the site", tree("a", ".robots\tCrawl-delay: 5|Sitemap: gopher://h/|Index: allow|Disallow: /a"), []string{
			"User-agent: *", "Disallow: /a", "Disallow: a", "Crawl-delay: 5", "Index: allow", "", "Sitemap: gopher://h/",
		}},
		{"written by hand", tree("a", "robots.txt\t# mine|User-agent: *|Disallow: /a"), []string{"# mine", "User-agent: *", "Disallow: /a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Compile(test.tree, nil)
			want := strings.Join(test.want, "\n") + "\n"
			if got := string(c.File()); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if len(c.Unproven()) > 0 {
				t.Errorf("unproven: %v", c.Unproven())
			}
		})
	}
}

func TestClosed(t *testing.T) {
	c := Compile(tree("dir/x", "dirt.txt", "dir/.robots\tDisallow: /"), nil)
	for sel, want := range map[string]string{"/dir": "/dir/", "dir": "/dir/", "/dir/": "", "dirt.txt": "", "": ""} {
		got, ok := c.Closed(sel)
		if got != want || ok != (want != "") {
			t.Errorf("Closed(%q) = %q, %v, want %q", sel, got, ok, want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	root := tree("a", "d/x")
	root.Dirs[0].Notes = []*Annotation{{File: "d/.robots", Err: errors.New("permission denied")}}
	c := Compile(root, nil)
	if want := "User-agent: *\nDisallow: /d\nDisallow: d\n"; string(c.File()) != want {
		t.Errorf("got:\n%s", c.File())
	}
	if r := c.Reports()[0]; r.Code != CodeUnreadable || r.File != "d/.robots" || r.Severity != Error {
		t.Errorf("got report %+v", r)
	}
	if !c.Denied("d", true) || !c.Denied("d/x", false) || c.Denied("a", false) {
		t.Error("Denied does not tell d from a")
	}
}

func TestFields(t *testing.T) {
	c := Compile(tree("a", "d/b",
		".robots\tCrawl-delay: 5|Request-rate: 1/10|Visit-time: 0600-0845|Comment: hello|Sitemap: gopher://h/|Index: Deny|Cooldown: 60|Crawl-delay: 9",
		"d/.robots\tIndex: allow"), nil)
	want := SiteFields{
		CrawlDelay: "5", RequestRates: []string{"1/10"}, VisitTimes: []string{"0600-0845"}, Comments: []string{"hello"},
		Sitemaps: []string{"gopher://h/"}, Index: "deny", Cooldown: 60,
	}
	if got := c.Fields(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(string(c.File()), "Disallow: /.robots\nCrawl-delay: 5\n") || !strings.HasSuffix(string(c.File()), "\n\nSitemap: gopher://h/\n") {
		t.Errorf("got:\n%s", c.File())
	}
}

// TestManyRobots names more robots than can have groups, all of them differently.
func TestManyRobots(t *testing.T) {
	root := &Dir{}
	for u := range 200 {
		note := fmt.Sprintf("User-agent: bot%d\nDisallow: /a\nUser-agent: often\nDisallow: /b\n", u)
		root.Dirs = append(root.Dirs, &Dir{Name: fmt.Sprintf("u%03d", u), Files: []string{"a", "b", "c"}, Notes: []*Annotation{{File: "n", Data: []byte(note)}}})
	}
	c := Compile(root, nil)
	if len(c.Unproven()) > 0 || len(c.File()) > maxOctets {
		t.Errorf("%d leaks, %d octets", len(c.Unproven()), len(c.File()))
	}
	if !strings.Contains(string(c.File()), "User-agent: often\n") || strings.Count(string(c.File()), "User-agent: ") > maxClasses+1 {
		t.Errorf("the wrong robots have groups")
	}
	if e := c.Explain("bot7", "u007/a", false); e.Allowed || e.Readers[2].Allowed {
		t.Errorf("got %+v", e)
	}
}
