package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// nginxSite is one server of nginx: what it does when it is asked for robots.txt.
type nginxSite struct {
	name   string
	conf   string
	flags  []string
	status int
	out    string // stands in what is printed
	errs   string // stands in what is said on standard error
}

// webSites: what web servers do, and what a robot has to make of it (R11, R12, R14).
// ROOT is a directory of files, NEXT the address of the next site.
var webSites = []nginxSite{
	{"plain", "root ROOT;", nil, 1, `deny  "/private/x"  `, ""},
	{"gzip", "root ROOT; gzip on; gzip_min_length 1; gzip_types text/plain;", nil, 1,
		`deny  "/private/x"  `, ""},
	{"not found", "return 404;", nil, 0,
		`allow "/private/x"  no rule matches (the host has no robots file (404 Not Found): everything is allowed)`, ""},
	{"forbidden", "return 403;", nil, 0, "(403 Forbidden)", ""},
	{"too many requests", `add_header Retry-After 60 always; return 429;`, nil, 3, "",
		"429 Too Many Requests, again in 1m0s"},
	{"broken", "return 500;", nil, 3, "", "500 Internal Server Error"},
	{"busy", "return 503;", nil, 3, "", "503 Service Unavailable"},
	{"one redirect", "rewrite ^/robots.txt$ /a/robots.txt redirect; root ROOT;", nil,
		1, "deny", ""},
	{"five redirects", `rewrite ^/robots.txt$ /1 redirect; rewrite ^/1$ /2 redirect; rewrite ^/2$ /3 permanent;
		rewrite ^/3$ /4 redirect; rewrite ^/4$ /a/robots.txt redirect; root ROOT;`, nil, 1, "deny", ""},
	{"redirects for ever", "return 302 /robots.txt;", nil, 0, "(302 Found)", ""},
	{"redirect away from the web", "return 301 gopher://example.org/;", nil, 3, "",
		"301 Moved Permanently, without a location"},
	{"slow", "root ROOT; limit_rate 1;", []string{"-timeout", "2s"}, 3, "", "deadline exceeded"},
	{"silent", "return 444;", nil, 3, "", "EOF"},
	{"endless lines", "root ROOT; rewrite ^/robots.txt$ /endless;", nil, 1, `deny  "/private/x"  `,
		"is longer than the limit: only its first"},
	{"endless line", "root ROOT; rewrite ^/robots.txt$ /zeros;", nil, 1,
		"its first line is too long to be read: everything is denied", ""},
	{"a page for everything",
		"default_type text/html; return 200 '<html><p style=\"color: red\">Hello</p></html>';", nil,
		0, "no rule matches", ""},
	{"UTF-16", "root ROOT; rewrite ^/robots.txt$ /wide;", nil, 1, "deny", ""},
}

// finished runs a program to its end, and returns what it printed and its exit status.
func finished(t *testing.T, words ...string) (out, errs string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, harness.Timeout
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), status
}

// TestRobotsOfAWebServer: each thing that a web server does is one clear line and
// an exit status.
func TestRobotsOfAWebServer(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /private/\n"
	root := tree(t, map[string]string{
		"robots.txt": rules, "a/robots.txt": rules,
		"endless": rules + strings.Repeat("Disallow: /x\n", 1<<20),
		"wide": "\xff\xfe" + strings.Join(strings.Split(rules, ""), "\x00") +
			"\x00", "zeros": "",
	})
	must(t, os.Truncate(filepath.Join(root, "zeros"), 50<<20))
	for _, dir := range []string{root, filepath.Dir(root)} { // nginx may run as somebody else
		must(t, os.Chmod(dir, 0o755))
	}
	gophd := harness.Program(t)
	addrs := harness.Nginx(t, len(webSites), func(addrs []string) string {
		var b strings.Builder
		for i, s := range webSites {
			fmt.Fprintf(&b, "server { listen %s; location / { %s } }\n", addrs[i],
				strings.ReplaceAll(s.conf, "ROOT", root))
		}
		return b.String()
	})
	for i, s := range webSites {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{gophd, "robots", "test"}, s.flags...)
			out, errs, status := finished(t, append(words, "http://"+addrs[i]+"/", "/private/x")...)
			if status != s.status || !strings.Contains(out, s.out) ||
				!strings.Contains(errs, s.errs) || s.errs == "" && errs != "" {
				t.Errorf("status %d, want %d\n%s\nwant %s\n%s\nwant %s", status, s.status, out,
					s.out, errs, s.errs)
			}
			if strings.Count(strings.TrimSpace(out), "\n") > 0 || strings.Count(errs, "\n") > 2 {
				t.Errorf("more than a line:\n%s%s", out, errs)
			}
		})
	}
}

// TestRobotsOverTLS: a certificate that nobody has signed is an error with a hint.
func TestRobotsOverTLS(t *testing.T) {
	f, gophd := pair(t, "localhost"), harness.Program(t)
	root := tree(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n"})
	addrs := harness.Nginx(t, 2, func(addrs []string) string {
		return fmt.Sprintf("server { listen %s ssl; ssl_certificate %s; ssl_certificate_key %s; root %s; }\nserver { listen %s; root %[4]s; }\n", addrs[0], f.Cert, f.Key, root, addrs[1])
	})
	must(t, os.Chmod(root, 0o755))
	for _, tt := range []struct {
		words  []string
		status int
		text   string
	}{
		{[]string{"https://" + addrs[0] + "/"}, 3, "hint: -insecure accepts any certificate"},
		{[]string{"-insecure", "https://" + addrs[0] + "/"}, 1, `deny  "/private/x"`},
		{[]string{"https://" + addrs[1] + "/"}, 3, "HTTP response to HTTPS client"},
		{[]string{"http://" + addrs[0] + "/"}, 0, "400 Bad Request"},
	} {
		out, errs, status := finished(t,
			append(append([]string{gophd, "robots", "test"}, tt.words...), "/private/x")...)
		if status != tt.status || !strings.Contains(out+errs, tt.text) {
			t.Errorf("%v: status %d\n%s%s", tt.words, status, out, errs)
		}
	}
}
