package menu_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
)

// tree makes a tree of names and what is in them.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// site is what the maps of the tests link.
func site() fstest.MapFS {
	return tree(map[string]string{
		"d/a.txt": "a", "d/b.txt": "b", "d/c10.png": "c", "d/c9.png": "c", "d/.hidden": "h",
		"d/README": "text", "d/blob": "\x00",
		"d/sub/x.txt": "x", "d/tagged/gophertag": "  A label\nmore\n", "d/tagged/y": "y",
		"top.txt": "t", "e/z.md": "z", "d/sub/100%": "p", "d/sub/%7a": "p", "d/sub/z": "p",
	})
}

// show writes a menu so that it is easily compared: no CR LF, no link of
// information, no host and port of ours.
func show(m menu.Menu) string {
	s := string(m.AppendTo(nil))
	s = strings.ReplaceAll(s, "\t\terror.host\t1\r\n", "\r\n")
	s = strings.ReplaceAll(s, "\tour.example\t70\r\n", "\r\n")
	return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), ".\n")
}

// problem is a diagnostic without its severity and code.
func problem(d diag.Diagnostic) string { return d.Place() + ": " + d.Message }

func problems(m menu.Menu) []string {
	var list []string
	for _, p := range m.Problems {
		list = append(list, problem(p))
	}
	return list
}

