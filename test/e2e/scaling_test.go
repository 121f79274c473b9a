package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// Without checks, each of two requests goes to another node, however busy they are;
// one that does not listen any more is left out at once.
const haproxyConf = `
defaults
    mode tcp
    timeout connect 2m
    timeout client 2m
    timeout server 2m
    option redispatch 1
frontend gopher
    bind fd@3
    default_backend nodes
backend nodes
    balance roundrobin
    server a %s send-proxy-v2
    server b %s send-proxy-v2
`

// balance runs haproxy before two nodes and returns its address.
func balance(t *testing.T, a, b string) string {
	t.Helper()
	return harness.HAProxy(t, 1, fmt.Appendf(nil, haproxyConf, a, b))[0]
}

func reply(addr, selector string) string {
	reply, err := harness.Ask(addr, selector)
	if err != nil {
		return "error: " + err.Error()
	}
	return reply
}

func TestTwoNodesBehindHaproxy(t *testing.T) {
	tree := t.TempDir()
	if err := os.Chmod(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) { write(t, filepath.Join(tree, name), text) }
	put("hello.txt", "hello\n")
	put("private/.robots", "Disallow: /\n")
	put("private/x.txt", "x\n")
	args := []string{"-root", tree, "-trust-proxy", "127.0.0.0/8", "-host", "gopher.example", "-port", "70", "-log-format", "text"}
	a, b := harness.Start(t, args...), harness.Start(t, args...)
	addr := balance(t, a.Addr, b.Addr)

	until(t, "haproxy answers", func() bool { return reply(addr, "/hello.txt") == "hello\n" })
	for _, selector := range []string{"", "robots.txt", "/private/", "/nothing", "/hello.txt"} {
		first, second := reply(addr, selector), reply(addr, selector) // round robin: one of each node
		if first != second || strings.HasPrefix(first, "error: ") {
			t.Errorf("%q: the nodes differ: %q, %q", selector, first, second)
		}
	}
	for name, d := range map[string]*harness.Daemon{"a": a, "b": b} {
		until(t, "node "+name+" logs the client", func() bool {
			return strings.Contains(d.Log(), "selector=/hello.txt") && strings.Contains(d.Log(), "remote=127.0.0.1")
		})
	}

	put("late/.robots", "Disallow: /\n")
	put("late/y.txt", "y\n")
	var first, second string
	until(t, "both nodes follow a change", func() bool {
		first, second = reply(addr, "robots.txt"), reply(addr, "robots.txt")
		return strings.Contains(first, "Disallow: /late") && strings.Contains(second, "Disallow: /late")
	})
	if first != second {
		t.Errorf("after a change the nodes differ:\n%s\n%s", first, second)
	}

	a.Stop()
	for i := range 20 {
		if got := reply(addr, "/hello.txt"); got != "hello\n" {
			t.Errorf("request %d with one node: %q", i, got)
		}
	}
}
