package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestEnforce: readers, a robot that does not keep the rules, and what fail2ban reads of it.
// Package enforce tests who is a robot.
func TestEnforce(t *testing.T) {
	root := tree(t, map[string]string{".robots": "Crawl-delay: 1\nDisallow: /private/\n",
		"a.txt": "a\n", "private/p.txt": "p\n"})
	access := filepath.Join(t.TempDir(), "access.log")
	d := harness.Start(t, "-root", root, "-enforce", "refuse", "-access-log", access, "-status",
		"127.0.0.9/32")
	ask := func(from, selector string) string {
		return askFrom(t, from, d.Addr, selector+"\r\n", nil)
	}
	const refused = "3Not for robots: see robots.txt\t\terror.host\t1\r\n.\r\n"

	// Nobody is held to what they have not read.
	for range 20 {
		if got := ask("127.0.0.5", "/private/p.txt"); got != "p\n" {
			t.Fatalf("a reader gets %q", got)
		}
	}

	// A reader whose browser a page elsewhere makes load the file as an image.
	got := ask("127.0.0.8", "GET /robots.txt?1 HTTP/1.1\r\nHost: "+d.Addr+
		"\r\nSec-Fetch-Dest: image\r\nConnection: close\r\n")
	if !strings.Contains(got, "Disallow: /private/") {
		t.Errorf("the browser gets %q", got)
	}
	for range 5 {
		if got := ask("127.0.0.8", "/private/p.txt"); got != "p\n" {
			t.Fatalf("the browser's reader gets %q", got)
		}
	}

	// A reader who follows a link to the file, and a rude robot.
	ask("127.0.0.7", "/")
	ask("127.0.0.7", "robots.txt")
	ask("127.0.0.6", "/nothing-there/")
	ask("127.0.0.6", "robots.txt")
	for i := range 50 {
		if got := ask("127.0.0.7", "/private/p.txt"); got != "p\n" {
			t.Fatalf("a reader of the file gets %q", got)
		}
		want := refused
		if i < 2 {
			want = "p\n"
		}
		if got := ask("127.0.0.6", "/private/p.txt"); got != want {
			t.Errorf("the rude robot gets %q", got)
		}
	}
	status := ask("127.0.0.9", "/server-status")
	if !regexp.MustCompile(`(?s)must obey robots.txt.*refused +\d\d.*127\.0\.0\.6 +\d\d`).MatchString(status) {
		t.Errorf("the status page does not tell:\n%s", status)
	}
	d.Stop()

	// The access log, as fail2ban reads it.
	filter := "../../examples/fail2ban/gophd-robots.conf"
	out, err := exec.Command(harness.Tool(t, "fail2ban-regex"), "--print-all-matched", access,
		filter).CombinedOutput()
	if err != nil {
		t.Fatalf("fail2ban-regex: %v\n%s", err, out)
	}
	log, err := os.ReadFile(access)
	must(t, err)
	want := strings.Count(string(log), `" 403 `)
	m := regexp.MustCompile(`Lines: (\d+) lines, \d+ ignored, (\d+) matched`).FindSubmatch(out)
	if m == nil || want < 20 || string(m[2]) != strconv.Itoa(want) {
		t.Errorf("fail2ban finds other lines than the %d of status 403:\n%s", want, out)
	}
	if strings.Contains(string(out), "127.0.0.5") {
		t.Error("fail2ban would shut out the reader")
	}
}
