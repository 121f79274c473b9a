package main

import (
	"fmt"
	"strings"
	"testing"
)

// The robots.txt is there and always allowed, whatever denies the rest.
func TestExplainRobotsFile(t *testing.T) {
	root := treeOf(t, map[string]string{".robots": "Disallow: /\n", "a": ""})
	out, _, status := gophd("robots", "explain", "-root", root, "/robots.txt")
	if status != 0 || !strings.Contains(out, "decided by  nothing: robots.txt is always allowed\n") || strings.Contains(out, "no such file") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// Rules of a robots.txt that is served as it was written have a source, too.
func TestShowAnnotatesHandWritten(t *testing.T) {
	root := treeOf(t, map[string]string{"robots.txt": "# mine\nUser-agent: *\nDisallow: /a\n", "a": ""})
	out, _, _ := gophd("robots", "show", "-root", root, "-annotate")
	if want := "# mine\nUser-agent: *\n# robots.txt:3\nDisallow: /a\n"; out != want {
		t.Errorf("got:\n%s", out)
	}
}

// Fields were lost in silence.
func TestShowTellsLostFields(t *testing.T) {
	root := treeOf(t, map[string]string{".robots": "Crawl-delay: 5\nSitemap: gopher://h/0/map\nIndex: deny\n", "a": ""})
	for format, want := range map[string]string{
		"1994": ".robots:2: warning: the field \"sitemap\"", "extended": ".robots:2: warning: the field \"sitemap\"",
		"ircv3": ".robots:1: warning: the field \"crawl-delay\"",
	} {
		_, errs, _ := gophd("robots", "show", "-root", root, "-format", format)
		if !strings.Contains(errs, want) || format == "ircv3" && strings.Contains(errs, "index") {
			t.Errorf("%s:\n%s", format, errs)
		}
	}
}

// One line that bars a thousand others filled ten thousand lines: it is one report,
// and a notice, since nothing can be done about it.
func TestCheckAlike(t *testing.T) {
	files := map[string]string{".robots": "User-agent: foo\nDisallow: /x*1\n"}
	for i := range 50 {
		files[fmt.Sprintf("x%d1", i)], files[fmt.Sprintf("x%d2", i)] = "", ""
	}
	root := treeOf(t, files)
	out, _, _ := gophd("robots", "check", "-root", root)
	if !strings.Contains(out, "2 notices (-v shows them)\n") || strings.Contains(out, "OVER-BLOCK") {
		t.Errorf("got:\n%.2000s", out)
	}
	out, _, _ = gophd("robots", "check", "-v", "-root", root)
	if strings.Contains(out, " (-v shows") || strings.Count(out, "(OVER-BLOCK)") != 1 {
		t.Errorf("got:\n%.2000s", out)
	}
}
