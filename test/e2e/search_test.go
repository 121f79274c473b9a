package e2e_test

import (
	"net"
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
		{"curl", "-s", "gopher://" + d.Addr + "/7/search%09second"},
		{"lynx", "-dump", "gopher://" + d.Addr + "/7/search?second"},
		{"w3m", "-dump", "gopher://" + d.Addr + "/7/search?second"},
	} {
		out := output(t, "", client...)
		if !strings.Contains(out, "The *second*") || !strings.Contains(out, "2026-01-02-second.txt") {
			t.Errorf("%s: %s", client[0], out)
		}
	}
}

// TestSearchWithUMN types a word into the form of the client of the University of
// Minnesota.
func TestSearchWithUMN(t *testing.T) {
	harness.Tool(t, "gopher")
	d, _ := searched(t)
	host, port, err := net.SplitHostPort(d.Addr)
	must(t, err)
	screen := onTerminal(t, "stty rows 60 cols 100; exec gopher -T 7 -p /search -t Search "+host+
		" "+port, []reaction{
		{"Press RETURN", "\r"}, {"Words to search for", "second\r"}, {"Page: 1/1", "q"},
		{"Really quit", "y"},
	})
	if !strings.Contains(screen, "2026-01-02-second.txt") ||
		!strings.Contains(screen, "The *second*") {
		t.Errorf("shown:\n%s", screen)
	}
}
