package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostTree is a host of 2,000 users, 300 of whom have annotations. Three of
// these are broken, each in its own way, and one belongs to somebody hostile.
func hostTree() *Dir {
	root := &Dir{Files: []string{"about.txt"}}
	for u := range 2000 {
		d := &Dir{Name: fmt.Sprintf("~user%04d", u), Files: []string{"a.txt", "b.txt", "plan"}}
		d.Dirs = []*Dir{{Name: "phlog", Files: []string{"1.txt", "2.txt"}}, {Name: "private", Files: []string{"diary.txt"}}}
		if u%7 == 0 && u < 2100 {
			d.Notes = []*Annotation{{File: d.Name + "/.robots", Data: []byte("User-agent: *\nDisallow: /private/\n")}}
		}
		root.Dirs = append(root.Dirs, d)
	}
	root.Dirs[7].Notes[0].Err = errors.New("permission denied")
	root.Dirs[14].Notes[0].Data = []byte("Disalow: /private/\nDisallow: /plan\n")
	root.Dirs[21].Notes[0].Data = bytes.Repeat([]byte("Disallow: /x\n"), 60_000)
	root.Dirs[28] = hostileDir(root.Dirs[28].Name)
	return root
}

// hostileDir is deeply nested, with names made to inject lines, ten thousand
// rules and a hundred robots.
func hostileDir(name string) *Dir {
	var note strings.Builder
	for i := range 90 {
		fmt.Fprintf(&note, "User-agent: bot%d\nDisallow: /%d*\n", i%20, i%5)
	}
	for i := range 9000 {
		fmt.Fprintf(&note, "Disallow: *%d*a*b*c*d*\nAllow: /*%d$\n", i, i)
	}
	d := &Dir{Name: "deep", Files: []string{"x"}}
	for range 1000 {
		d = &Dir{Name: "d", Dirs: []*Dir{d}, Files: []string{"a\nAllow: /", "b"}}
	}
	d.Name = name
	for i := range 3000 {
		d.Files = append(d.Files, fmt.Sprintf("%d#a b*c$", i), fmt.Sprintf("x\nDisallow: /~user%04d", i))
	}
	slices.Sort(d.Files)
	d.Notes = []*Annotation{{File: name + "/.robots", Data: []byte(note.String())}}
	return d
}

func TestHost(t *testing.T) {
	start := time.Now()
	c := Compile(hostTree(), nil)
	t.Logf("compiled in %v, %d octets, %d reports", time.Since(start), len(c.File()), len(c.Reports()))
	if len(c.Unproven()) > 0 {
		t.Fatalf("%d leaks, the first: %v", len(c.Unproven()), c.Unproven()[0])
	}
	if n := len(c.File()); n > warnOctets {
		t.Errorf("the file has %d octets", n)
	}
	for _, want := range []struct{ code, file string }{
		{CodeUnreadable, "~user0007/.robots"},
		{CodeSyntax, "~user0014/.robots"},
		{CodeTooLarge, "~user0021/.robots"},
		{CodeTooLarge, "~user0028/.robots"},
	} {
		if !slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == want.code && r.File == want.file }) {
			t.Errorf("no report %s about %s", want.code, want.file)
		}
	}
	lines := strings.Split(string(c.File()), "\n")
	for u := range 2000 {
		user := fmt.Sprintf("~user%04d", u)
		annotated := u%7 == 0
		if got := slices.Contains(lines, "Disallow: /"+user+"/private"); annotated && u > 28 && !got || !annotated && got {
			t.Errorf("%s: private listed: %v", user, got)
		}
		if got := c.Denied(user+"/a.txt", false); got != (u == 7 || u == 21 || u == 28) {
			t.Errorf("%s/a.txt is denied: %v", user, got)
		}
	}
}

// TestSmallHostile keeps within all bounds: what it costs must be its own.
func TestSmallHostile(t *testing.T) {
	root := &Dir{Dirs: []*Dir{{Name: "quiet", Files: []string{"a", "b"}, Notes: []*Annotation{{File: "quiet/.robots", Data: []byte("Disallow: /a\n")}}}}}
	bad := hostileDir("zz")
	bad.Notes[0].Data = []byte("Disallow: *c$\nUser-agent: foo\nDisallow: /1\n" + strings.Repeat("Disallow: *a*b*c*d*e*f*g*h*i*j\n", 4000))
	root.Dirs = append(root.Dirs, bad)
	start := time.Now()
	c := Compile(root, nil)
	t.Logf("compiled in %v, %d octets", time.Since(start), len(c.File()))
	if len(c.Unproven()) > 0 || c.Denied("quiet/b", false) || !c.Denied("quiet/a", false) || !c.Denied("zz/1#a b*c$", false) {
		t.Errorf("somebody else pays: %d leaks\n%.400s", len(c.Unproven()), c.File())
	}
}

