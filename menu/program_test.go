package menu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/menu"
)

// TestSourcesReportPrograms: the scan learns of a program after any number of other mistakes.
func TestSourcesReportPrograms(t *testing.T) {
	b := menu.Builder{FS: tree(map[string]string{
		"gophermap": strings.Repeat("0Text\t/a.txt\th.example\tport\n", 200) + "=prog\n",
		"prog":      "#!/bin/sh\n",
	}), Host: "our.example", Port: 70}
	problems := b.Sources(".").Problems
	if len(problems) != 1 || problems[0].Code != menu.CodeProgram || problems[0].Line != 201 {
		t.Error(problems)
	}
}

// Nothing of a program's source is shown, in whatever way a map names it.
func TestAbusePrograms(t *testing.T) {
	const source = "#!/bin/sh\nPASSWORD=secret\n"
	files := map[string]string{
		"prog": source, "date.sh": source, "elf": "\x7fELFsecret", "x.cgi": source,
		"x.DCGI": source, "plain.cgi": "secret\n", "cgi-bin/guest": source,
		"text": "=prog\n", "blob": "secret\x00", "sub/gophermap": source, "sub/a.txt": "a",
		"gph/index.gph": source, "inner": "In\n=../../prog\n",
		"bom":   "\ufeff" + source,
		"utf16": "\xff\xfe" + strings.Join(strings.Split(source, ""), "\x00"),
	}
	for _, tt := range []struct{ line, want, problem string }{
		{"=prog", "", `gophermap:2: a command, which is not run: "prog"`},
		{"=./date.sh -u secret", "",
			`gophermap:2: no file to include, and a command is not run: "./date.sh -u secret"`},
		{"=uptime -p", "", `gophermap:2: no file to include, and a command is not run: "uptime -p"`},
		{"=/usr/bin/uptime", "",
			`gophermap:2: no file to include, and a command is not run: "/usr/bin/uptime"`},
		{"=elf", "", `gophermap:2: a command, which is not run: "elf"`},
		{"=blob", "", `gophermap:2: a command, which is not run: "blob"`},
		{"=x.cgi", "", `gophermap:2: a command, which is not run: "x.cgi"`},
		{"=plain.cgi", "", `gophermap:2: a command, which is not run: "plain.cgi"`},
		{"=text", "", `text:1: a command, which is not run: "prog"`},
		{"=inner", "iIn\n", `inner:2: a command, which is not run: "../../prog"`},
		{"=bom", "", `gophermap:2: a command, which is not run: "bom"`},
		{"=utf16", "", `gophermap:2: a command, which is not run: "utf16"`},
		{"=cgi-bin/guest", "", `gophermap:2: a command, which is not run: "cgi-bin/guest"`},
		{"7Guests\t/cgi-bin/guest?x", "iGuests\n",
			`gophermap:2: a link to a program: "/cgi-bin/guest?x"`},
		{"7Count\tprog?x", "iCount\n", `gophermap:2: a link to a program: "prog?x"`},
		{"1Count\t/date.sh", "iCount\n", `gophermap:2: a link to a program: "/date.sh"`},
		{"0Read\tdate.sh", "0Read\t/date.sh\n", ""},
		{"1Log\tx.dcgi?a/b", "iLog\n", `gophermap:2: a link to a program: "/x.dcgi?a/b"`},
		{"1Log\t/x.dcgi\th.example\t70", "1Log\t/x.dcgi\th.example\t70\n", ""},
		{"?*.cgi\t", "i*.cgi\n", "gophermap:2: no pattern of file names"},
		{"*", "1gph\t/gph/\n1sub\t/sub/\n9blob\t/blob\n0bom\t/bom\n0date.sh\t/date.sh\n0elf\t/elf\n0inner\t/inner\n0prog\t/prog\n0text\t/text\n9utf16\t/utf16\n", ""},
	} {
		made(t, tree(files), "gophermap", "Hi\n"+tt.line+"\n", "iHi\n"+tt.want, tt.problem)
	}
	for _, dir := range []string{"sub", "gph"} {
		m := mustMenu(t, menu.Builder{FS: tree(files), Host: "our.example", Port: 70}, dir)
		if show(m) != "iThe menu here is made by a program, which this server does not run.\n" ||
			len(m.Problems) != 1 || m.Problems[0].Code != menu.CodeProgram ||
			m.Problems[0].Line != 1 {
			t.Errorf("%s: %q, problems %v", dir, show(m), m.Problems)
		}
	}
}

// A gophertag, a map or an abstract that is a program shows nothing of itself.
func TestAbuseProgramsAsSources(t *testing.T) {
	for _, source := range []string{"#!/bin/sh secret\nsecret\n",
		"\ufeff#!/bin/sh secret\r\nsecret\r\n", "\x7fELFsecret", "\xfe\xff\x00#\x00! secret\n"} {
		for _, file := range []string{"d/gophertag", "d/gophermap", "d/index.gph", "d/.gophermap",
			"d/.abstract", "d/.Links", "d/.cap/a.txt"} {
			b := menu.Builder{FS: tree(map[string]string{"d/a.txt": "a",
				file: source + "Name=secret\nPath=./secret\n"}), Host: "our.example", Port: 70}
			for _, dir := range []string{".", "d"} {
				m := mustMenu(t, b, dir)
				if strings.Contains(show(m), "secret") {
					t.Errorf("%q in %s makes\n%s", source, file, show(m))
				}
				if reports := dir == "." == (file == "d/gophertag"); reports &&
					(len(m.Problems) != 1 || m.Problems[0].Code != menu.CodeProgram ||
						m.Problems[0].File != file || m.Problems[0].Line != 1) {
					t.Errorf("%q in %s: problems %v", source, file, m.Problems)
				}
			}
		}
		if found := (&menu.Builder{FS: tree(map[string]string{"d/gophertag": source})}).Sources("d").Problems; len(found) != 1 || found[0].File != "d/gophertag" {
			t.Errorf("%q as gophertag: the scan finds %v", source, found)
		}
	}
}

