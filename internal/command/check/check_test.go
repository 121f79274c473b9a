package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/treetest"
)

var write, must = treetest.Write, treetest.Must

// findings are those of a tree, without what they say, what is not linked, and
// what flags do to robots.txt.
func findings(t *testing.T, dir string, o Options) (list []string, r *Outcome) {
	t.Helper()
	r, err := Examine(context.Background(), dir, o, nil)
	must(t, err)
	r.Findings = slices.DeleteFunc(r.Findings, func(d diag.Diagnostic) bool {
		return d.Code == codeUnlinked || strings.HasPrefix(d.File, "-")
	})
	for _, d := range r.Findings {
		list = append(list, string(d.Severity)+" "+d.Code+" "+d.Place())
	}
	return list, r
}

// A tree is files by their names.
type tree = map[string]string

// expect compares the findings of a tree. " -> " is in front of a hint, a message, or both.
func expect(t *testing.T, what, dir string, o Options, want ...string) {
	t.Helper()
	got, r := findings(t, dir, o)
	lost := 0
	for i, d := range r.Findings {
		for _, text := range []string{d.Hint, d.Message, d.Message + " -> " + d.Hint} {
			if full := got[i] + " -> " + text; slices.Contains(want, full) {
				got[i] = full
			}
		}
		if d.Severity == diag.Error {
			lost++
		}
	}
	same(t, what, got, want)
	if r.Lost != lost {
		t.Errorf("%s: %d lost, want %d", what, r.Lost, lost)
	}
}

// same compares two lists.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// give changes the owner of trees.
func give(t *testing.T, dir string, uid int, names ...string) {
	for _, name := range names {
		must(t, filepath.Walk(filepath.Join(dir, name),
			func(path string, _ os.FileInfo, err error) error {
				must(t, err)
				return os.Lchown(path, uid, uid)
			}))
	}
}

