package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAliases: what links and mounts show again is listed once, under its real name; every
// selector works over Gopher, browsers are sent to the real name, and no robot gets by a link
// what it may not have.
func TestAliases(t *testing.T) {
	root := tree(t, map[string]string{
		"phlog/2026-01-01-one.txt": "one gooseberry\n", "phlog/2026-01-02-two.txt": "two gooseberries and a gooseberry\n", "phlog/2026-01-03-three.txt": "third gooseberry\n",
		"den/.robots": "Disallow: /\n", "den/inner/2026-02-01-den.txt": "a gooseberry that is denied\n", "other/a.txt": "a\n",
		"blog": "-> phlog", "other/old": "-> ../phlog", "latest.txt": "-> phlog/2026-01-03-three.txt", "other/2026-01-02-copy.txt": "-> ../phlog/2026-01-02-two.txt",
		"other/inn": "-> ../den/inner", "other/2026-02-01-den.txt": "-> ../den/inner/2026-02-01-den.txt",
	})
	d := serve(t, root, "-search", "-sitemap", "-http", "view", "-mount", "pub="+filepath.Join(root, "phlog"))

	feed := d.ask("/feed.xml")
	if n := strings.Count(feed, "<entry>"); n != 3 || strings.Count(feed, "<id>") != 4 || strings.Contains(feed, "den") {
		t.Errorf("%d entries in %s", n, feed)
	}
	for _, sel := range []string{"/blog/feed.xml", "/pub/feed.xml", "/other/old/feed.xml"} {
		if feed := d.ask(sel); strings.Count(feed, "<entry>") != 3 || !strings.Contains(feed, "/phlog/2026-01-01-one.txt") {
			t.Errorf("%s: %s", sel, feed)
		}
	}
	if feed := d.ask("/other/feed.xml"); strings.Count(feed, "<entry>") != 1 || !strings.Contains(feed, "/phlog/2026-01-02-two.txt") {
		t.Errorf("the feed of a directory with a link to a text: %s", feed)
	}
	d.Until("the search finds each text once", func() bool {
		found := d.ask("/search\tgooseberry")
		return strings.Count(found, "\n0") == 3 && strings.Count(found, "/phlog/") >= 3 && !strings.Contains(found, "/blog/") && !strings.Contains(found, "den")
	})
	sitemap := d.ask("/sitemap.txt")
	for _, name := range []string{"one", "two", "three"} {
		if strings.Count(sitemap, name+".txt") != 1 || !strings.Contains(sitemap, "/0/phlog/2026-01-0") {
			t.Errorf("%s in %s", name, sitemap)
		}
	}
	for _, alias := range []string{"blog", "pub", "latest", "copy", "inn", "den"} {
		if strings.Contains(sitemap, alias) {
			t.Errorf("%s is in %s", alias, sitemap)
		}
	}
	for sel, want := range map[string]string{"/blog/2026-01-01-one.txt": "one", "/other/old/2026-01-03-three.txt": "third", "/pub/2026-01-02-two.txt": "two",
		"/latest.txt": "third", "/other/inn/2026-02-01-den.txt": "a gooseberry"} {
		if got := d.ask(sel); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", sel, got)
		}
	}
	robots := d.ask("robots.txt")
	for _, line := range []string{"Disallow: /den/\n", "Disallow: /other/inn/\n", "Disallow: /other/2026-02-01-den.txt\n"} {
		if !strings.Contains(robots, line) {
			t.Errorf("no %q in %s", line, robots)
		}
	}
	for path, want := range map[string]string{"/blog/2026-01-01-one.txt": "Location: /phlog/2026-01-01-one.txt\r\n", "/other/old/": "Location: /phlog/\r\n", "/latest.txt": "Location: /phlog/2026-01-03-three.txt\r\n"} {
		if got := d.ask("GET " + path + " HTTP/1.0\r\n"); !strings.Contains(got, want) {
			t.Errorf("a browser asks for %s: %.300s", path, got)
		}
	}
	if strings.Contains(robots, "blog") {
		t.Errorf("an alias of what nothing denies: %s", robots)
	}
}
