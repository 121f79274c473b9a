package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/test/e2e/harness"
)

// hundreds makes a tree of a thousand directories, ten in each of a hundred,
// with a file in each, and an annotation in each of the hundred.
func hundreds(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for i := range 100 {
		for j := range 9 {
			write(t, filepath.Join(root, fmt.Sprintf("d%d/e%d/a.txt", i, j)), "A\n")
		}
		write(t, filepath.Join(root, fmt.Sprintf("d%d/.robots", i)), "Disallow: /e0/\n")
	}
	return root
}

// denies reports whether robots.txt, as it is served now, denies a selector.
func (d *daemon) denies(selector string) bool {
	d.t.Helper()
	file := robots.Parse(robots.RFC9309, []byte(d.ask("robots.txt")))
	return !file.Decide("*", selector).Allowed
}

// follows makes a change and waits until robots.txt says so.
func (d *daemon) follows(t *testing.T, change func(t *testing.T), selector string, denied bool) {
	t.Helper()
	if d.denies(selector) == denied {
		t.Fatalf("%s is denied: %t already", selector, denied)
	}
	change(t)
	start := time.Now()
	if !eventually(func() bool { return d.denies(selector) == denied }) { // before -poll
		t.Fatalf("robots.txt does not follow: %s is denied: %t\n%s", selector, !denied, d.Log())
	}
	t.Logf("robots.txt followed after %v", time.Since(start).Round(time.Millisecond))
}

// shell runs a command as it would be typed in, in a directory.
func shell(dir, command string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}

// TestReloadAsPeopleChangeThings changes a tree of a thousand directories in
// the ways that people do.
func TestReloadAsPeopleChangeThings(t *testing.T) {
	root := hundreds(t)
	work := t.TempDir() // what is not served
	write(t, filepath.Join(work, "deny-all"), "Disallow: /\n")
	write(t, filepath.Join(work, "deny-e1"), "Disallow: /e1/\n")
	write(t, filepath.Join(work, "site/d3/.robots"), "Disallow: /e3/ # by rsync\n")
	write(t, filepath.Join(work, "site/d3/e3/new.txt"), "New\n")
	write(t, filepath.Join(work, "d7/.robots"), "Disallow: /e8/\n")
	write(t, filepath.Join(work, "d7/e8/a.txt"), "A\n")
	d := serve(t, root)
	at := func(command string) func(*testing.T) {
		return shell(root, strings.ReplaceAll(command, "WORK", work))
	}
	for _, tt := range []struct {
		name, command, selector string
		denied                  bool
	}{
		{"mv into place", "mv WORK/deny-all d1/.robots", "/d1/e5/a.txt", true},
		{"editor that renames", "mv d2/.robots d2/.robots~ && cp WORK/deny-e1 d2/.robots && rm d2/.robots~", "/d2/e1/a.txt", true},
		{"editor that writes again", "cp WORK/deny-e1 d2/.new && mv d2/.new d2/.robots && echo 'Disallow: /e2/' >> d2/.robots", "/d2/e2/a.txt", true},
		{"rsync", "rsync -a WORK/site/ .", "/d3/e3/new.txt", true},
		{"rm", "rm d4/.robots", "/d4/e0/a.txt", false},
		{"chmod", "cp WORK/deny-e1 d5/.robots && chmod 644 d5/.robots", "/d5/e1/a.txt", true},
		{"rename of a directory", "mv d6 moved", "/moved/e0/a.txt", true},
		{"below the new name, later", "cp WORK/deny-e1 moved/.robots", "/moved/e1/a.txt", true},
		{"another directory in its place", "rm -rf d7 && mv WORK/d7 d7", "/d7/e8/a.txt", true},
		{"a new branch of directories", "mkdir -p x/y/z && echo A > x/y/z/a.txt && echo 'Disallow: /a.txt' > x/y/z/.robots", "/x/y/z/a.txt", true},
		{"tar", "cd WORK/site && tar cf ../site.tar d3 && cd - && mkdir t && tar xf WORK/site.tar -C t", "/t/d3/e3/new.txt", true},
		{"link", "ln -s d8 link", "/link/e0/a.txt", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if program, _, _ := strings.Cut(tt.command, " "); program == "rsync" {
				harness.Tool(t, program)
			}
			d.follows(t, at(tt.command), tt.selector, tt.denied)
		})
	}
}

