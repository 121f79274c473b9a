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

// npm returns a command that runs a script of testdata/browser. The packages that it
// imports are in harness.Cache: test/deps gets them.
func npm(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	harness.Slow(t, "make test-all")
	dir := filepath.Join(harness.Cache(), "browser")
	want, err := os.ReadFile("testdata/browser/package-lock.json")
	must(t, err)
	if has, _ := os.ReadFile(filepath.Join(dir, "installed.json")); !bytes.Equal(has, want) {
		t.Fatal("npm's packages are not installed: make test-deps gets them")
	}
	text, err := os.ReadFile("testdata/browser/" + script)
	must(t, err)
	write(t, filepath.Join(dir, script), string(text)) // beside node_modules
	cmd := exec.Command(harness.Tool(t, "node"), append([]string{script}, args...)...)
	cmd.Dir = dir
	return cmd
}

// walker returns a command that walks a site in Chromium. It takes a minute.
func walker(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	harness.Tool(t, "chromium")
	return npm(t, "walk.js", args...)
}

// TestBrowser walks the example hole in Chromium: every page is there, axe-core
// finds nothing, nothing runs, and nothing is wider than a phone or too small to read
// there. With TEST_GOPHD_SCREENSHOTS=DIR it leaves pictures there.
func TestBrowser(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../../content")))
	write(t, filepath.Join(dir, "phlog", strings.Repeat("a-long-name-", 12)+".txt"),
		"Wide herons: visit <https://example.org/a_(b)/c>, http://example.org/?a=b&c=d or ftp://example.org.\n\nA text.\n")
	write(t, filepath.Join(dir, "phlog/table.md"),
		strings.Repeat("| a column ", 12)+"|\n"+strings.Repeat("|---", 12)+"|\n"+
			strings.Repeat("| several words ", 12)+"|\n")
	d := serve(t, dir, "-http", "view", "-search", "-status", "127.0.0.1", "-max-conns-per-ip", "0")
	if out, err := walker(t, "http://"+d.Addr+"/", os.Getenv("TEST_GOPHD_SCREENSHOTS"),
		"/server-status", "/search?q=wide+herons", "/phlog/table.md").CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestBrowserHostile walks a hole that wants to be a page of its own.
func TestBrowserHostile(t *testing.T) {
	dir := t.TempDir()
	const evil = "<script>alert(document.domain)</script><img src=x onerror=alert(1)>"
	const name = `"><img src=x onerror=alert(1)>'`
	for file, text := range map[string]string{
		"gophermap": evil + "\n!" + evil + "\n0" + evil +
			"\tevil.txt\n1x\tjavascript:alert(1)\nhx\tURL:javascript:alert(1)\nhx\tURL:data:text/html,<script>alert(1)</script>\n" +
			"hx\tURL:https://example.org/\"onmouseover=alert(1)\n1x\t//evil.example/\n1x\t/\\evil.example\n7" + evil + "\t/search\n1away\t\"><script>\tevil.example\"><script>\t70\n*\n",
		"evil.txt":          evil + "\n" + strings.Repeat("x", 5000) + "\n",
		"evil.html":         "<html>" + evil + "</html>",
		"evil.svg":          `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="alert(1)"><script>alert(1)</script><rect width="10" height="10"/></svg>`,
		"evil.xml":          `<?xml version="1.0"?><?xml-stylesheet href="javascript:alert(1)"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`,
		name + ".txt":       evil,
		name + "/gophertag": evil,
		name + "/2026-01-01 " + evil[:8] + ".txt": evil,
		"2026-02-02.txt": "<title>" + evil,
		"noext":          evil,
	} {
		write(t, filepath.Join(dir, strings.ReplaceAll(file, "</", "<")), text)
	}
	d := serve(t, dir, "-http", "view", "-search", "-max-conns-per-ip", "0")
	for _, path := range []string{"/", "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
		"/%3Cscript%3Ealert(1)%3C/script%3E"} {
		cmd := walker(t, "http://"+d.Addr+path)
		cmd.Env = append(os.Environ(), "DEAD_LINKS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v:\n%s", path, err, out)
		}
	}
}