func TestTree(t *testing.T) {
	try := func(name string, o Options, files tree, want ...string) {
		dir := t.TempDir()
		write(t, dir, files)
		expect(t, name, dir, o, want...)
	}
	try("nothing", Options{}, tree{"a.txt": "a", "d/b.txt": "b",
		"gophermap": "Hi\n0A\ta.txt\n1D\t/d\n0R\trobots.txt\n0C\t/caps.txt\nhW\tURL:https://a.example/\n*\n", "d/.hidden": "x"})
	try("programs", Options{}, tree{"x.cgi": "", "cgi-bin/a": "", "cgi-bin/b": "",
		"d/gophermap": "#!/bin/sh\n", "gophermap": "=uptime\n7S\t/cgi-bin/a?x\n"},
		"error MENU-PROGRAM cgi-bin", "error MENU-PROGRAM d/gophermap:1", "error MENU-PROGRAM gophermap:1", "error MENU-PROGRAM gophermap:2", "error MENU-PROGRAM x.cgi")
	try("dead links", Options{}, tree{"gophermap": "0A\t/A.TXT\n1No\tno/\n0Far\t/no\th.example\n0Source\t/d/gophermap\n", "a.txt": "", "d/gophermap": "x\n", "d/inc": ""},
		"error CHECK-NAME gophermap:4", "warning CHECK-NOWHERE gophermap:1", "warning CHECK-NOWHERE gophermap:2")
	try("feeds", Options{}, tree{"gophermap": "0Feed\tphlog/feed.xml\n0None\td/feed.xml\n0Denied\tno/feed.xml\n", "phlog/2026-01-02.txt": "a", "d/a.txt": "a", "no/2026-01-02.txt": "a", "no/.robots": "Disallow: /\n"},
		"warning CHECK-NOWHERE gophermap:2", "warning CHECK-NOWHERE gophermap:3")
	try("links to what is not served", Options{}, tree{"gophermap": "=prog\n0P\tprog\n0H\t.hidden\n0S\tsecret.txt\n",
		"prog": "#!/bin/sh\n", ".hidden": "", "secret.txt": "-> /etc/hostname"},
		"error MENU-PROGRAM gophermap:1", "error CHECK-NAME gophermap:2", "error CHECK-NAME gophermap:3", "error CHECK-NAME gophermap:4", "error CHECK-OUTSIDE secret.txt")
	try("searches", Options{}, tree{"d/a.txt": "",
		"gophermap": "7A\t/find\n7B\t/search/\n7C\t/x\th.example\t70\n7D\td\n"},
		"warning CHECK-SEARCH gophermap:1", "warning CHECK-SEARCH gophermap:2")
	try("what others run by its name", Options{}, tree{"a.php": "", "b.PHP": "", "d/x.pyg": "", "d/x.sh": "#!/bin/sh\n"},
		"warning CHECK-SOURCE .", "warning CHECK-SOURCE d")
	try("text like directives", Options{}, tree{"gophermap": "- one\n- two\n-----\n"},
		"notice MENU-TEXT gophermap:1")
	try("our own name", Options{}, tree{"a": "a", "b": "b",
		"gophermap": "0A\t/a\tMe.example\t70\n0B\t/b\tme.example\n0C\t/c\tme.example\n0D\t/x\tother.example\n7E\t/cgi-bin/e\tme.example\n"},
		"error MENU-PROGRAM gophermap:5", "warning CHECK-NOWHERE gophermap:3", "notice CHECK-HOST gophermap:1")
	try("another server of our host", Options{Host: "me.example"}, tree{"a": "a", "b": "b",
		"gophermap": "0A\t/a\tme.example\t7071\n0B\t/b\tme.example\t7071\n0C\t/c\tme.example\t7071\n1D\t/d\tme.example\t7072\n1E\t/e\tme.example\n"},
		"warning CHECK-NOWHERE gophermap:3", "warning CHECK-NOWHERE gophermap:5")
	try("our host with a URL alone", Options{Host: "me.example"},
		tree{"gophermap": "hW\tURL:http://x.example/\tme.example\t70\n"})
	try("forms of links", Options{}, tree{"a": "a", "stub": "", "m": "#!/bin/sh\n",
		"gophermap": "0A\t/./a\n0S\t/stub\n1M\t/m\n"},
		"error MENU-PROGRAM gophermap:3", "notice CHECK-FORM gophermap:1", "notice CHECK-STUB gophermap:2")
	try("a program of geomyidae's", Options{}, tree{"d/index.dcgi": "", "d/a.txt": "a"},
		"error MENU-PROGRAM d/index.dcgi")
	try("no hosts", Options{}, tree{"gophermap": "0A\t/a\th.example:70\n0B\tb h.example\t70\n0C\t/c\tlocalhost\t70\n0D\t/d\t2001:db8::1\n"},
		"warning CHECK-HOST gophermap:1", "warning CHECK-HOST gophermap:2", "warning CHECK-HOST gophermap:3", "warning CHECK-NOWHERE gophermap:3")
	try("names", Options{}, tree{"d/a\nb": "", "d/\xff": "", "d/ok": "", `d/a\.b`: ""},
		"error CHECK-NAME d")
	try("links", Options{}, tree{"in": "-> d", "d/a": "", "out": "-> /etc/hostname",
		"gone": "-> no", "d/up": "-> .."},
		"error CHECK-OUTSIDE out", "warning CHECK-NOWHERE gone")
	try("menus of other servers", Options{}, tree{"a.gph": "[0|A|no.txt|server|port]\n",
		"d/.names": "Name=N\nPath=./no\nType=0\n", "e/.gophermap": "0A\tno\n"},
		"warning CHECK-NOWHERE a.gph:1", "warning CHECK-NOWHERE d/.names:1", "warning CHECK-NOWHERE e/.gophermap:1")
	try("pygopherd", Options{}, tree{"gophermap": "Hi\n# One\n## Two\n", ".abstract": "About",
		"d/gophermap": "# a comment\n", "e/.abstract": "x"},
		"warning CHECK-UMN gophermap:2", "notice CHECK-UMN .abstract", "notice MENU-TEXT gophermap:3")
	try("pages of Gemini", Options{}, tree{"index.gmi": "# Hi\n=> a.gmi A\n=> /d/ D\n=>d/b%20c.gmi B\n=> d D\n=> ./d/../a.gmi#part\n=> gone.gmi Gone\n=> /gone/ Gone\n=> gemini://far.example/x\n=> https://far.example/x\n=> mailto:a@b.example\n=> ?question\n=> #part\n```\n=> no.gmi\n```\n=> //far.example/y\n", "a.gmi": "a", "d/b c.gmi": "=> ../a.gmi\n=> a.gmi\n=> .. Up\n=>\n"},
		"warning CHECK-NOWHERE d/b c.gmi:2", "warning CHECK-NOWHERE index.gmi:7", "warning CHECK-NOWHERE index.gmi:8")
	try("a capsule under its own name", Options{}, tree{"index.gmi": "=> gemini://Me.example/a.gmi\n=> gemini://me.example:1965/b.gmi\n=> gopher://me.example/0/c.gmi\n", "a.gmi": "a", "b.gmi": "b"},
		"warning CHECK-NOWHERE index.gmi:3", "notice CHECK-HOST index.gmi:1")
	try("a capsule, whose links count once", Options{}, tree{"a.gmi": "a", "b.gmi": "b",
		"index.gmi": "=> gemini://me.example/a.gmi\n=> gemini://me.example/b.gmi\n"},
		"notice CHECK-HOST index.gmi:1 -> 2 links to me.example, probably the name of this server")
	try("links of the web", Options{}, tree{"index.html": "<a href='a.txt'>\n<!-- <a href=no.txt> --><a href=\"/gone.html\"><img src='d/p.png?x'>\n<a href=/0/a.txt><a href=\"mailto:a@b.example\"><a href='//far.example/y'><a href=#top>\n", "a.txt": "a", "d/p.png": "p",
		"d/m.md": "[a](../a.txt)\n```\n[no](no.md)\n```\n[gone](gone.md) [far](https://far.example/x) `[no](no.md)`\n"},
		"warning CHECK-NOWHERE d/m.md:5", "warning CHECK-NOWHERE index.html:2")
	try("character sets", Options{}, tree{"a.txt": "Gr\xfc\xdfe aus K\xf6ln\n",
		"b.txt": "\xcf\xf0\xe8\xe2\xe5\xf2\n", "c.nfo": "\xc9\xcd\xcd\xcd\xbb\n",
		"d.bin": "\xcf\xf0\xe8\xe2\xe5\xf2", "d/gophermap": "\xcf\xf0\xe8\xe2\xe5\xf2\n",
		"e": "\xc9\xcd\xcd\xcd\xbb\n"},
		"warning CHECK-CHARSET b.txt", "warning CHECK-CHARSET d/gophermap", "warning CHECK-CHARSET e")
	const lines = "1Phlog   phlog/\n1About\tabout.txt\n0Phlog\tphlog/\nhMail\tmailto:a@x\n1Capsule\tgemini://x/\n"
	try("lines in another form", Options{}, tree{"about.txt": "a", "phlog/a.txt": "a",
		"d/about.txt": "a", "d/phlog/b": "b", "d/gophermap": lines,
		"gophermap": lines + "hello   there\nI drew  this\n0A  b\n1Up  /\n0About  /about.txt\n"},
		`warning MENU-LINE d/gophermap:1 -> write one TAB: "1Phlog\tphlog/"`,
		"warning CHECK-FORM d/gophermap:2 -> write type 0",
		"warning CHECK-FORM d/gophermap:3 -> write type 1",
		`warning CHECK-NOWHERE d/gophermap:4 -> write "hMail\tURL:mailto:a@x"`,
		`warning CHECK-NOWHERE d/gophermap:5 -> write "hCapsule\tURL:gemini://x/"`,
		`warning MENU-LINE gophermap:1 -> write one TAB: "1Phlog\tphlog/"`,
		"warning CHECK-FORM gophermap:2 -> write type 0",
		"warning CHECK-FORM gophermap:3 -> write type 1",
		`warning CHECK-NOWHERE gophermap:4 -> write "hMail\tURL:mailto:a@x"`,
		`warning CHECK-NOWHERE gophermap:5 -> write "hCapsule\tURL:gemini://x/"`,
		"warning MENU-LINE gophermap:10")
	try("annotations", Options{}, tree{"d/.robots": "Dissallow: /\n",
		"robots.txt": "Dissallow: /\n"},
		"error R2-MISSPELT-FIELD d/.robots:1", "warning R2-MISSPELT-FIELD robots.txt:1")

	// A link to nothing has a hint where something is called almost so.
	names := tree{"about.txt": "", "phlog/rain": "", "PHLOG/x": "", "attic/x": "", "b": "",
		"d.txt": "", ".hidden": "", "gophermap": "0A\t/About.TXT\n0B\t/abuot.txt\n0C\t/phlog/Rain\n0D\t/attik/x\n0E\t/phlog/rian/\n0F\t/a\n0G\t/c.md\n0H\t/phlog/snow\n0I\t/.hiden\n"}
	try("near names", Options{}, names,
		`warning CHECK-NOWHERE gophermap:1 -> there is "/about.txt"`,
		`warning CHECK-NOWHERE gophermap:2 -> there is "/about.txt"`,
		`warning CHECK-NOWHERE gophermap:3 -> there is "/phlog/rain"`,
		`warning CHECK-NOWHERE gophermap:4 -> there is "/attic/x"`,
		"warning CHECK-NOWHERE gophermap:5 -> ", "warning CHECK-NOWHERE gophermap:6 -> ",
		"warning CHECK-NOWHERE gophermap:7 -> ", "warning CHECK-NOWHERE gophermap:8 -> ",
		"warning CHECK-NOWHERE gophermap:9 -> ")

	// The name of the server decides which links are checked.
	try("another host", Options{Host: "New.Example"}, tree{"a": "", "b": "",
		"gophermap": "0A\t/a\told.example\n0B\t/b\told.example\n0C\t/c\tnew.example\n"},
		"warning CHECK-HOST gophermap:1", "warning CHECK-NOWHERE gophermap:3")

	try("a sitemap", Options{Serve: daemon.Flags{Sitemap: true}},
		tree{"gophermap": "0S\t/sitemap.xml\n0T\t/sitemap.txt\n0U\t/sitemap.gmi\n"},
		"warning CHECK-NOWHERE gophermap:3")

	try("a search, on every front", Options{Serve: daemon.Flags{Search: true}},
		tree{"gophermap": "1S\t/search\n7S\tsearch\n7T\t/find\n", "index.gmi": "=> /search Find\n",
			"a.html": "<a href='/search?q=a'>\n"},
		"warning CHECK-SEARCH gophermap:3")

	// Programs that -fastcgi runs are not lost; a line of the shell has the script that does the
	// same.
	menus := tree{"gophermap": "=figlet -f 'big' hi\n=prog\n=uptime\n",
		"prog": "#!/bin/sh\n", "d/gophermap": "#!/bin/sh\n", "e/index.dcgi": "", "x.cgi": "",
		"cgi-bin/y": "", "f/gophermap": "1M\tm?x\n7S\t/cgi-bin/y?z\n", "f/m": "#!/bin/sh\n"}
	try("menus by a socket", Options{Serve: daemon.Flags{FastCGI: []string{"menus=/run/s"}}}, menus,
		"error MENU-PROGRAM cgi-bin -> gophd -fastcgi /cgi-bin=SOCKET",
		"error MENU-PROGRAM f/gophermap:1 -> gophd -fastcgi /f/m=SOCKET",
		"error MENU-PROGRAM f/gophermap:2 -> gophd -fastcgi /cgi-bin=SOCKET",
		`error MENU-PROGRAM gophermap:1 -> printf '%s\n' '#!/bin/sh' 'figlet -f '\''big'\'' hi' >./figlet.sh && chmod +x ./figlet.sh; write "=figlet.sh", and gophd -fastcgi menus=SOCKET runs it`,
		`error MENU-PROGRAM gophermap:3 -> printf '%s\n' '#!/bin/sh' uptime >./uptime.sh && chmod +x ./uptime.sh; write "=uptime.sh", and gophd -fastcgi menus=SOCKET runs it`,
		"error MENU-PROGRAM x.cgi -> gophd -fastcgi '*.cgi=SOCKET'")
	try("menus by none", Options{}, menus, "error MENU-PROGRAM cgi-bin",
		"error MENU-PROGRAM d/gophermap:1", "error MENU-PROGRAM e/index.dcgi",
		"error MENU-PROGRAM f/gophermap:1", "error MENU-PROGRAM f/gophermap:2",
		"error MENU-PROGRAM gophermap:1", "error MENU-PROGRAM gophermap:2",
		"error MENU-PROGRAM gophermap:3", "error MENU-PROGRAM x.cgi")
}

