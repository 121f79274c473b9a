package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestOwnFilesAreNoContent: the private key, the certificate, the access log and the search
// index are not served under any name, on any front of any host: no listing has them, no
// search finds them, no sitemap names them.
func TestOwnFilesAreNoContent(t *testing.T) {
	private := t.TempDir()
	pair, err := keypair.SelfSigned(private, "127.0.0.1")
	must(t, err)
	access := filepath.Join(private, "access.log")
	write(t, access, "")
	own := map[string]string{"k.txt": pair.Key, "c.txt": pair.Cert, "l.txt": access}

	// Every tree has links to them: one hard link, and one symbolic link to that.
	root, mount, second := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{root, mount, second} {
		write(t, filepath.Join(dir, "a.txt"), "A text\n")
		for name, file := range own {
			must(t, os.Link(file, filepath.Join(dir, name)))
			must(t, os.Symlink(name, filepath.Join(dir, "s"+name)))
		}
	}
	f := serveFronts(t, root, "-tls-cert", pair.Cert, "-tls-key", pair.Key, "-access-log", access, "-http", "view",
		"-search", "-search-dir", private, "-sitemap", "-mount", "/m="+mount, "-vhost", "two.example="+second)
	f.WaitLog("search index built")
	index := filepath.Join(root, "db.txt")
	must(t, os.Link(filepath.Join(private, "search.db"), index))

	for _, dir := range []string{"/", "/m/"} {
		for _, name := range []string{"k.txt", "c.txt", "l.txt", "sk.txt", "sc.txt", "sl.txt", "db.txt"} {
			sel := dir + name
			if got := f.ask(sel); !strings.HasPrefix(got, "3") {
				t.Errorf("gopher: %s: %.60q", sel, got)
			}
			if got, _ := harness.Exchange("", f.addr, "GET "+sel+" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n", nil); !strings.HasPrefix(string(got), "HTTP/1.1 404 ") {
				t.Errorf("web: %s: %.60q", sel, got)
			}
			if header, _, err := f.gemini("gemini://127.0.0.1" + sel + "\r\n"); err != nil || !strings.HasPrefix(header, "51") {
				t.Errorf("gemini: %s: %q, %v", sel, header, err)
			}
			if header, _, err := f.gemini("gemini://two.example" + sel + "\r\n"); err != nil || !strings.HasPrefix(header, "5") {
				t.Errorf("gemini, the other host: %s: %q, %v", sel, header, err)
			}
			if got, _ := harness.Exchange("", f.at["spartan"], "127.0.0.1 "+sel+" 0", nil); !strings.HasPrefix(string(got), "4") {
				t.Errorf("spartan: %s: %.60q", sel, got)
			}
			if got, _ := harness.Exchange("", f.at["nex"], sel, nil); strings.Contains(string(got), "-----") {
				t.Errorf("nex: %s: %.60q", sel, got)
			}
		}
		menu := f.ask(dir)
		if !strings.Contains(menu, "a.txt") {
			t.Fatalf("the menu of %s: %q", dir, menu)
		}
		for _, name := range []string{"k.txt", "c.txt", "l.txt", "db.txt"} {
			if strings.Contains(menu, name) {
				t.Errorf("%s is in the menu of %s", name, dir)
			}
		}
	}
	for _, sel := range []string{"/sitemap.txt", "/search\tPRIVATE", "/search\tCERTIFICATE", "/search\tgopher"} {
		if got := f.ask(sel); strings.Contains(got, "k.txt") || strings.Contains(got, "c.txt") || strings.Contains(got, "l.txt") {
			t.Errorf("%q: %q", sel, got)
		}
	}

	// A log that was rotated is another file under the same name.
	must(t, os.Rename(access, access+".1"))
	f.Signal(syscall.SIGHUP)
	if !eventually(func() bool { _, err := os.Stat(access); return err == nil }) {
		t.Fatal("no new log")
	}
	must(t, os.Link(access, filepath.Join(root, "new.txt")))
	if got := f.ask("/new.txt"); !strings.HasPrefix(got, "3") {
		t.Errorf("the new log: %.60q", got)
	}
}
