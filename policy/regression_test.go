package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
)

// A name that was cut before its # covers others, which were listed, too: a
// reader that takes the nearest pattern in alphabetical order went astray.
func TestCutNameCoversOthers(t *testing.T) {
	c := Compile(tree("a#b", "ab", "attic/x", "c", ".robots\tDisallow: /a"), nil)
	if want := "User-agent: *\nDisallow: /a\nDisallow: a\n"; string(c.File()) != want {
		t.Errorf("got:\n%s", c.File())
	}
}

// An Allow between two patterns keeps the longer one.
func TestAllowBetween(t *testing.T) {
	s := lineSet{}
	s.add(false, "/a", nil)
	s.add(true, "/ab/", nil)
	s.add(false, "/ab/c", nil)
	s.add(false, "/ac", nil)
	s.prefixFree()
	var got []string
	for _, l := range s.sorted() {
		got = append(got, l.pattern)
	}
	if want := []string{"/ab/c", "/ab/", "/a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A selector that is barred to several robots was counted and listed for each.
func TestVictimsOnce(t *testing.T) {
	c := Compile(tree("a", "b", ".robots\tUser-agent: foo|Disallow: /a|User-agent: bar|Allow: /"), nil)
	i := slices.IndexFunc(c.Reports(), func(r Report) bool { return r.Code == CodeOverBlockStrict })
	if r := c.Reports()[i]; !slices.Equal(r.Victims, []string{"/a"}) || r.Message != `"/a" bars 1 allowed selectors, too` {
		t.Errorf("got %+v", r)
	}
}

// A reader that knows Allow and $ is not concerned by new files where they are
// barred for such readers.
func TestNewFilesReaders(t *testing.T) {
	c := Compile(tree("d/a", "d/x", "d/.robots\tDisallow: /|Allow: /a"), nil)
	i := slices.IndexFunc(c.Reports(), func(r Report) bool { return r.Code == CodeNewFiles })
	if want := []string{"gopher-strict", "veronica2", "1994", "gemini"}; !slices.Equal(c.Reports()[i].Readers, want) {
		t.Errorf("got %q", c.Reports()[i].Readers)
	}
}

// The rules of a file that was written by hand come from itself.
func TestHandWrittenSource(t *testing.T) {
	c := Compile(tree("a", "robots.txt\t# mine|User-agent: *|Disallow: /a"), nil)
	for line, want := range []int{0, 0, 0, 3, 0} {
		if _, got := c.Source(line); got != want {
			t.Errorf("line %d comes from %d, want %d", line, got, want)
		}
	}
}

// One who names many robots took the groups of those that others name.
func TestOthersKeepTheirRobots(t *testing.T) {
	note := func(name, text string) []*Annotation {
		return []*Annotation{{File: name + "/.robots", Data: []byte(text)}}
	}
	files := []string{"a", "b", "c"}
	honest := &Dir{Name: "honest", Files: files, Notes: note("honest", "User-agent: averylongname\nDisallow: /a\n")}
	mallory := &Dir{Name: "mallory", Files: files}
	for i := range 100 {
		name := fmt.Sprintf("d%03d", i)
		mallory.Dirs = append(mallory.Dirs, &Dir{Name: name, Files: files, Notes: note("mallory/"+name, fmt.Sprintf("User-agent: bot%d\nDisallow: /b\n", i))})
	}
	c := Compile(&Dir{Dirs: []*Dir{honest, mallory}}, nil)
	if !strings.Contains(string(c.File()), "User-agent: averylongname\n") || !strings.Contains(string(c.File()), "User-agent: bot") {
		t.Error("the wrong robots have lost their groups")
	}
	if e := c.Explain("*", "honest/a", false); !e.Readers[2].Allowed {
		t.Errorf("somebody else pays: %+v", e)
	}
}

// A tree that has far more to say than there is room for was judged again for
// every coarser plan, and for every change.
func TestKnownFromBefore(t *testing.T) {
	defer func(n int) { maxOctets = n }(maxOctets)
	maxOctets = 10_000
	root := overTree(60)
	c := Compile(root, nil)
	if len(c.known["*"].verdicts) != 61 {
		t.Errorf("%d verdicts are kept", len(c.known["*"].verdicts))
	}
	next := overChanged(root, 5)
	again, fresh := Compile(next, c), Compile(next, nil)
	if string(again.File()) != string(fresh.File()) || !reflect.DeepEqual(again.Reports(), fresh.Reports()) {
		t.Error("the file depends on what was known before")
	}
	i := 7 // a directory that has not changed
	if again.known["*"].verdicts[next.Dirs[i]].verdict != c.known["*"].verdicts[root.Dirs[i]].verdict {
		t.Error("what has not changed was judged again")
	}
}

// "User-agent: *GoodBot*" with "Allow: /" opened the directory to every robot.
func TestStarredNameOpensNothing(t *testing.T) {
	c := Compile(tree("d/x", ".robots\tDisallow: /d/", "d/.robots\tUser-agent: *GoodBot*|Allow: /"), nil)
	f := robots.Parse(robots.RFC9309, c.File())
	if f.Allowed("*", "/d/x") || f.Allowed("GoodBot", "/d/x") || c.Explain("GoodBot", "d/x", false).Allowed {
		t.Errorf("opened:\n%s", c.File())
	}
}
