package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/treetest"
)

// gophd runs the program and returns what it writes and its status.
func gophd(args ...string) (stdout, stderr string, status int) {
	var out, errs strings.Builder
	status = run(context.Background(), append([]string{"gophd"}, args...),
		strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), status
}

// treeOf makes a directory of files.
func treeOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	treetest.Write(t, root, files)
	return root
}

func pubnix(t *testing.T) string {
	return treeOf(t, map[string]string{
		".robots":           "User-agent: *\nCrawl-delay: 3\nIndex: deny\nCooldown: 7200\nAllow: /\n",
		"phlog/1.txt":       "one",
		"phlog/.robots":     "Disallow: /drafts/\nAllow: /drafts/about.txt\n",
		"phlog/drafts/n":    "new",
		"phlog/drafts/a.gz": "about",
		"~bob/x.txt":        "x",
		"~bob/x.txt.gz":     "x",
		"~bob/.robots":      "Disallow: /x.txt$\nDisallow: /*.backup\n",
		"~bob/old.backup":   "x",

		"phlog/drafts/about.txt": "about",
	})
}

// network is an IRC server that says one thing.
func network(token string) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewScanner(c)
		for in.Scan() && !strings.HasPrefix(in.Text(), "USER") {
		}
		_, _ = fmt.Fprintf(c, ":irc 001 x :Hello\r\n:irc 005 x %s NICKLEN=30 :are supported by this server\r\n:irc 422 x :No message\r\n", token)
		for in.Scan() && in.Text() != "QUIT" {
		}
	}
}

// document answers every selector alike.
func document(body string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, body)
	}
}