// TestUnlinked: a file or a directory that no menu, no page and no listing links from outside is
// named; one that any of them links is not, under whatever name.
func TestUnlinked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tree{
		"gophermap":  "0A\ta.txt\n1D\t/d/\n0H\t/host.txt\tme.example\n0I\t/inc/i.txt\tme.example\n0L\t/alias.txt\n=inc/menu\n-hidden.txt\nhW\tURL:gemini://me.example/url.gmi\n0P\tpage.html\n0M\tm.md\n0G\tg.gmi\n1F\tf\n0S\t/second.txt\twww.me.example\n0T\t/third.txt\twww.me.example\n",
		"second.txt": "a", "third.txt": "a", "far/in/gophermap": "1Up\t/far/\n",
		"a.txt": "a", "host.txt": "a", "real.txt": "a", "alias.txt": "-> real.txt",
		"hidden.txt": "a", "url.gmi": "a", "favicon.ico": "a", "alone.txt": "a", "far/x.txt": "a",
		".secret": "a", "draft/a.txt": "a", ".robots": "Disallow: /draft/\n",
		"page.html": `<a href="from-page.txt"><IMG SRC=/p.png>`, "from-page.txt": "a", "p.png": "a",
		"m.md": "[x](from%20md.txt#a)", "from md.txt": "a", "g.gmi": "=> from.gmi\n",
		"from.gmi": "a",
		"inc/menu": "0N\tinc/named.txt\n", "inc/named.txt": "a", "inc/i.txt": "a", "d/all.txt": "a",
		"e/gophermap": "0X\tx\n*\n", "e/listed.txt": "a", "f/gophermap": "1E\t/e/sub\n",
		"e/sub/gophermap": "1Up\t/e/sub/\n", "f/deep/a.txt": "a", "robots.txt": "",
	})
	c, stop, err := begin(t.Context(), dir, "", Options{})
	must(t, err)
	defer func() { must(t, stop()) }()
	c.crawl(dir)
	var got []string
	for at, d := range c.gopher.snap.Tree.All() {
		for _, name := range c.gopher.unlinked(at, d) {
			got = append(got, at+" "+name)
		}
	}
	slices.Sort(got)
	same(t, "unlinked", got,
		[]string{`. "alone.txt"`, `. "far/"`, `. "hidden.txt"`, `f "deep/"`})
}

