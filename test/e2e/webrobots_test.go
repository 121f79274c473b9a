package e2e_test

import (
	"bytes"
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
	words  []string // flags, and the target, if it is not http://SITE/
	status int
	out    string // stands in what is printed
	errs   string // stands in what is said on standard error
}

// certified is a site with TLS.
const certified = "ssl_certificate CERT; ssl_certificate_key KEY; root ROOT;"

// webSites: what web servers do, and what a robot has to make of it (R11, R12, R14).
// ROOT is a directory of files.
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
	{"an unknown certificate", certified, []string{"https://SITE/"}, 3, "",
		"hint: -insecure accepts any certificate"},
	{"any certificate", certified, []string{"-insecure", "https://SITE/"}, 1, `deny  "/private/x"`, ""},
	{"no TLS", "root ROOT;", []string{"https://SITE/"}, 3, "", "HTTP response to HTTPS client"},
	{"TLS alone", certified, []string{"http://SITE/"}, 0, "400 Bad Request", ""},
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
	cert := pair(t, "localhost")
	names := strings.NewReplacer("ROOT", root, "CERT", cert.Cert, "KEY", cert.Key)
	addrs := harness.Nginx(t, len(webSites), func(addrs []string) string {
		var b strings.Builder
		for i, s := range webSites {
			listen := addrs[i]
			if s.conf == certified {
				listen += " ssl"
			}
			fmt.Fprintf(&b, "server { listen %s; %s }\n", listen, names.Replace(s.conf))
		}
		return b.String()
	})
	for i, s := range webSites {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"robots", "test"}, s.words...)
			if !strings.Contains(strings.Join(words, " "), "SITE") {
				words = append(words, "http://SITE/")
			}
			last := &words[len(words)-1]
			*last = strings.ReplaceAll(*last, "SITE", addrs[i])
			var said bytes.Buffer
			cmd := exec.CommandContext(t.Context(), harness.Program(t), append(words, "/private/x")...)
			cmd.Stderr = &said
			printed, _ := cmd.Output()
			out, errs, status := string(printed), said.String(), cmd.ProcessState.ExitCode()
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
