package e2e_test

import (
	"crypto/tls"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestOnionNames types the recipe of content/manual/onion.txt for a hole with two names:
// what is reached by one name has the other in no menu, feed, sitemap, robots.txt or
// certificate.
func TestOnionNames(t *testing.T) {
	const open = "h.example"
	onion := strings.Repeat("abcdefg2", 7) + ".onion"
	root := t.TempDir()
	for name, text := range map[string]string{
		"gophermap":                 "A hole\n1Phlog\t/phlog/\n0About\tabout.txt\n1Capsule\tcapsule\n7Search\t/search\n0Robots\t/robots.txt\n",
		"about.txt":                 "About\n=====\n\nA text to find.\n",
		"phlog/2026-01-01-first.md": "# First\n\nSee [about](/about.txt).\n",
		"capsule/index.gmi": "# Capsule\n=> ../phlog/ Phlog\n=> gemini://" + open +
			"/about.txt About\n",
		".robots":    "Disallow: /drafts/\n",
		"list/a.txt": "a",
	} {
		write(t, filepath.Join(root, name), text)
	}
	at, flags := harness.AllFronts(t, filepath.Join(t.TempDir(), "keys"))
	hidden := harness.FreeAddrs(t, 1)[0]
	flags = append(flags, "-root", root, "-host", open, "-alias", onion, "-listen",
		hidden+"="+onion, "-search", "-sitemap")
	d := harness.StartCmd(t, exec.Command(harness.Program(t), flags...))
	t.Cleanup(d.Stop)
	d.WaitLog("search index built")

	selectors := []string{
		"/", "/phlog/", "/list/", "/capsule/", "/about.txt", "/phlog/2026-01-01-first.md",
		"/phlog/feed.xml", "/feed.xml", "/phlog/feed.gmi",
		"/sitemap.xml", "/sitemap.txt", "/sitemap-recent.xml", "robots.txt", "/about-robots",
		"/caps.txt", "/search", "/search\ttext", "/search?text", "/nothing-here",
		"/phlog", "/1/phlog",
	}
	for name, other := range map[string]string{open: onion, onion: open} {
		reached := harness.Fronts{"gemini": at["gemini"], "spartan": at["spartan"]}
		for _, front := range []string{"gopher", "gophers", "http", "https"} {
			reached[front] = at[front]
			if name == onion {
				reached[front] = hidden
			}
		}
		named := 0
		for front, addr := range reached {
			for _, sel := range selectors {
				raw := strings.Contains(sel, "?")
				if front == "gopher" || front == "gophers" {
					sel, raw = strings.ReplaceAll(sel, "?", "\t"), true
				} else if !raw {
					sel, raw = selector.URIPath(sel), true
				}
				reply, err := harness.Exchange("", addr, at.Request(front, name, sel, raw),
					at.Config(front, name))
				if err != nil || len(reply) == 0 ||
					strings.Contains(string(reply), other) && sel != "/capsule/" {
					t.Errorf("%s of %s: %v\n%s", sel, front, err, reply)
				}
				named += strings.Count(string(reply), name)
			}
			conf := at.Config(front, name)
			if conf == nil {
				continue
			}
			conn, err := tls.Dial("tcp", addr, conf)
			must(t, err)
			cert := conn.ConnectionState().PeerCertificates[0]
			must(t, conn.Close())
			if len(cert.DNSNames) != 1 || cert.DNSNames[0] != name ||
				cert.Subject.CommonName != name {
				t.Errorf("the certificate of %s for %s is one for %q, %s", front, name,
					cert.DNSNames, cert.Subject)
			}
		}
		if named == 0 {
			t.Errorf("no reply has the name %s", name)
		}
		for _, file := range []string{"robots.txt", "/about-robots"} {
			for _, front := range []string{"gopher", "http", "gemini"} {
				r, err := reached.Get(front, name, file, false)
				if err != nil || !strings.Contains(r.Body,
					"\nSitemap: gopher://"+name+":"+harness.Port(reached["gopher"])+
						"/0/sitemap.xml\n") {
					t.Errorf("%s of %s by %s: %v\n%s", file, front, name, err, r.Body)
				}
			}
		}
	}
}