// TestCapsulesOfUsers: a tree of -users gemini= is crawled as clients of Gemini see it, and a link
// that leads somewhere over one protocol alone is named.
func TestCapsulesOfUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := t.TempDir()
	write(t, dir, tree{"root/gophermap": "0A\t/~ann/a.txt\n0B\t/~bob/b.txt\n1C\t/~ann/\n", "root/index.gmi": "=> /~ann/a.txt A\n=> /~ann/new.gmi New\n=> /~bob/b.txt B\n",
		"homes/ann/public_gopher/a.txt":     "a",
		"homes/ann/public_gopher/old.gmi":   "=> a.txt\n=> new.gmi\n",
		"homes/bob/public_gopher/b.txt":     "b",
		"homes/ann/public_gemini/index.gmi": "=> new.gmi New\n=> a.txt A\n=> gone.gmi\n",
		"homes/ann/public_gemini/new.gmi":   "new",
		"homes/ann/public_gemini/alone.gmi": "=> /~ann/new.gmi",
		"homes/ann/public_gemini/.hidden":   ""})
	give(t, dir, 1012345, "homes/ann", "homes/bob")
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	r, err := Examine(t.Context(), dir+"/root",
		Options{Serve: daemon.Flags{Users: dir + "/homes/*/public_gopher",
			UsersMinUID: 1000, UsersGemini: dir + "/homes/*/public_gemini"}}, nil)
	must(t, err)
	var got []string
	for _, d := range r.Findings {
		got = append(got, fmt.Sprintf("%s %s %s %s", d.Severity, d.Code, d.Place(), d.Message))
	}
	same(t, "capsules", got, []string{
		`warning CHECK-NOWHERE gemini=~ann/index.gmi:2 over Gemini, nothing is called "/~ann/a.txt"`,
		`warning CHECK-NOWHERE gemini=~ann/index.gmi:3 nothing is called "/~ann/gone.gmi"`,
		`warning CHECK-NOWHERE gophermap:1 over Gemini, nothing is called "/~ann/a.txt"`,
		`warning CHECK-NOWHERE index.gmi:1 over Gemini, nothing is called "/~ann/a.txt"`,
		`warning CHECK-NOWHERE ~ann/old.gmi:2 nothing is called "/~ann/new.gmi"`,
		`notice CHECK-UNLINKED gemini=~ann no menu or page links "alone.gmi"`,
	})
}

