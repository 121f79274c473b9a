package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// What is denied is answered at no spelling that the file lets an RFC 9309 robot
// fetch: one that no rule can name, or not without an allowed one, is answered
// with a pointer. Asked twice, since replies are kept.
func TestDeniedAtNoSpelling(t *testing.T) {
	secrets := []string{"#a/b/x", "# file", " lead", "*star", "dir/x", "plain"}
	files := map[string]string{"dirt.txt": "open",
		".robots": "Disallow: /dir/\nDisallow: /%23\nDisallow: / lead\nDisallow: /%2Astar\nDisallow: /plain\n"}
	for _, name := range secrets {
		files[name] = "secret"
	}
	d := serve(t, tree(t, files))
	file := robots.Parse(robots.RFC9309, []byte(d.ask("robots.txt")))
	for _, name := range append(secrets, secrets...) {
		for _, sel := range selector.Spellings(name, false) {
			reply := d.ask(sel)
			if strings.Contains(reply, "secret") && file.Allowed("x", sel) {
				t.Errorf("%q is answered with what is denied, and allowed by\n%s", sel,
					d.ask("robots.txt"))
			}
			if sel[0] == '/' && reply != "secret" {
				t.Errorf("%q is answered with %q", sel, reply)
			}
		}
	}
	for _, sel := range []string{"#a/", "#a/b/", "#a", "dir"} {
		if !file.Allowed("x", sel) { // nothing is gained by a pointer
			continue
		}
		if items := lines(d.ask(sel)); !strings.Contains(items[0],
			"\t/"+strings.TrimSuffix(sel, "/")+"/\t") {
			t.Errorf("%q is answered with %q, not with a pointer", sel, items)
		}
	}
}

// The caps.txt that is made where there is none is under the policy, too: a reader
// that takes it although it is denied has been named by the report about the line
// that denies it, and with it caps.txt.
func TestMadeCapsObeyThePolicy(t *testing.T) {
	root := tree(t, map[string]string{"x": "x", "caps": "x", ".robots": "Disallow: /\nAllow: /x\n"})
	d := serve(t, root)
	snap, err := site.Load(root)
	must(t, err)
	if !strings.HasPrefix(d.ask("/caps.txt"), "CAPS") {
		t.Fatalf("/caps.txt is answered with %q", d.ask("/caps.txt"))
	}
	by := snap.Compiled.Explain("x", "caps.txt", false).By
	if by == nil || by.Allow {
		t.Fatalf("caps.txt is denied by %v", by)
	}
	file := []byte(d.ask("robots.txt"))
	for _, m := range readers.All() {
		named := slices.ContainsFunc(snap.Compiled.Reports(), func(r policy.Report) bool {
			return r.File == by.File && r.Line == by.Line && slices.Contains(r.Readers, m.Name) &&
				slices.Contains(r.Leaks, "caps.txt")
		})
		for _, spelling := range []string{"caps.txt", "/caps.txt"} {
			if shown := strings.HasPrefix(d.ask(spelling), "CAPS"); shown &&
				m.Read(file).Agent("x").AllowedAs('0', spelling) && !named {
				t.Errorf("%s takes %s as allowed by\n%s", m.Name, spelling, file)
			}
		}
	}
}