func mustMenu(t *testing.T, b menu.Builder, dir string) menu.Menu {
	t.Helper()
	m, err := b.Menu(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitAfterSeq(strings.TrimSuffix(string(m.AppendTo(nil)),
		menu.End), "\r\n") {
		if line != "" {
			checkLine(t, line)
		}
	}
	return m
}

const listing = "1sub\t/d/sub/\n1A label\t/d/tagged/\n0a.txt\t/d/a.txt\n0b.txt\t/d/b.txt\n9blob\t/d/blob\n" +
	"Ic9.png\t/d/c9.png\nIc10.png\t/d/c10.png\n0README\t/d/README\n"

// gophermaps are maps of one directory, and the menus they make.
var gophermaps = []struct {
	name, text, want string
	problem          string // the first one
}{
	{"nothing", "", "", ""},
	{"comment", "# a\ta\n#\n", "", ""},
	{"title", "!Welcome\n", "iWelcome\n", ""},
	{"star", "Hi\n*\nnot read\n", "iHi\n" + listing, ""},
	{"files here", "Hi\n-sub\n%FILES%\nBye\n%FILES\n",
		"iHi\n" + strings.Replace(listing, "1sub\t/d/sub/\n", "", 1) + "iBye\ni%FILES\n",
		`d/gophermap:5: shown as text, since it has not the form of a directive: "%FILES"`},
	{"files last", "Hi\n%FILES%\n", "iHi\n" + listing, ""},
	{"star and blanks", "*  \t\nnot read\n", listing, ""},
	{"star and more is text", "* bullet\n*** Hi ***\n", "i* bullet\ni*** Hi ***\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: "* bullet"`},
	{"dot", "Hi\n.\nnot read\n", "iHi\n", ""},
	{"dot and more is text", "...\n.plan\n.\nnot read\n", "i...\ni.plan\n",
		`d/gophermap:2: shown as text, since it has not the form of a directive: ".plan"`},
	{"hide", "-a.txt\n-sub \n-tagged/\n-blob\n-.hidden\n-gophermap\n-index.gph\n-x.cgi\n*\n",
		"0b.txt\t/d/b.txt\nIc9.png\t/d/c9.png\nIc10.png\t/d/c10.png\n0README\t/d/README\n", ""},
	{"hide by a pattern", "-*.txt\n-c?.png\n*\n",
		"1sub\t/d/sub/\n1A label\t/d/tagged/\n9blob\t/d/blob\nIc10.png\t/d/c10.png\n0README\t/d/README\n", ""},
	{"rulers are text", "-----\n-=-=-\n==\n--\n-[\n*\n",
		"i-----\ni-=-=-\ni==\ni--\ni-[\n" + listing, ""},
	{"a sentence after a dash is text", "- a.txt\n-a.txt is hidden\n",
		"i- a.txt\ni-a.txt is hidden\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: "- a.txt"`},
	{"to hide what is not there is text", "-no.txt\n-*.bak\n-sub/x.txt\n",
		"i-no.txt\ni-*.bak\ni-sub/x.txt\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: "-no.txt"`},
	{"what has an item is not listed again", "0My A\ta.txt\n1Sub\tsub\n*\n",
		"0My A\t/d/a.txt\n1Sub\t/d/sub/\n" +
			strings.NewReplacer("0a.txt\t/d/a.txt\n", "", "1sub\t/d/sub/\n",
				"").Replace(listing), ""},
	{"type rule", ":txt=9\n:.PNG=g\n?A\ta.txt\n*\n", "9A\t/d/a.txt\n" +
		strings.NewReplacer("0a.txt\t/d/a.txt\n", "", "0b", "9b", "Ic", "gc").Replace(listing), ""},
	{"type rule from here on", "?A\ta.txt\n:txt=9\n?B\tb.txt\n",
		"0A\t/d/a.txt\n9B\t/d/b.txt\n", ""},
	{"colons and more are text",
		":txt\n:=0\n:a=00\n:-)\n:a=\x01\n:a b=1\n:an-extension-too-long=1\n",
		"i:txt\ni:=0\ni:a=00\ni:-)\ni:a= \ni:a b=1\ni:an-extension-too-long=1\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: ":txt"`},
	{"headings are text", "== News ==\n= News =\n=\n", "i== News ==\ni= News =\ni=\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: "== News =="`},
	{"tilde and percent with more are text", "~bob\n%%\n~~~\n50%\n", "i~bob\ni%%\ni~~~\ni50%\n",
		`d/gophermap:1: shown as text, since it has not the form of a directive: "~bob"`},
	{"type rule of no file", ":txt=3\n:txt=i\n*\n", listing, "d/gophermap:1: no file is of type 3"},
	{"users", "~\nx\n", "ix\n", "d/gophermap:1: there are no users to list"},
	{"hosts", "a\n%\n", "ia\n", "d/gophermap:2: there are no virtual hosts to list"},
	{"information", "iText\n\n  0 a \n", "iiText\ni\ni  0 a \n", ""},
	{"information item", "iText\t\t\n", "iText\n", ""},
	{"item", "0Label\t/x.txt\th.example\t7070\n", "0Label\t/x.txt\th.example\t7070\n", ""},
	{"more fields", "0Label\t/x.txt\th.example\t7070\t+\n",
		"0Label\t/x.txt\th.example\t7070\n", ""},
	{"empty selector", "0a.txt\t\n1sub\t\t\t\n", "0a.txt\t/d/a.txt\n1sub\t/d/sub/\n", ""},
	{"root of another host", "1Other\t\th.example\t70\n", "1Other\t\th.example\t70\n", ""},
	{"port missing", "1A\t/a\th.example\n", "1A\t/a\th.example\t70\n", ""},
	{"plus signs are ours", "1A\t/a\t+\t+\n1B\tsub\t+\t+\n1C\t/c\th.example\t+\n",
		"1A\t/a\n1B\t/d/sub/\n1C\t/c\th.example\t70\n", ""},
	{"blanks at the end", "1A\t/a  \n0B\ta.txt \t \t \n1C\t/c \th.example \t 71 \n1D\tURL:https://a.example/ \n", "1A\t/a\n0B\t/d/a.txt\n1C\t/c\th.example\t71\n1D\tURL:https://a.example/\n", ""},
	{"our root by our name", "1Home\t\tour.example\t70\n0a.txt\t\tour.example\t70\n",
		"1Home\t/\n0a.txt\ta.txt\n", ""},
	{"host empty", "1A\t/a\t\t7070\n", "1A\t/a\tour.example\t7070\n", ""},
	{"relative with a host", "0A\ta.txt\th.example\n", "0A\ta.txt\th.example\t70\n", ""},
	{"absolute", "0A\t/d/a.txt\n0B\t/any/../thing//\n", "0A\t/d/a.txt\n0B\t/any/../thing//\n", ""},
	{"absolute directory", "1A\t/d/sub\n1B\t/d/sub/\n1C\t/\n1D\t/no\n",
		"1A\t/d/sub/\n1B\t/d/sub/\n1C\t/\n1D\t/no\n", ""},
	{"absolute with dots", "0A\t/./d//a.txt\n1B\t/d/../d/sub\n0C\t/../no.txt\n",
		"0A\t/d/a.txt\n1B\t/d/sub/\n0C\t/../no.txt\n", ""},
	{"percent escapes", "0A\t/d/%61.txt\n1B\t%73ub\n0C\t/d/sub/100%25\n0D\t/d/%2ehidden\n0E\t/d/%00\n0F\t/d/%2e%2e/top.txt\n",
		"0A\t/d/a.txt\n1B\t/d/sub/\n0C\t/d/sub/100%\n0D\t/d/%2ehidden\n0E\t/d/%00\n0F\t/d/%2e%2e/top.txt\n", ""},
	{"percent escapes of a name that is there", "0A\t/d/sub/%7a\n", "0A\t/d/sub/%7a\n", ""},
	{"URL", "hWeb\tURL:https://a.example/\n?Web\tURL:https://a.example/\n",
		"hWeb\tURL:https://a.example/\nhWeb\tURL:https://a.example/\n", ""},
	{"bare URL", "hWeb\thttps://a.example/\nhgopher://b.example/\t\n0Not\thttps://a.example/\nhpage\thttpsx\n", "hWeb\tURL:https://a.example/\nhgopher://b.example/\tURL:gopher://b.example/\n0Not\t/d/https:/a.example/\nhpage\t/d/httpsx\n", ""},
	{"names to log in with", "8Chess\tguest\nTHost\tme\n8Far\tyou\th.example\t23\n",
		"8Chess\tguest\nTHost\tme\n8Far\tyou\th.example\t23\n", ""},
	{"octal escapes", "0A\t/d/a#056txt\n0B\tb#056txt\n", "0A\t/d/a.txt\n0B\t/d/b.txt\n", ""},
	{"relative", "1A\tsub\n0B\tsub/x.txt\n1C\t./sub/\n1D\t..\n0E\t../top.txt\n1F\t.\n",
		"1A\t/d/sub/\n0B\t/d/sub/x.txt\n1C\t/d/sub/\n1D\t/\n0E\t/top.txt\n1F\t/d/\n", ""},
	{"never above the root", "0A\t../../../top.txt\n0B\t../../../../etc/passwd\n",
		"0A\t/top.txt\n0B\t/etc/passwd\n", ""},
	{"relative, not there", "0A\tno\n1B\tno/\n", "0A\t/d/no\n1B\t/d/no/\n", ""},
	{"mark and CR", "\ufeff!Hi\r\n0A\ta.txt\r\n", "iHi\n0A\t/d/a.txt\n", ""},
	{"no last line end", "0A\ta.txt", "0A\t/d/a.txt\n", ""},
	{"you decide", "?A\ta.txt\n?B\tsub\n?C\tblob\n?D\tREADME\n?E\t/no.gif\n?F\t/x\th.example\n",
		"0A\t/d/a.txt\n1B\t/d/sub/\n9C\t/d/blob\n0D\t/d/README\ngE\t/no.gif\n1F\t/x\th.example\t70\n", ""},
	{"glob", "0*.txt\t\n", "0a.txt\t/d/a.txt\n0b.txt\t/d/b.txt\n", ""},
	{"glob, you decide", "?*\t\n", listing, ""},
	{"glob, a type for all", "9c*\t\n", "9c9.png\t/d/c9.png\n9c10.png\t/d/c10.png\n", ""},
	{"glob below", "?/e/*\t\n?sub/?.txt\t\n", "0z.md\t/e/z.md\n0x.txt\t/d/sub/x.txt\n", ""},
	{"glob and listing", "0*.txt\t\nRest:\n*\n",
		"0a.txt\t/d/a.txt\n0b.txt\t/d/b.txt\niRest:\n" +
			strings.NewReplacer("0a.txt\t/d/a.txt\n", "", "0b.txt\t/d/b.txt\n",
				"").Replace(listing), ""},
	{"glob without a match", "7What is it?\t\n", "iWhat is it?\n",
		"d/gophermap:1: matches no file"},
	{"bad glob", "0[\t\n?.*\t\n", "i[\ni.*\n", "d/gophermap:1: no pattern of file names"},
	{"glob in no directory", "0no/*\t\n", "ino/*\n",
		"d/gophermap:1: cannot be listed: file does not exist"},
	{"error item", "3Oh no\n3No\t\n3No\t/x\th.example\t70\n", "i3Oh no\niNo\niNo\n", ""},
	{"bad port", "0A\t/a\th.example\t65536\n0B\t/b\n", "iA\n0B\t/b\n",
		`d/gophermap:1: no port from 1 to 65535: "65536"`},
	{"port zero", "0A\t/a\th.example\t0\n", "iA\n", `d/gophermap:1: no port from 1 to 65535: "0"`},
	{"unknown type", "x\n\nSome\ttext\n", "ix\ni\niSome    text\n",
		"d/gophermap:3: no item type: 'S'"},
	{"a type that is rare", "wWeb\t/w\nXml\tURL:https://a.example/\nQ\tx\th.example\n",
		"wWeb\t/w\nXml\tURL:https://a.example/\nQ\tx\th.example\t70\n", ""},
	{"a TAB at the beginning", "\t\tdrawn\n\t/a\n", "i                drawn\ni        /a\n", ""},
	{"terminal sequences", "\x1b[1;31mred\x1b[0m\n0\x1b[1mA\x1b[m\ta.txt\n\x1b[2J\x1b[\n",
		"ired\n0A\t/d/a.txt\ni\n",
		"d/gophermap:1: control characters and terminal sequences are not sent"},
	{"Latin-1", "Caf\xe9\n0Caf\xe9\ta.txt\nna\u00efve\n", "iCafé\n0Café\t/d/a.txt\ninaïve\n", ""},
	{"variables", "$SERVER_NAME:$SERVER_PORT $SERVER_SOFTWARE/$SERVER_VERSION\n!$DATE\nfrom $REMOTE_ADDR\n$5 $HOME $\n0$DATE\ta.txt\n",
		"iour.example:70 gophd/2.1\niDATE\nifrom 192.0.2.7\ni$5 $HOME $\n0$DATE\t/d/a.txt\n", ""},
	{"what only echoes", "=echo \"  by \\\"$SERVER_NAME\\\"\"\n=echo  It is   $(date)\n=echo 'a;b'\n=date\n=/bin/date -u +%F\n=hostname\n=echo \"`TZ=UTC date -R`\"\n=echo \"at $(date \"+%A, %d\")\"\n",
		"i  by \"our.example\"\niIt is DATE\nia;b\n" +
			strings.Repeat("iDATE\n", 2) +
			"iour.example\niDATE\niat DATE\n", ""},
	{"what does more", "=echo $(whoami)\n=echo \"`id`\"\n=echo a; id\n=echo $HOME\n=echo \"a\" | wc\n=echo\n=date; id\n=date | wc\n=echo $(date; id)\n=echo $(date $(id))\n=echo \"`date``id`\"\n=updated\n", "", `d/gophermap:1: no file to include, and a command is not run: "echo $(whoami)"`},
	{"title of a terminal", "\x1b]0;evil\x07a\n0\x1b]8;;x\x1b\\A\ta.txt\n\x1b]0;open\n",
		"ia\n0A\t/d/a.txt\ni ]0;open\n",
		"d/gophermap:1: control characters and terminal sequences are not sent"},
	{"control character in a selector", "0A\t/a\x1b\n", "iA\n",
		"d/gophermap:1: a control character in a selector or host"},
	{"control character in a host", "0A\t/a\th\x00\n", "iA\n",
		"d/gophermap:1: a control character in a selector or host"},
	{"control character in a text", "a\x1bb\n", "ia b\n",
		"d/gophermap:1: control characters and terminal sequences are not sent"},
	{"control character in a label", "0a\u009bb\ta.txt\n", "0a b\t/d/a.txt\n",
		"d/gophermap:1: control characters and terminal sequences are not sent"},
}

var dates = regexp.MustCompile(`\w{3} \w{3} [ \d]\d [\d:]{8} \w+ \d{4}`)

// made fails unless a map makes a menu, and a problem: the first one.
func made(t *testing.T, fsys fstest.MapFS, file, text, want, problem string) {
	t.Helper()
	fsys[file] = &fstest.MapFile{Data: []byte(text)}
	b := menu.Builder{FS: fsys, Host: "our.example", Port: 70, Version: "2.1",
		Client: "192.0.2.7"}
	m := mustMenu(t, b, path.Dir(file))
	got := dates.ReplaceAllString(show(m), "DATE")
	if got != want {
		t.Errorf("%q makes\n%swant\n%s", text, got, want)
	}
	first := ""
	if list := problems(m); len(list) > 0 {
		first = list[0]
	}
	if first != problem {
		t.Errorf("%q: problem %q, want %q", text, first, problem)
	}
}

func TestGophermap(t *testing.T) {
	for _, tt := range gophermaps {
		t.Run(tt.name, func(t *testing.T) {
			made(t, site(), "d/gophermap", tt.text, tt.want, tt.problem)
		})
	}
}

// Whether a map writes an i before its information is found out.
func TestInfoPrefix(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		always           bool
	}{
		{"all", "iText\ni\ni  more\n0A\t/a\n!T\n", "iText\ni\ni  more\n0A\t/a\niT\n", false},
		{"nine in ten", strings.Repeat("iA\n", 9) + "no\n",
			strings.Repeat("iA\n", 9) + "ino\n", false},
		{"eight in ten", strings.Repeat("iA\n", 8) + "no\nno\n",
			strings.Repeat("iiA\n", 8) + "ino\nino\n", false},
		{"lower case among others", "iWelcome!\ni-------\niin here is my hole\n",
			"iWelcome!\ni-------\niin here is my hole\n", false},
		{"words", "it is\nin my\ni'm\ni am\n", "iit is\niin my\nii'm\nii am\n", false},
		{"names", "iPhone\niPad\n", "iiPhone\niiPad\n", false},
		{"one word", "index\n", "iindex\n", false},
		{"one line", "iHello\n", "iHello\n", false},
		{"not ASCII", "iÜber\ni\xc4\n", "iÜber\niÄ\n", false},
		{"given", "iText\nno i\niMore\t\nin\n", "iText\nino i\niMore\nin\n", true},
		{"nothing to tell", "0A\t/a\n\n", "0A\t/a\ni\n", false},
	} {
		b := menu.Builder{FS: tree(map[string]string{"gophermap": tt.text}), Host: "our.example",
			Port: 70, BuildOptions: menu.BuildOptions{InfoPrefix: tt.always}}
		if got := show(mustMenu(t, b, ".")); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// Each map is found out for itself.
func TestInfoPrefixOfIncludes(t *testing.T) {
	fsys := tree(map[string]string{"gophermap": "iOne\n=other\niThree\n", "other": "index\nis\n"})
	if got, want := show(mustMenu(t, menu.Builder{FS: fsys}, ".")),
		"iOne\niindex\niis\niThree\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The map of spacecookie and venusia knows no directives.
func TestDotGophermap(t *testing.T) {
	fsys := tree(map[string]string{".gophermap": "# News\n!\n*\n.\n-a\n=b\n:c=0\n~\n%\n$DATE\n0A\ta.txt\n", "a.txt": ""})
	m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, ".")
	if got, want := show(m),
		"i# News\ni!\ni*\ni.\ni-a\ni=b\ni:c=0\ni~\ni%\ni$DATE\n0A\t/a.txt\n"; got != want ||
		len(m.Problems) > 0 {
		t.Errorf("got\n%swant\n%s%v", got, want, m.Problems)
	}
}

// A listing shows maps in their place, abstracts below their files, and neither lists
// itself once more.
func TestListingWithMaps(t *testing.T) {
	fsys := tree(map[string]string{"a.txt": "a", "b.gophermap": "From b\n%FILES%\n0A\ta.txt\n*\n",
		"c.gophermap": "#!/bin/sh\n", "y.txt": "y", "y.txt.abstract": "About y\nmore\n",
		"z.abstract": "of nothing", "sub/.abstract": "About sub\n"})
	want := "1sub\t/sub/\niAbout sub\n0a.txt\t/a.txt\niFrom b\n0A\t/a.txt\n1c.gophermap\t/c.gophermap\n0y.txt\t/y.txt\niAbout y\nimore\n"
	got := show(mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70,
		Run: func(string, string) (string, bool, error) {
			return "ran", true, nil
		}}, "."))
	if !strings.HasPrefix(got, want) || strings.Count(got, "z.abstract") != 2 ||
		strings.Contains(got, "ran") {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Headings and rulers of # are text, a comment is not; UTF-16 is read.
func TestLinesOfMaps(t *testing.T) {
	for text, want := range map[string]string{
		"## One ##\n# comment\n####\n#\nx\n":     "i## One ##\ni####\nix\n",
		"\xff\xfeH\x00i\x00\n\x00\xe9\x00\n\x00": "iHi\nié\n",
		"\xfe\xff\x00H\x00i\x00\n":               "iHi\n",
		"\ufeffHi\n":                             "iHi\n",
		"a\x1b[2@b\x1b[1mc\n":                    "iabc\n",
		"%FILES%\n!T\n!U\n":                      "iT\niU\n",
		"\xff\xfe#\x00!\x00/\x00\n\x00":          "iThe menu here is made by a program, which this server does not run.\n",
	} {
		if got := show(mustMenu(t, menu.Builder{FS: tree(map[string]string{"gophermap": text})},
			".")); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if m := mustMenu(t, menu.Builder{FS: tree(map[string]string{"gophermap": "!T\n!U\n\x1b[31mRed\x1b[2K\x1b[\n"}), Colors: true}, "."); m.Title != "T" || m.Items[2].Label != "\x1b[31mRed" {
		t.Errorf("the title is %q, in color %q", m.Title, m.Items[2].Label)
	}
	for name, want := range map[string]bool{"": false, ".gph": false, "a.gph": true,
		"a.gophermap": true, "gophermap": false} {
		if got := menu.IsMenuFile(name); got != want {
			t.Errorf("%q is a menu file: %v", name, got)
		}
	}
}

// Every .gph, and every .gophermap, is a menu of its own.
func TestMenuFiles(t *testing.T) {
	fsys := site()
	fsys["d/more.gph"] = &fstest.MapFile{Data: []byte("More\n[0|A|a.txt|server|port]\n")}
	fsys["d/old.gophermap"] = &fstest.MapFile{Data: []byte("Old\n0A\ta.txt\n# hidden\n")}
	fsys["d/prog.gph"] = &fstest.MapFile{Data: []byte("#!/bin/sh\n")}
	fsys["d/dir.gph/x"] = &fstest.MapFile{}
	b := menu.Builder{FS: fsys, Host: "our.example", Port: 70}
	for name, want := range map[string]string{"d/more.gph": "iMore\n0A\t/d/a.txt\n",
		"d/old.gophermap": "iOld\n0A\t/d/a.txt\n", "d/dir.gph": "9x\t/d/dir.gph/x\n"} {
		if got := strings.Replace(show(mustMenu(t, b, name)), "0x\t", "9x\t", 1); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
	if _, err := b.Menu(context.Background(), "d/no.gph"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if m, err := b.Menu(context.Background(), "d/prog.gph"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program made %v, %v", m.Items, err)
	}
	fsys["d/sub/dir.gph/gophermap"] = fsys["d/prog.gph"]
	for _, name := range []string{"d/prog.gph", "d/sub/dir.gph"} {
		if found := b.Sources(name).Problems; len(found) != 1 || found[0].Line != 1 {
			t.Errorf("%s: of a program is said %v", name, found)
		}
	}
	if got := show(mustMenu(t, b, "d")); !strings.Contains(got, "1more.gph\t/d/more.gph\n") ||
		!strings.Contains(got, "iOld\n0A\t/d/a.txt\n") {
		t.Errorf("listed as\n%s", got)
	}
}

// Lists of users and hosts come from the caller.
func TestLists(t *testing.T) {
	b := menu.Builder{FS: tree(map[string]string{"gophermap": "Users:\n~ \nHosts:\n%\n"}),
		Host: "our.example", Port: 70,
		Users: func() []menu.Item {
			return []menu.Item{{Type: '1', Label: "~bob", Selector: "/~bob/"},
				{Type: '1', Label: "a\x1bb", Selector: "/~x\ny/"}}
		},
		Hosts: func() []menu.Item {
			return []menu.Item{{Type: '1', Label: "b.example", Host: "b.example", Port: 70}}
		}}
	m := mustMenu(t, b, ".")
	if got, want := show(m),
		"iUsers:\n1~bob\t/~bob/\nia b\niHosts:\n1b.example\t\tb.example\t70\n"; got != want || m.Changing {
		t.Errorf("%t, got\n%swant\n%s", m.Changing, got, want)
	}
}

// A menu that tells the time or the client must not be kept.
func TestChanging(t *testing.T) {
	for text, want := range map[string]bool{"$SERVER_NAME": false, "$DATE": true,
		"$REMOTE_ADDR": true, "=echo $(date)": true, "$": false} {
		m := mustMenu(t, menu.Builder{FS: tree(map[string]string{"gophermap": text + "\n"}),
			Host: "our.example"}, ".")
		if m.Changing != want {
			t.Errorf("%q: %t", text, m.Changing)
		}
	}
}

// A check of a tree gets what its maps link.
func TestLinked(t *testing.T) {
	fsys := site()
	fsys["d/gophermap"] = &fstest.MapFile{Data: []byte("0A\ta.txt\n1No\t/no\n1There\t/x\th.example\n=inc\nhW\tURL:https://a.example\n*\n")}
	fsys["d/inc"] = &fstest.MapFile{Data: []byte("\n0B\tgone.txt\n")}
	var got []string
	b := menu.Builder{FS: fsys, Host: "our.example", Port: 70, Linked: func(l menu.Link) {
		got = append(got, fmt.Sprintf("%s:%d %s %t %t", l.File, l.Line, l.Selector,
			l.Local, l.Missing))
	}}
	mustMenu(t, b, "d")
	want := []string{"d/gophermap:1 /d/a.txt true false", "d/gophermap:2 /no true true",
		"d/gophermap:3 /x false false",
		"d/inc:2 /d/gone.txt true true", "d/gophermap:5 URL:https://a.example false false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestInclude(t *testing.T) {
	for _, tt := range []struct {
		name, text, want, problem string
	}{
		{"relative", "a\n=one\nb\n", "ia\niOne\n0A\t/d/a.txt\nib\n", ""},
		{"absolute", "=/inc/two\n", "iTwo\n", ""},
		{"below the root", "=../../../inc/two\n", "iTwo\n", ""},
		{"ended", "=ended\nb\n", "iEnded\nib\n", ""},
		{"star ends only itself", "=star\nb\n", "iStar\nib\n", ""},
		{"gph", "=x.gph\n", "0A\t/d/a.txt\n", ""},
		{"five deep", "=n1\n", "i1\ni2\ni3\ni4\ni5\n", ""},
		{"not there", "a\n=no\nb\n", "ia\nib\n",
			`d/gophermap:2: no file to include, and a command is not run: "no"`},
		{"a directory", "=sub\n", "",
			`d/gophermap:1: no file to include, and a command is not run: "sub"`},
		{"hidden", "=.hidden\n=../.git/config\n", "",
			`d/gophermap:1: including ".hidden": a hidden file`},
		{"command", "=/usr/bin/uptime\n", "",
			`d/gophermap:1: no file to include, and a command is not run: "/usr/bin/uptime"`},
		{"problem inside", "\n=bad\n", "i\niA\n", `d/bad:1: no port from 1 to 65535: "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made(t, tree(map[string]string{
				"d/one": "One\n0A\ta.txt\n", "inc/two": "Two\n", "d/ended": "Ended\n.\nx\n",
				"d/star": "Star\n*\n", "d/x.gph": "[0|A|a.txt|server|port]\n",
				"d/n1": "1\n=n2\n", "d/n2": "2\n=n3\n", "d/n3": "3\n=n4\n", "d/n4": "4\n=n5\n",
				"d/n5": "5\n", "d/.hidden": "secret\n",
				".git/config": "secret\n", "d/bad": "0A\t/a\th\tx\n", "d/sub/x": "x",
			}), "d/gophermap", tt.text, tt.want, tt.problem)
		})
	}
	made(t, tree(map[string]string{"hides": "-hides\n-top\n", "top": "", "inc/a": "",
		"sub/a": ""}), "gophermap", "=hides\n*\n", "1inc\t/inc/\n1sub\t/sub/\n", "")
}

func TestGph(t *testing.T) {
	for _, tt := range []struct{ text, want, problem string }{
		{"Hello\n", "iHello\n", ""},
		{"[0|A|a.txt|server|port]\n", "0A\t/d/a.txt\n", ""},
		{"[\x7f|A|a.txt|server|port]\nx\n", "i[ |A|a.txt|server|port]\nix\n",
			"d/index.gph:1: no item of the form [type|text|selector|host|port]: it is shown as text"},
		{"[1|Sub|/d/sub|server|port]\n", "1Sub\t/d/sub/\n", ""},
		{"[1|B|/b|h.example|71]\n", "1B\t/b\th.example\t71\n", ""},
		{"[1|Root||h.example|70]\n[1|Ours||server|port]\n",
			"1Root\t\th.example\t70\n1Ours\t/\n", ""},
		{`[0|a\|b|/x|server|port]` + "\n", "0a|b\t/x\n", ""},
		{"[|0|x\n[|[x]\n[|\n", "i0|x\ni[x]\ni\n", ""},
		{"[0|A|a.txt|server|port] more\n[0|[A]|a.txt|server|port]\n",
			"0A\t/d/a.txt\n0[A]\t/d/a.txt\n", ""},
		{"[0|A|a.txt||]\n[0|A|a.txt|+|+]\n[h|W|https://a.example|server|port]\n",
			"0A\t/d/a.txt\n0A\t/d/a.txt\nhW\tURL:https://a.example\n", ""},
		{"[8|Chess|guest|server|port]\n[0\x1b[1m|A|a.txt|server|port]\n",
			"8Chess\tguest\n0A\t/d/a.txt\n",
			"d/index.gph:2: control characters and terminal sequences are not sent"},
		{"$DATE\n", "i$DATE\n", ""},
		{"[0|A|a.txt|h.example|70]\n[0|B|no.txt|h.example|70]\n[8|C|sub|h.example|70]\n",
			"0A\t/d/a.txt\th.example\t70\n0B\tno.txt\th.example\t70\n8C\tsub\th.example\t70\n", ""},
		{"iHi\tErr\th.example\t70\n0A\t/a\th.example\t70\n0\ta.txt\n",
			"iHi\n0A\t/a\th.example\t70\ni0       a.txt\n", ""},
		{"[h|Web|URL:https://a.example|server|port]\n", "hWeb\tURL:https://a.example\n", ""},
		{"[i|Info||server|port]\n", "iInfo\n", ""},
		{"*\n.\n# x\na\tb\n", "i*\ni.\ni# x\nia       b\n", ""},
		{"[0|A|a.txt|server]\n", "i[0|A|a.txt|server]\n",
			"d/index.gph:1: no item of the form [type|text|selector|host|port]: it is shown as text"},
		{"[0|A|a.txt|server|port|x]\n", "i[0|A|a.txt|server|port|x]\n",
			"d/index.gph:1: no item of the form [type|text|selector|host|port]: it is shown as text"},
		{"[0|A|a.txt|server|port\n", "i[0|A|a.txt|server|port\n",
			"d/index.gph:1: no item of the form [type|text|selector|host|port]: it is shown as text"},
		{"[zz|A|a.txt|server|port]\n[ |A|a.txt|server|port]\n",
			"zA\t/d/a.txt\ni[ |A|a.txt|server|port]\n",
			`d/index.gph:2: no item of the form [type|text|selector|host|port]: it is shown as text`},
		{"[0|A|a.txt|server|x]\n", "iA\n", `d/index.gph:1: no port from 1 to 65535: "x"`},
	} {
		made(t, site(), "d/index.gph", tt.text, tt.want, tt.problem)
	}
}

// TestGophermapGoesFirst: of the menus of several servers, gophermap is the one.
func TestGophermapGoesFirst(t *testing.T) {
	made(t, tree(map[string]string{"index.gph": "gph\n", ".gophermap": "dot\n",
		"index.gmi": "gmi\n", ".names": "Name=x\nPath=/\n"}), "gophermap", "map\n", "imap\n", "")
}

// seenFS notes the names that were opened, listed or looked at.
type seenFS struct {
	fs.FS
	names map[string]bool
}

func (s seenFS) Open(name string) (fs.File, error) {
	s.names[name] = true
	return s.FS.Open(name)
}

func (s seenFS) ReadDir(name string) ([]fs.DirEntry, error) {
	s.names[name] = true
	return fs.ReadDir(s.FS, name)
}

func (s seenFS) Stat(name string) (fs.FileInfo, error) {
	s.names[name] = true
	return fs.Stat(s.FS, name)
}

// TestLine: every line of a gophermap and of its includes is told with its place, a .gph's is not.
func TestLine(t *testing.T) {
	var got []string
	fsys := tree(map[string]string{"gophermap": "Hi\r\n#\n=inc\n=a.gph\n.\nno",
		"inc": "x", "a.gph": "y"})
	mustMenu(t, menu.Builder{FS: fsys, Line: func(file string, number int, line string) {
		got = append(got, fmt.Sprint(file, number, line))
	}}, ".")
	if want := []string{"gophermap1Hi", "gophermap2#", "gophermap3=inc", "inc1x",
		"gophermap4=a.gph", "gophermap5."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