// What lies in other trees, and what programs and the search answer, is there.
func TestTreeWithParts(t *testing.T) {
	dir, pub, homes := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, pub, tree{"a.txt": "a"})
	write(t, homes, tree{"bob/public_gopher/b.txt": "b"})
	files := tree{"x.cgi": "", "y.dcgi": "", "hello.php": "",
		"cgi-bin/map/gophermap": "#!/bin/sh\n", "out": "-> " + pub,
		"bob":       "-> " + homes + "/bob/public_gopher",
		"gophermap": "0A\t/pub/a.txt\n0B\t/~bob/b.txt\n0C\t/cgi-bin/c?d\n1Y\ty.dcgi\n7S\t/search\n7T\t/cgi-bin/t\n~\n0No\t/pub/no.txt\n1X\tx.cgi\n"}
	write(t, dir, files)
	uid := disk.OwnerOf(stat(t, homes))
	o := Options{Serve: daemon.Flags{Search: true, Mounts: []string{"pub=" + pub},
		FastCGI: []string{"/cgi-bin=/run/s", "*.dcgi=/run/s", "*.php=/run/s"},
		Users:   homes + "/*/public_gopher", UsersMinUID: max(uid, 1)}}
	if uid == 0 {
		give(t, homes, 12345, "bob/public_gopher")
	}
	expect(t, "parts", dir, o, "error MENU-PROGRAM gophermap:9", "error MENU-PROGRAM x.cgi",
		"warning CHECK-NOWHERE gophermap:8")
}