// TestCrowded has a directory with more names that cannot be written than a
// reader should have to try.
func TestCrowded(t *testing.T) {
	d := &Dir{Name: "d", Notes: []*Annotation{{File: "d/.robots", Data: []byte("Disallow: *c$\n")}}}
	for i := range 3000 {
		d.Files = append(d.Files, fmt.Sprintf("a#%04dc", i), fmt.Sprintf("a%04d", i))
	}
	slices.Sort(d.Files)
	c := Compile(&Dir{Files: []string{"x"}, Dirs: []*Dir{d}}, nil)
	if want := "User-agent: *\nDisallow: /d\nDisallow: d\n"; string(c.File()) != want || len(c.Unproven()) > 0 {
		t.Errorf("%d leaks, %.300s", len(c.Unproven()), c.File())
	}
	if c.Reports()[0].Code != CodeCoarsened {
		t.Errorf("the first report is %+v", c.Reports()[0])
	}
}

// TestTooLarge asks for more than fits: directories that say too much are denied
// as a whole, the others are not.
func TestTooLarge(t *testing.T) {
	root := &Dir{}
	for u := range 20 {
		d := &Dir{Name: fmt.Sprintf("u%02d", u), Notes: []*Annotation{{File: "n", Data: []byte("Disallow: *x*\n")}}}
		n := 10
		if u < 2 {
			n = 20_000
		}
		for i := range n {
			d.Files = append(d.Files, fmt.Sprintf("%08d%c%04d", i*7919%100_000_000, "xy"[i%2], i))
		}
		slices.Sort(d.Files)
		root.Dirs = append(root.Dirs, d)
	}
	c := Compile(root, nil)
	if len(c.Unproven()) > 0 || len(c.File()) > maxOctets {
		t.Errorf("%d leaks, %d octets", len(c.Unproven()), len(c.File()))
	}
	for u, d := range root.Dirs {
		whole := strings.Contains(string(c.File()), "Disallow: /"+d.Name+"\n")
		if whole && u >= 2 || !whole && u == 0 {
			t.Errorf("%s denied as a whole: %v", d.Name, whole)
		}
	}
	if c.Reports()[0].Code != CodeCoarsened {
		t.Errorf("the first report is %v", c.Reports()[0])
	}
}

// TestKind has too many files of a kind to list, and some that look alike.
func TestKind(t *testing.T) {
	root := &Dir{Notes: []*Annotation{{File: ".robots", Data: []byte("Disallow: *.zip$\n")}}}
	for i := range 60_000 {
		ending := []string{".txt", ".zip"}[i%2]
		if i%6000 == 0 {
			ending = ".zip.sig"
		}
		root.Files = append(root.Files, fmt.Sprintf("%05d%s", i, ending))
	}
	c := Compile(root, nil)
	if len(c.Unproven()) > 0 {
		t.Fatalf("%d leaks", len(c.Unproven()))
	}
	want := "User-agent: *\n"
	for _, slash := range []string{"/", ""} {
		for i := range 10 {
			want += fmt.Sprintf("Allow: %s%05d.zip.sig$\n", slash, i*6000)
		}
	}
	if want += "Disallow: /*.zip\nDisallow: *.zip\n"; string(c.File()) != want {
		t.Errorf("got:\n%.500s", c.File())
	}
}

// TestKindEverywhere has a few files of a kind in each of many directories.
func TestKindEverywhere(t *testing.T) {
	root := &Dir{Notes: []*Annotation{{File: ".robots", Data: []byte("Disallow: *.zip\n")}}}
	for i := range 20_000 {
		root.Dirs = append(root.Dirs, &Dir{Name: fmt.Sprintf("%05d", i), Files: []string{"a.txt", "a.zip", "b.txt"}})
	}
	c := Compile(root, nil)
	if want := "User-agent: *\nDisallow: /*.zip\nDisallow: *.zip\n"; string(c.File()) != want || len(c.Unproven()) > 0 {
		t.Fatalf("%d leaks, %.300s", len(c.Unproven()), c.File())
	}
	i := slices.IndexFunc(c.Reports(), func(r Report) bool { return r.Code == CodeGlob })
	if i < 0 || len(c.Reports()[i].Leaks) != 40_000 {
		t.Errorf("not every leak is named")
	}
}
