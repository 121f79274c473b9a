package e2e_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// searched is phlog with an index.
func searched(t *testing.T) (*daemon, string) {
	t.Helper()
	d, root := phlog(t, "-search")
	d.WaitLog("search index built")
	return d, root
}

// TestSearchWithClients: every client that knows searches gets the text and the
// line that was found.
func TestSearchWithClients(t *testing.T) {
	d, _ := searched(t)
	for _, client := range [][]string{
		{"curl", "-s", "gopher://" + d.addr + "/7/search%09second"},
		{"lynx", "-dump", "gopher://" + d.addr + "/7/search?second"},
		{"w3m", "-dump", "gopher://" + d.addr + "/7/search?second"},
	} {
		cmd := exec.Command(harness.Tool(t, client[0]), client[1:]...)
		cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir(), "TERM=dumb")
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "The *second*") || !strings.Contains(string(out), "2026-01-02-second.txt") {
			t.Errorf("%s: %v: %s", client[0], err, out)
		}
	}
}

// TestSearchWithUMN types a word into the form of the client of the University of
// Minnesota.
func TestSearchWithUMN(t *testing.T) {
	harness.Tool(t, "gopher")
	d, _ := searched(t)
	host, port, err := net.SplitHostPort(d.addr)
	if err != nil {
		t.Fatal(err)
	}
	screen := onTerminal(t, "stty rows 60 cols 100; exec gopher -T 7 -p /search -t Search "+host+" "+port, []reaction{
		{"Press RETURN", "\r"}, {"Words to search for", "second\r"}, {"Page: 1/1", "q"}, {"Really quit", "y"},
	})
	if !strings.Contains(screen, "2026-01-02-second.txt") || !strings.Contains(screen, "The *second*") {
		t.Errorf("shown:\n%s", screen)
	}
}

// TestSearchFollows: changes are found within a second where events come, and what
// robots may not have is not found.
func TestSearchFollows(t *testing.T) {
	d, root := searched(t)
	finds := func(word string) bool { return strings.Contains(d.ask("/search\t"+word), "\t/phlog/") }
	if finds("yet") || !finds("second") {
		t.Errorf("found: %q", d.ask("/search\tyet"))
	}
	write(t, filepath.Join(root, "phlog/2026-06-06.txt"), "of walruses\n")
	if !eventually(func() bool { return finds("walrus*") }) {
		t.Error("a new text is not found")
	}
	write(t, filepath.Join(root, "phlog/.robots"), "Disallow: /\n")
	if !eventually(func() bool { return !finds("walrus*") }) {
		t.Error("what robots may not have is found")
	}
}

// TestSearchSurvives: with -search-dir, in the sandbox, an index outlives a kill and
// follows what changed meanwhile; what was denied meanwhile is not found for a moment.
func TestSearchSurvives(t *testing.T) {
	dir := t.TempDir()
	d, root := phlog(t, "-search", "-search-dir", dir)
	finds := func(d *daemon, word string) bool { return strings.Contains(d.ask("/search\t"+word), "\t/phlog/") }
	d.WaitLog("search index built")
	write(t, filepath.Join(root, "phlog/2026-06-06.txt"), "of walruses\n")
	if !eventually(func() bool { return finds(d, "walruses") }) {
		t.Fatal("a new text is not found")
	}
	d.Kill()
	write(t, filepath.Join(root, "phlog/2026-06-07.txt"), "of wombats\n")
	write(t, filepath.Join(root, "phlog/.robots"), "Disallow: /2026-06-06.txt\n")
	d = serve(t, root, "-search", "-search-dir", dir)
	if finds(d, "walruses") {
		t.Error("what was denied while gophd was down is found")
	}
	if !eventually(func() bool { return finds(d, "wombats") }) {
		t.Error("a text that was written while gophd was down is not found")
	}
}

// TestSearchIsDeniedToRobots: robots.txt denies /search, whose pages are noindex, unless
// the root's annotation opens it.
func TestSearchIsDeniedToRobots(t *testing.T) {
	d, root := phlog(t, "-search", "-http", "view")
	denied := func() bool {
		noindex := strings.Contains(d.ask("HEAD /search/1/second HTTP/1.0\r\n"), "X-Robots-Tag: noindex")
		lines := strings.Split(d.ask("/robots.txt"), "\n")
		return noindex && !slices.Contains(lines, "Allow: /search*") && slices.Contains(lines, "Disallow: /search/")
	}
	if !denied() {
		t.Errorf("robots may search: %q", d.ask("/robots.txt"))
	}
	write(t, filepath.Join(root, ".robots"), "Allow: /search*\n")
	if !eventually(func() bool { return !denied() }) {
		t.Error("an annotation does not open /search")
	}
}