// What another user cannot read is told once for a directory.
func TestTreeOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tree{"a": "", "b": "", "c": "", "shut/x": "", "gophermap": "Hi\n"})
	for _, name := range []string{"a", "b", "gophermap"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0o600))
	}
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0o710))
	expect(t, "another user", dir,
		Options{User: &sandbox.Identity{Name: "somebody", UID: 4_000_000, GID: 4_000_000}},
		`error CHECK-READ . -> user somebody cannot read "a" (-rw-------) and 1 more -> chmod o+r `+
			dir+"/a "+dir+"/b",
		"error CHECK-READ gophermap -> chmod o+r "+dir+"/gophermap",
		"error CHECK-READ shut -> chmod o+rx "+dir+"/shut")
	st := stat(t, dir).Sys().(*syscall.Stat_t)
	uid, gid := int(st.Uid), int(st.Gid)
	expect(t, "the owner", dir, Options{User: &sandbox.Identity{Name: "owner", UID: uid}})
	for _, name := range []string{"a", "b", "gophermap"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0o640))
	}
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0o750))
	expect(t, "the group", dir, Options{User: &sandbox.Identity{Name: "group", UID: 4_000_000,
		GID: 4_000_000, Groups: []int{gid}}})
}

// What the serving user cannot enter is told by name: homes of users with a Gopher
// directory, mounts, the root itself.
func TestTreesOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can look into the homes of others")
	}
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	write(t, dir, tree{"root/a": "", "homes/ann/public_gopher/a": "",
		"homes/bob/public_gopher/a": "", "homes/cleo/mail": "", "homes/dan/public_gopher/a": "",
		"homes/eve/x/public_gopher": "", "shut/pub/a": "", "homes/lost+found/public_gopher/x": "",
		"top/shut/a": ""})
	for name, mode := range map[string]os.FileMode{"homes/ann": 0o711, "homes/bob": 0o700,
		"homes/cleo": 0o700, "homes/dan": 0o755, "homes/dan/public_gopher": 0o700,
		"homes/lost+found": 0o700, "shut": 0o700, "top/shut": 0o750} {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
		if user := filepath.Base(name); filepath.Dir(name) == "homes" && user != "lost+found" {
			must(t, os.Chown(filepath.Join(dir, name), 12345, 12345))
			_ = os.Chown(filepath.Join(dir, name, "public_gopher"), 12345, 12345)
		}
	}
	for _, user := range []string{"fay", "gus"} { // root made a directory, and a link to another's
		must(t, os.Mkdir(filepath.Join(dir, "homes", user), 0o755))
		must(t, os.Chown(filepath.Join(dir, "homes", user), 12345, 12345))
	}
	must(t, os.Mkdir(filepath.Join(dir, "homes/fay/public_gopher"), 0o755))
	must(t, os.Symlink(filepath.Join(dir, "root"), filepath.Join(dir, "homes/gus/public_gopher")))
	o := Options{User: &sandbox.Identity{Name: "somebody", UID: 4_000_000, GID: 4_000_000},
		Named: true, Serve: daemon.Flags{Users: dir + "/homes/*/public_gopher",
			UsersMinUID: 1000, Mounts: []string{"pub=" + dir + "/shut/pub"}}}
	expect(t, "the trees", dir+"/root", o, "error CHECK-READ "+dir+"/shut",
		"error CHECK-READ ~bob -> user somebody cannot enter "+dir+
			"/homes/bob (0700) -> chmod o+x "+dir+"/homes/bob",
		"error CHECK-READ ~dan",
		"error CHECK-OWNER ~fay -> chown 12345 "+dir+"/homes/fay/public_gopher",
		"error CHECK-OWNER ~gus -> ") // chown would give away what the link leads to
	expect(t, "the root", dir+"/top/shut", Options{User: o.User, Named: true},
		"error CHECK-READ "+dir+"/top/shut")
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	must(t, err)
	return info
}

// TestText: a hint is printed once.
func TestText(t *testing.T) {
	r := &Outcome{Amounts: Amounts{Directories: 1, Files: 2, Menus: 1, Lost: 1}, Annotations: 1,
		RobotsBytes: 42, Findings: []diag.Diagnostic{
			{Code: "A", Severity: diag.Error, File: "x\x1b", Line: 1, Message: "one", Hint: "do"},
			{Code: "B", Severity: diag.Notice, Message: "two", Hint: "do"}}}
	want := "x\\x1b:1: error: one (A)\n    hint: do\nnotice: two (B)\nhole: 1 directory, 2 files, 1 menu: 1 lost, 0 warnings, 1 notice\nrobots.txt: 42 bytes, from 1 annotation\n"
	if got := r.text("hole", ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