// TestRobotsCommands: what each command prints, on either output, for a directory TREE, and its
// status.
func TestRobotsCommands(t *testing.T) {
	bob := pubnix(t)
	tree := func(annotation string, names ...string) string {
		files := map[string]string{".robots": annotation}
		for _, name := range names {
			files[name] = ""
		}
		return treeOf(t, files)
	}
	soon := tree("Disallow: /soon/\nAllow: /soon/x\nDisallow: /a\n", "a")
	zip := tree("Disallow: /*.zip$\nAllow: /a*.zip$\nUser-agent: foo\nDisallow: /*.zip$\n", "ab.zip")
	drafts := tree("Disallow: /drafts/\n", "a.txt")
	later := tree("Disallow: /later/\nDisallow: /a.txt\n", "a.txt", "d/b.txt")
	mine := tree("User-agent: mybot\nDisallow: /a\n", "a", "b")
	alike := map[string]string{".robots": "User-agent: foo\nDisallow: /x*1\n"}
	for i := range 50 {
		alike[fmt.Sprintf("x%d1", i)], alike[fmt.Sprintf("x%d2", i)] = "", ""
	}
	many := treeOf(t, alike)
	alow := treeOf(t, map[string]string{
		"robots": "User-agent: *\nAlow: /a/b$\nAllow: /a/b$\nDisallow: /a/\n"})
	annotation := tree("Disallow: /y\n")
	vile := filepath.Join(treeOf(t, map[string]string{"a\n\x1b[31m": "Disallow: /x\x1b\n"}),
		"a\n\x1b[31m")
	irc := func(token string) string {
		return "irc://" + treetest.Conns(t, network(token)) + "/#gopher"
	}
	denying := irc("CRAWLER=index:deny")
	whole := tree("Allow: /cgi-bin/\nDisallow: /cgi-bin/hi\nDisallow: /caps.txt\nDisallow: /search\n", "a")
	flags := "-mount /pub=" + treeOf(t, map[string]string{".robots": "Disallow: /drafts/\n", "b": ""}) +
		" -fastcgi /cgi-bin=/run/cgi.socket -search TREE"
	const absent, wouldDeny = "nothing is called that now; it would be allowed",
		"nothing is called that now; the rule would deny it"
	const ofHost = "is read as the robots.txt of a host\ngophd: hint: "
	for _, tt := range []struct {
		tree, args string
		status     int
		want, not  []string
	}{
		{treeOf(t, map[string]string{"a.txt": "a"}), "check -json -root TREE", exit.OK,
			[]string{`"reports": []`}, nil},
		{bob, "check -json -root TREE", exit.OK, []string{
			"\"code\": \"GLOB\",\n      \"severity\": \"warning\",\n      \"file\": \"~bob/.robots\",\n      \"line\": 2,\n      \"message\"",
			"\"hint\": \"move the denied names", "\"selector\": \"/~bob/*.backup\",\n      \"readers\": [\n",
			"\"victims\": [],\n      \"leaks\": [\n        \"/~bob/.backup\"",
			"\"name\": \"rfc9309\",\n      \"rules\": 5,", `"bytes": `, `"rules": 8`},
			[]string{"null", "gophd: "}},
		{treeOf(t, map[string]string{"d/a": "a", "d/.robots": "Disalow: /a\n"}),
			"check -root TREE", exit.No,
			[]string{`d/.robots:1: error: Google and gophd read "Disalow" as Disallow, others do not (R2-MISSPELT-FIELD)`}, nil},

		// A line that bars a thousand others is one report, a notice.
		{many, "check -root TREE", exit.OK, []string{"2 notices (-v shows them)\n"},
			[]string{"OVER-BLOCK"}},
		{many, "check -v -root TREE", exit.OK, []string{"(OVER-BLOCK)"}, []string{" (-v shows"}},

		{bob, "explain -root TREE /phlog/drafts/about.txt", exit.OK,
			[]string{`allow "/phlog/drafts/about.txt" for *`,
				"decided by  phlog/.robots:2: Allow: /drafts/about.txt",
				"overrules   phlog/.robots:1: Disallow: /drafts/", "written as  robots.txt:"}, nil},
		{bob, "explain -root TREE phlog/drafts", exit.No,
			[]string{`deny  "/phlog/drafts/" for *`, `"phlog/drafts" is answered with a pointer`,
				"phlog/.robots:1: Disallow: /drafts/",
				"kept out    gopher-strict, veronica2, rfc9309"}, nil},
		{bob, "explain -root TREE /%7Ebob/x.txt", exit.No,
			[]string{`deny  "/~bob/x.txt" for *`, "~bob/.robots:1"}, nil},
		{bob, "explain -root TREE -agent mybot /~bob/new.txt", exit.OK,
			[]string{"for mybot", "let in      gopher-strict, rfc9309, ", absent,
				".robots:5: Allow: /"}, nil},
		{bob, "explain -root TREE /phlog/drafts/later.txt", exit.No,
			[]string{wouldDeny, "phlog/.robots:1"}, nil},
		{bob, "explain -root TREE /~bob/x.txt.gz", exit.OK,
			[]string{"let in      rfc9309", "kept out    gopher-strict"}, nil},
		{tree("Disallow: /\n", "a"), "explain -root TREE /robots.txt", exit.OK,
			[]string{"decided by  nothing: robots.txt is always allowed\n"},
			[]string{"no such file"}},

		// A rule overrules others only; one line of an annotation may be in the file several times.
		{zip, "explain -root TREE -agent foo /ab.zip", exit.No, nil, []string{"overrules"}},
		{zip, "explain -root TREE -agent bar /ab.zip", exit.OK,
			[]string{"    overrules   .robots:1: Disallow: /*.zip$\n"}, nil},

		// Only the product token of an agent counts.
		{mine, "explain -root TREE -agent mybot /a", exit.No, nil, nil},
		{mine, "test -agent MyBot/2.0+(gopher://example.org) TREE /a", exit.No, nil, nil},
		{mine, "test -agent mybot;x TREE /a", exit.No, nil, nil},
		{mine, "test -agent /1.0 TREE /a", exit.Usage, []string{"names no robot"}, nil},

		{later, "test TREE /later/x", exit.No, []string{wouldDeny}, nil},
		{later, "test TREE /new.txt", exit.OK, []string{absent}, nil},
		{later, "test TREE /a.txt", exit.No, nil, []string{"nothing is called"}},
		{later, "test TREE /d d/b.txt /robots.txt", exit.OK, nil, []string{"nothing is called"}},

		// The same policy in other standards, and what each cannot express.
		{bob, "show -root TREE -format rfc9309", exit.OK, []string{"Disallow: /~bob/x.txt\n"},
			[]string{"\nDisallow: ~bob", "warning"}},
		{bob, "show -root TREE -format 1994", exit.OK,
			[]string{"Disallow: /~bob/x.txt\n", `.robots:2: warning: the field "crawl-delay"`},
			[]string{"\nAllow:"}},
		{bob, "show -root TREE -format extended", exit.OK,
			[]string{"Robot-version: 2.0\n", `.robots:3: warning: the field "index"`},
			[]string{"\nCrawl-delay"}},
		{bob, "show -root TREE -format ircv3", exit.OK,
			[]string{"CRAWLER=index:deny,cooldown:7200\n",
				`~bob/.robots:1: warning: Disallow: "/~bob/x.txt$"`}, []string{"\nDisallow"}},

		// The token needs an index: without one the rules decide, if they can.
		{tree("Disallow: /\n", "a", "b"), "show -format ircv3 TREE", exit.OK,
			[]string{"CRAWLER=index:deny,cooldown:3600\n"}, nil},
		{tree("Disallow: /\nCooldown: 5\n", "a", "b"), "show -format ircv3 TREE", exit.OK,
			[]string{"CRAWLER=index:deny,cooldown:5\n"}, nil},
		{tree("Allow: /\nCooldown: 5\n", "a", "b"), "show -format ircv3 TREE", exit.OK, nil,
			[]string{"CRAWLER="}},
		{tree("Disallow: /a\n", "a", "b"), "show -format ircv3 TREE", exit.OK, nil,
			[]string{"CRAWLER="}},
		{tree("Disallow: /\nIndex:allow\n", "a", "b"), "show -format ircv3 TREE", exit.OK,
			[]string{"CRAWLER=index:allow,cooldown:3600\n"}, nil},

		{soon, "show -root TREE -annotate", exit.OK,
			[]string{"# .robots:1: " + wouldDeny + "\nDisallow: /soon/\n",
				"# .robots:2: " + absent + "\nAllow: /soon/x\n",
				"# .robots:3\nDisallow: /a\n"}, nil},
		{treeOf(t, map[string]string{"robots.txt": "# mine\nUser-agent: *\nDisallow: /a\n",
			"a": ""}), "show -root TREE -annotate", exit.OK,
			[]string{"# mine\nUser-agent: *\n# robots.txt:3\nDisallow: /a\n"}, nil},

		// The directory may be an argument.
		{drafts, "show TREE", exit.OK, []string{"Disallow: /drafts/\n"}, nil},
		{drafts, "explain TREE /drafts/x", exit.No,
			[]string{"decided by  .robots:1: Disallow: /drafts/\n"}, nil},
		{drafts, "explain /drafts/x", exit.Usage, []string{"a directory and a selector"}, nil},
		{drafts, "show -annotate -format 1994 TREE", exit.Usage, []string{"as it is served"}, nil},
		{drafts, "convert -to 1993 TREE", exit.Usage,
			[]string{"one of gopher", "content-usage"}, nil},
		{drafts, "convert TREE", exit.Usage, []string{"no -to"}, nil},

		// Programs read the same.
		{bob, "explain -json TREE /~bob/x.txt /nope", exit.No, []string{`"exists": true,`,
			"\"allowed\": false,\n    \"by\": {\n      \"file\": \"~bob/.robots\",\n      \"line\": 1,",
			"\"reader\": \"rfc9309\",\n        \"allowed\": false", `"exists": false,`}, nil},
		{alow, "lint -json TREE/robots", exit.No, []string{"\"code\": \"R2-MISSPELT-FIELD\"",
			`"line": 2,`}, []string{"null"}},
		{alow, "convert -json -from rfc9309 -to 1994 TREE/robots", exit.OK,
			[]string{`"text": "User-agent: *\n`, `"lost": [`}, []string{"gophd: ", `"lost": []`}},

		// An annotation is no robots.txt of a host: commands that read it as one say so.
		{annotation, "lint TREE/.robots", exit.OK, []string{ofHost}, nil},
		{annotation, "lint -dialect gopher TREE/.robots", exit.OK, nil, []string{"is read as"}},
		{annotation, "test TREE/.robots /y", exit.No, []string{ofHost}, nil},
		{annotation, "test -dialect gopher TREE/.robots /y", exit.No, nil, []string{"is read as"}},
		{annotation, "convert -to 1994 TREE/.robots", exit.OK, []string{ofHost}, nil},
		{annotation, "convert -from gopher -to 1994 TREE/.robots", exit.OK, nil,
			[]string{"is read as"}},

		// What else the site has is in the file that is shown, as in the one that is served.
		{whole, "show " + flags, exit.OK, []string{"Disallow: /pub/drafts/\n",
			"Allow: /cgi-bin/\n", "Disallow: /search\n"}, []string{"gophd: "}},
		{whole, "check -v " + flags, exit.OK, nil, []string{`/search" matches nothing`}},
		{whole, "show -mount pub TREE", exit.Usage, []string{"-mount"}, nil},

		// A verdict is one line without control bytes, whatever the file is called.
		{vile, "test TREE /x\x1b", exit.No, []string{`"/x\x1b"`}, []string{"a\n", "\x1b"}},

		// A network of IRC.
		{irc("CRAWLER=index:allow,cooldown:60"), "test TREE", exit.OK,
			[]string{"CRAWLER=index:allow,cooldown:60", `"TREE"`}, nil},
		{denying, "test TREE", exit.No, []string{"CRAWLER=index:deny,cooldown:3600"}, nil},
		{irc("CHANTYPES=#"), "test TREE", exit.No, []string{"unspecified"}, nil},
		{irc("CRAWLER=index:perhaps"), "test TREE", exit.No, []string{"unspecified"}, nil},
		{irc("CRAWLER=index:DENY"), "test TREE", exit.No, []string{"deny "}, nil},
		{denying, "test -json TREE #one #two", exit.No,
			[]string{`"selector": "#one",`, `"selector": "#two",`, `"index": "deny"`}, nil},
		{irc("CRAWLER=index:maybe"), "lint TREE", exit.No, []string{"(I3-INDEX-VALUE)"}, nil},
		{denying, "test -dialect 1994 TREE", exit.Usage, []string{"has no robots.txt"}, nil},
	} {
		args := []string{"robots"}
		for word := range strings.FieldsSeq(tt.args) {
			args = append(args, strings.ReplaceAll(word, "TREE", tt.tree))
		}
		out, errs, status := gophd(args...)
		if status != tt.status {
			t.Errorf("%s: status %d\n%s%s", tt.args, status, out, errs)
		}
		for _, want := range tt.want {
			if want = strings.ReplaceAll(want, "TREE", tt.tree); !strings.Contains(out+errs, want) {
				t.Errorf("%s: no %q in\n%s%s", tt.args, want, out, errs)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(out+errs, not) {
				t.Errorf("%s: %q in\n%s%s", tt.args, not, out, errs)
			}
		}
	}
}

// Annotated, a file is the same but for comments, and each rule has its source above it.
func TestShowAnnotated(t *testing.T) {
	escaped := treeOf(t, map[string]string{
		".robots": "Disallow: /x.txt$\nUser-agent: badbot\nDisallow: /\nAllow: /b c/\n",
		"x.txt":   "", "x.txt.gz": "", "b c/y": "",
		"d/.robots": "Disallow: /\nAllow: /%23in\n", "d/#in": "", "d/out": "",
	})
	for root, wants := range map[string][]string{
		pubnix(t): {"# ~bob/.robots:1\nDisallow: /~bob/x.txt"},
		escaped: {"# .robots:1\nDisallow: /x.txt$\n", "# d/.robots:2\nAllow: /d/%23in\n",
			"# .robots:4\nAllow: /b%20c/\n"},
	} {
		plain, _, _ := gophd("robots", "show", "-root", root)
		out, _, _ := gophd("robots", "show", "-root", root, "-annotate")
		rest, before := "", ""
		for line := range strings.Lines(out) {
			if strings.Contains(line, "llow: ") && !strings.HasPrefix(before, "# ") {
				t.Errorf("%q has no source in\n%s", line, out)
			}
			if before = line; !strings.HasPrefix(line, "# ") {
				rest += line
			}
		}
		if want := strings.TrimPrefix(plain,
			"# robots.txt made by gophd; \"gophd robots explain\" tells why\n"); rest != want {
			t.Errorf("without comments it is\n%s, not\n%s", rest, want)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
}