// TestReloadAfterCheckout serves a git checkout, goes to another branch of it,
// and back.
func TestReloadAfterCheckout(t *testing.T) {
	harness.Tool(t, "git")
	root := hundreds(t)
	at := func(command string) func(*testing.T) { return shell(root, command) }
	at("git init -q -b main && git add -A && git commit -qm one && git checkout -qb other" +
		" && for i in 1 2 3 4 5 6 7 8 9; do echo 'Disallow: /e1/' > d$i/.robots; git mv -k d1$i new$i; done" +
		" && git add -A && git commit -qm two && git checkout -q main")(t)
	d := serve(t, root)
	d.follows(t, at("git checkout -q other"), "/d9/e1/a.txt", true)
	if !eventually(func() bool { return d.denies("/new1/e0/a.txt") && !d.denies("/d11/e1/a.txt") }) {
		t.Error("what was renamed is not denied under its new name")
	}
	d.follows(t, at("git checkout -q main"), "/d9/e1/a.txt", false)
	if !eventually(func() bool { return d.denies("/d9/e0/a.txt") && d.denies("/d11/e0/a.txt") }) {
		t.Error("what was denied on the first branch is not denied on it again")
	}
	if got := d.ask("/.git/config"); !strings.HasPrefix(got, "3Not found") {
		t.Errorf("the repository is served: %q", got)
	}
}

// TestFirstRequestIsRight asks before the tree can have been read, and gets the
// whole file all the same, not one that allows everything meanwhile.
func TestFirstRequestIsRight(t *testing.T) {
	d := serve(t, hundreds(t))
	if file := robots.Parse(robots.RFC9309, []byte(d.first)); file.Decide("*", "/d99/e0/a.txt").Allowed || d.first != d.ask("robots.txt") {
		t.Errorf("the first reply is\n%s", d.first)
	}
}

// TestReloadOfTheRoot swaps the whole tree, as a generator of sites does.
func TestReloadOfTheRoot(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "site/.robots"), "Disallow: /old.txt\n")
	write(t, filepath.Join(top, "site/which.txt"), "old\n")
	write(t, filepath.Join(top, "next/.robots"), "Disallow: /new.txt\n")
	write(t, filepath.Join(top, "next/new.txt"), "new\n")
	write(t, filepath.Join(top, "next/which.txt"), "new\n")
	d := serve(t, filepath.Join(top, "site"), "-sandbox-parent")
	if got := d.ask("/which.txt"); got != "old\n" {
		t.Fatalf("got %q", got)
	}
	d.follows(t, shell(top, "mv site before && mv next site"), "/new.txt", true)
	if got := d.ask("/which.txt"); got != "new\n" {
		t.Errorf("after the swap: got %q", got)
	}
}

// TestServesWhatWasJustWritten asks for a file again and again that is written,
// changed and removed: without a cache each next request knows, with one each
// within an instant.
func TestServesWhatWasJustWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		flags  []string
		late   time.Duration // an answer may be so old
		rounds int
	}{
		"cache":    {rounds: 30, late: harness.Timeout}, // some ms, where nobody else works; for good, if nobody told
		"no cache": {rounds: 30, flags: []string{"-cache", "0"}},
		"no watch": {rounds: 2, flags: []string{"-watch", "off"}, late: harness.Timeout}, // a second
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"sub/a.txt": "A\n"})
			d := serve(t, root, tt.flags...)
			w := &watched{d: d, late: tt.late, path: filepath.Join(root, "sub", "now.txt")}
			for i := range tt.rounds {
				w.round(t, i)
			}
			t.Logf("answers were at most %v old", w.oldest.Round(time.Microsecond))
		})
	}
}

// watched is a file that comes and goes.
type watched struct {
	d            *daemon
	path         string
	late, oldest time.Duration
}

func (w *watched) round(t *testing.T, n int) {
	t.Helper()
	w.expect(t, "/sub/now.txt", func(reply string) bool { return strings.HasPrefix(reply, "3Not found") })
	for i := range 3 {
		text := fmt.Sprintf("round %d, text %d\n", n, i)
		write(t, w.path, text)
		w.expect(t, "/sub/now.txt", func(reply string) bool { return reply == text })
	}
	w.expect(t, "/sub/", func(reply string) bool { return strings.Contains(reply, "now.txt") })
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "/sub/", func(reply string) bool { return !strings.Contains(reply, "now.txt") })
}

// expect asks until the reply is right, and notes how long that took.
func (w *watched) expect(t *testing.T, selector string, right func(string) bool) {
	t.Helper()
	for start := time.Now(); ; {
		asked := time.Since(start)
		reply := w.d.ask(selector)
		switch {
		case right(reply):
			return
		case asked > w.late:
			t.Fatalf("%s: after %v: %q", selector, asked, reply)
		}
		w.oldest = max(w.oldest, time.Since(start))
	}
}
