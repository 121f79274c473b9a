package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/test/e2e/harness"
)

// everything walks all menus and returns each item on this server, by its
// selector.
func (d *daemon) everything() map[string]menu.Item {
	d.t.Helper()
	seen := map[string]menu.Item{}
	for todo := []string{""}; len(todo) > 0; todo = todo[1:] {
		for _, it := range d.items(todo[0]) {
			_, known := seen[it.Selector]
			local := it.Type != 'i' && it.Host+":" == strings.TrimRight(d.addr, "0123456789") && !strings.HasPrefix(it.Selector, "URL:")
			if known || !local {
				continue
			}
			seen[it.Selector] = it
			if it.Type == '1' {
				todo = append(todo, it.Selector)
			}
		}
	}
	return seen
}

// TestContentHasNoDeadLinks follows every link of the example gopherhole: it
// leads somewhere, by the canonical selector, and to what its type says.
func TestContentHasNoDeadLinks(t *testing.T) {
	d := content(t)
	all := d.everything()
	for sel, it := range all {
		reply := d.ask(sel)
		switch {
		case strings.HasPrefix(reply, "3") && strings.HasSuffix(reply, "\r\n.\r\n"):
			t.Errorf("%q (%s): %.80q", sel, it.Label, reply)
		case it.Type == '0' && menu.Sniff([]byte(reply)[:min(len(reply), 512)]) != '0':
			t.Errorf("%q (%s) is no text", sel, it.Label)
		case it.Type == '1':
			checkMenu(t, reply)
		}
		if name, isDir, err := selector.Path(sel); err != nil || selector.Canonical(name, isDir) != sel {
			t.Errorf("a menu links %q, which is not canonical (%v)", sel, err)
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d links in all of content/", len(all))
	}
}

// TestSpellings asks for one file and one directory in all spellings.
func TestSpellings(t *testing.T) {
	d := serve(t, tree(t, map[string]string{
		"dir/a file.txt": "A\n", "dir/100%.txt": "P\n", "dir/%61.txt": "literal\n", "dir/a.txt": "plain\n", "dir/caf\u00e9.txt": "C\n",
	}))
	directory := d.ask("/dir/")
	checkMenu(t, directory)
	for sel, want := range map[string]string{
		"/dir/a file.txt": "A\n", "dir/a file.txt": "A\n", "/dir/a%20file.txt": "A\n", "dir/%61%20file.txt": "A\n",
		"/dir/100%.txt": "P\n", "/dir/100%25.txt": "P\n", "/dir/%61.txt": "literal\n", "/dir/a.txt": "plain\n", "/dir/%2561.txt": "literal\n",
		"/dir/caf\u00e9.txt": "C\n", "/dir/caf%C3%A9.txt": "C\n", "/dir/caf%c3%a9.txt": "C\n",
		"//dir/a.txt": "plain\n", "/dir//a.txt": "plain\n", "/dir/./a.txt": "plain\n", "./dir/a.txt": "plain\n", "//dir/a%20file.txt": "A\n", "/dir/.": directory,
		"/dir": directory, "dir/": directory, "dir": directory, "/": d.ask(""),
	} {
		if got := d.ask(sel); got != want {
			t.Errorf("%q: got %q, want %q", sel, got, want)
		}
	}
	for _, sel := range []string{"/dir/../dir/a.txt", "/dir/%2e/a.txt", "//dir/a.txt/", "/dir/a.txt/", "/DIR/a.txt", "dir/a.txt ", "/dir/a.tx"} {
		if got := d.ask(sel); !strings.HasPrefix(got, "3Not found: nothing here has that name\t") {
			t.Errorf("%q: got %q", sel, got)
		}
	}
}

// TestRobotsFileIsOne asks for it at each of its selectors, where a file of
// that name lies about, too.
func TestRobotsFileIsOne(t *testing.T) {
	for name, d := range map[string]*daemon{
		"content":    content(t),
		"no file":    serve(t, tree(t, map[string]string{"a.txt": "A\n"})),
		"0/ is real": serve(t, tree(t, map[string]string{"0/robots.txt": "an impostor\n", "sub/.robots": "Disallow: /x.txt\n", "sub/x.txt": "X\n"})),
	} {
		want := d.ask("robots.txt")
		if !strings.Contains(want, "\nUser-agent: *\n") {
			t.Errorf("%s: got %q", name, want)
		}
		for _, sel := range []string{"/robots.txt", "0/robots.txt", "/0/robots.txt"} {
			if got := d.ask(sel); got != want {
				t.Errorf("%s: %q: got %q, want %q", name, sel, got, want)
			}
		}
	}
}

// TestContentIsWellAnnotated checks the example as its readers would.
func TestContentIsWellAnnotated(t *testing.T) {
	d := content(t)
	t.Setenv("PATH", filepath.Dir(harness.Program(t))+":/usr/bin:/bin")
	report := output(t, "", "gophd", "robots", "check", "-root", "../../content")
	if strings.Contains(report, "error:") || !strings.Contains(report, "\nrfc9309 ") {
		t.Errorf("robots check:\n%s", report)
	}
	if shown := output(t, "", "gophd", "robots", "show", "-root", "../../content"); shown != d.ask("robots.txt") {
		t.Errorf("robots show prints another file than is served:\n%s", shown)
	}
}