// What a program answers is linked, its arguments as they are, and what it prints is shown.
func TestAnswers(t *testing.T) {
	const source = "#!/bin/sh secret\n"
	b := menu.Builder{
		FS: tree(map[string]string{
			"d/gophermap": "7A\tx.dcgi?a//b/../c\n1B\t/cgi-bin/b/\n1C\t../y.cgi\n=prints\n=fails\n=rests\n0D\td.txt\n",
			"d/prints":    source, "d/fails": source, "d/rests": source,
		}),
		Host: "our.example", Port: 70,
		Answers: func(sel string) bool { return !strings.Contains(sel, "y.cgi") },
		Run: func(name, by string) (string, bool, error) {
			if name == "d/fails" {
				return "", true, errors.New("it fails")
			}
			return "iPrinted for " + by + "\n", name == "d/prints", nil
		},
	}
	m := mustMenu(t, b, "d")
	want := "7A\t/d/x.dcgi?a//b/../c\n1B\t/cgi-bin/b/\niC\niPrinted for d/gophermap\n3it fails\n0D\t/d/d.txt\n"
	if got := show(m); got != want || len(m.Problems) != 2 || !m.Changing {
		t.Errorf("got\n%swant\n%s%v", got, want, m.Problems)
	}
	if _, labels := b.Names(t.Context(), "d"); labels["y.cgi"] != "" || labels["d/d.txt"] != "D" {
		t.Errorf("names %v", labels)
	}
}

// TestInterpreted: what a command gives to an interpreter is a program, whatever it
// begins with; what others print is not.
func TestInterpreted(t *testing.T) {
	fsys := tree(map[string]string{"d/gophermap": "=python3 -u count.py 1\n=/bin/sh /lib/x now\n=cat a.txt\n=perl\n=finch y.txt\n=awk -f up.awk data.txt\n"})
	got := (&menu.Builder{FS: fsys}).Sources("d").Interpreted
	if want := []string{"d/count.py", "lib/x", "d/up.awk"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSources(t *testing.T) {
	fsys := site()
	fsys["d/gophermap"] = &fstest.MapFile{Data: []byte("=/inc/prog\n0A\ta.txt\n?*\t\n1A\t/inc/prog?x\n7B\tscript\n1C\t/d/\n7D\tnone\n0E\tlinks\n1F\tx.cgi\n1G\tf.gph\n1H\t/out\th.example\t70\n7I\tesc%61ped\n=other -x script\n=.hidden\n=more\n=/usr/bin/uptime\n*\n")}
	fsys["inc/prog"] = &fstest.MapFile{Data: []byte("#!/bin/sh\n")}
	fsys["d/other"] = fsys["inc/prog"]
	fsys["d/script"] = fsys["inc/prog"]
	fsys["d/more"] = &fstest.MapFile{Data: []byte("=/inc/prog\n=b.txt\n")}
	fsys["d/escaped"] = fsys["inc/prog"]
	fsys["d/links"] = &fstest.MapFile{Data: []byte("x")}
	got := (&menu.Builder{FS: fsys}).Sources("d")
	if len(got.Interpreted) > 0 {
		t.Errorf("given to an interpreter: %q", got.Interpreted)
	}
	if want := []string{"d/esc%61ped", "d/escaped", "d/none", "d/script", "inc/prog",
		"out"}; !slices.Equal(got.Linked, want) {
		t.Errorf("linked %q, want %q", got.Linked, want)
	}
	if want := []string{"d/b.txt", "d/more", "d/other", "d/other -x script", "d/script", "inc/prog",
		"usr/bin/uptime"}; !slices.Equal(got.Included, want) {
		t.Errorf("got %q, want %q", got.Included, want)
	}
	var lines []string
	for _, d := range got.Problems {
		lines = append(lines, d.String())
	}
	want := `d/gophermap:1: warning: a command, which is not run: "/inc/prog" (MENU-PROGRAM)|` +
		`d/gophermap:4: warning: a link to a program: "/inc/prog?x" (MENU-PROGRAM)|` +
		`d/gophermap:5: warning: a link to a program: "script" (MENU-PROGRAM)|` +
		`d/gophermap:9: warning: a link to a program: "/d/x.cgi" (MENU-PROGRAM)|` +
		`d/gophermap:12: warning: a link to a program: "esc%61ped" (MENU-PROGRAM)|` +
		`d/gophermap:13: warning: no file to include, and a command is not run: "other -x script" (MENU-PROGRAM)|` +
		`d/more:1: warning: a command, which is not run: "/inc/prog" (MENU-PROGRAM)|` +
		`d/gophermap:16: warning: no file to include, and a command is not run: "/usr/bin/uptime" (MENU-PROGRAM)`
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
