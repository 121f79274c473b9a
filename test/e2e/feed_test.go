package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// phlog serves a phlog with one draft, which robots may not have, and returns its
// root, too.
func phlog(t *testing.T, flags ...string) (*daemon, string) {
	t.Helper()
	root := tree(t, map[string]string{
		"phlog/2026-01-02-second.txt":        "The second\n",
		"phlog/2026-01-01-first.txt":         "# The first & <best>\n",
		"phlog/2026-01-03-draft.txt":         "not yet\n",
		"phlog/.robots":                      "User-agent: *\nDisallow: /2026-01-03-draft.txt\n",
		"none/a.txt":                         "a",
		"vile/2026-03-01 ]]><b>&\"' %41.txt": "\x00\x1b]]></title><script>alert(1)</script>\ufffe",
	})
	return serve(t, root, flags...), root
}

// TestFeedIsValid: xmllint holds feeds against the grammar of RFC 4287, which is no
// rubber stamp.
func TestFeedIsValid(t *testing.T) {
	d, _ := phlog(t)
	xmllint := harness.Tool(t, "xmllint")
	valid := func(feed string) ([]byte, error) {
		cmd := exec.Command(xmllint, "--noout", "--nonet", "--relaxng",
			"../../answer/feed/testdata/atom.rng", "-")
		cmd.Stdin = strings.NewReader(feed)
		return cmd.CombinedOutput()
	}
	for _, sel := range []string{"/phlog/feed.xml", "vile/feed.xml", "/feed.xml"} {
		if out, err := valid(d.Ask(sel)); err != nil {
			t.Errorf("%s: %v: %s\n%s", sel, err, out, d.Ask(sel))
		}
	}
	feed := d.Ask("/phlog/feed.xml")
	if strings.Contains(feed, "draft") {
		t.Errorf("what robots may not have is in %s", feed)
	}
	for old, bad := range map[string]string{"<id>tag": "<id/><id>tag", "<updated>": "<updated>on ",
		"<entry>": "<entry><b/>", "<title>": "<heading>"} {
		if _, err := valid(strings.Replace(feed, old, bad, 1)); err == nil {
			t.Errorf("%q for %q is taken for valid", bad, old)
		}
	}
	if got := d.Ask("/none/feed.xml"); !strings.HasPrefix(got, "3") {
		t.Errorf("a directory without dated texts has the feed %q", got)
	}
}

func TestFeedInSfeed(t *testing.T) {
	d, _ := phlog(t)
	cmd := exec.Command(harness.Tool(t, "sfeed"))
	cmd.Stdin = strings.NewReader(d.Ask("/phlog/feed.xml"))
	out, err := cmd.Output()
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := "1767312000\tThe second\tgopher://" + d.Addr +
		"/0/phlog/2026-01-02-second.txt\t<pre>\\nThe second\\n</pre>\thtml\ttag:"
	if len(lines) != 2 || !strings.HasPrefix(lines[0], want) {
		t.Errorf("sfeed read %q, want %q first", out, want)
	}
}

// TestFeedInNewsboat: newsboat's exit status says nothing; what it has read is in
// its cache.
func TestFeedInNewsboat(t *testing.T) {
	d, _ := phlog(t)
	curl, dir := harness.Tool(t, "curl"), t.TempDir()
	urls, config, cache := filepath.Join(dir, "urls"), filepath.Join(dir, "config"),
		filepath.Join(dir, "cache.db")
	must(t, os.WriteFile(urls,
		[]byte("\"exec:"+curl+" -s gopher://"+d.Addr+"/0/phlog/feed.xml\"\n"), 0o600))
	must(t, os.WriteFile(config, nil, 0o600))
	cmd := exec.Command(harness.Tool(t, "newsboat"), "-u", urls, "-c", cache, "-C", config,
		"-x", "reload")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	out, _ := cmd.CombinedOutput()
	read, err := os.ReadFile(cache)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"The second", "<pre>\nThe second\n</pre>", "The first & <best>",
		"gopher://" + d.Addr + "/0/phlog/2026-01-02-second.txt"} {
		if !bytes.Contains(read, []byte(want)) {
			t.Errorf("%q is not in newsboat's cache: %s", want, out)
		}
	}
}
