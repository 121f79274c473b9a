package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAbuseDotfilesOverTheWire asks for hidden names in every spelling, and looks
// for them in menus. A link to a hidden file is served: who made it has shown it.
func TestAbuseDotfilesOverTheWire(t *testing.T) {
	root := tree(t, map[string]string{
		".git/config": secret, "x/.hidden": secret, ".robots": "Disallow: /hidden-rule # " + secret + "\n", "x/.robots": "# " + secret + "\n",
		"x/y/a.txt": "A\n", ".dir/b.txt": secret, "maps/gophermap": "0.*\t\n0/.robots\t\n0Config\t/.git/config\n1Git\t../.git/\n*\n",
	})
	d := serve(t, root)
	for _, sel := range []string{
		"/.git/config", ".git/config", "/.git/", "/.git", "%2egit/config", "/%2Egit/config", "/%2e%67it/config", "x/.hidden", "/x/%2ehidden", "x/y/../.hidden",
		"/.robots", ".robots", "x/.robots", "0/.robots", "/.dir/b.txt", "/.dir/", "/.", "/..", "/x/.", "maps/", "", "x/",
	} {
		reply := d.ask(sel)
		if strings.Contains(reply, secret) || strings.Contains(reply, ".git") && strings.HasPrefix(reply, "1") {
			t.Errorf("%q: got %q", sel, reply)
		}
	}
	for _, sel := range []string{"/.git/config", "%2egit/config", "x/.hidden", ".robots", "/x/.robots", "/.dir/"} {
		if got := d.ask(sel); !strings.HasPrefix(got, "3Not found: nothing here has that name\t") {
			t.Errorf("%q: got %q", sel, got)
		}
	}
	if strings.Contains(d.ask("robots.txt"), secret) {
		t.Error("a comment of an annotation is in robots.txt")
	}
}

// TestAbuseClientsThatNeverRead has many that ask for much and read nothing.
func TestAbuseClientsThatNeverRead(t *testing.T) {
	root := tree(t, map[string]string{"a.txt": "A\n"})
	sparse(t, filepath.Join(root, "huge.bin"), 1<<30)
	d := serve(t, root, "-stall-timeout", "1s")
	before := d.peak()
	for range 20 {
		_ = d.request("/huge.bin")
	}
	until(t, "others are served", func() bool { return d.ask("/a.txt") == "A\n" })
	ended := func() bool {
		return strings.Count(d.Log(), `"remote":"127.0.0.1","selector":"/huge.bin"`) == 20
	}
	if !eventually(ended) {
		t.Errorf("they are still served:\n%s", d.Log())
	}
	if grown := d.peak() - before; grown > 16<<20 {
		t.Errorf("they took %d MiB of memory", grown>>20)
	}
}
