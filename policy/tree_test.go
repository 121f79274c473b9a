package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestLooked: of what is not known when enough names have been compared, it is taken
// that it matches something.
func TestLooked(t *testing.T) {
	r := &rule{form: form{uri: "/*z"}}
	for name, d := range map[string]*Dir{
		"files":       {Files: []string{"a", "b"}},
		"directories": {Dirs: []*Dir{{Name: "a"}, {Name: "b"}}},
	} {
		for looked, want := range map[int]bool{0: false, maxLooked - 2: false, maxLooked - 1: true} {
			f := finder{looked: looked, nothing: map[sought]bool{}}
			if got := f.any(d, "/", "", r); got != want {
				t.Errorf("%s, after %d: %v", name, looked, got)
			}
		}
	}
	d := &Dir{Files: []string{"drafts"}}
	for looked, want := range map[int]string{0: "drafts", maxLooked + 1: ""} {
		f := finder{looked: looked}
		if got := f.nearest(d, "draft", &node{dir: d}, ""); got != want || want == "" && f.looked > looked {
			t.Errorf("after %d the nearest name is %q", looked, got)
		}
	}
}

// TestNothing: that a rule matches nothing in a directory is remembered if many names were
// compared for it, and not too often; who looks again finds it there.
func TestNothing(t *testing.T) {
	r, full := &rule{form: form{uri: "/*z"}}, map[sought]bool{}
	for range maxSought {
		full[sought{dir: &Dir{}}] = true
	}
	for _, test := range []struct {
		names int
		head  string
		kept  map[sought]bool
		want  bool
	}{{minSought, "", map[sought]bool{}, true}, {minSought - 1, "", map[sought]bool{}, false}, {minSought, "a", map[sought]bool{}, false}, {minSought, "", full, false}} {
		d := &Dir{Files: slices.Repeat([]string{"a"}, test.names)}
		f := finder{looked: 1000, nothing: maps.Clone(test.kept)}
		if found := f.any(d, "/", test.head, r); found || f.nothing[sought{r, d}] != test.want {
			t.Errorf("%d names that begin with %q: kept %v", test.names, test.head, !test.want)
		}
		again := finder{before: f.nothing, nothing: map[sought]bool{}}
		if found := again.any(d, "/", test.head, r); found || (again.looked == 0) != test.want || again.nothing[sought{r, d}] != (test.names == minSought && test.head == "") {
			t.Errorf("%d names that begin with %q: %d compared again", test.names, test.head, again.looked)
		}
	}
}

// TestNotLookedForLong: when enough names have been compared, no nearest one is told.
func TestNotLookedForLong(t *testing.T) {
	d := &Dir{Files: []string{"about"}}
	for looked, want := range map[int]string{0: "/about", maxLooked: "/about", maxLooked + 1: ""} {
		if got := (&finder{looked: looked}).nearest(d, "abaut", &node{dir: d}, "/"); got != want {
			t.Errorf("after %d: %q", looked, got)
		}
	}
}

// TestSpeakable: which names can be asked for at all.
func TestSpeakable(t *testing.T) {
	for _, name := range []string{"a", " ", "a b", "...", "~", "ä", "%00", "#"} {
		if !speakable(name) {
			t.Errorf("nobody can ask for %q", name)
		}
	}
	for _, name := range []string{"", ".", "..", "a\x01", "\x1f", "\tb", "a\x7fb", "a/b", "a\xff"} {
		if speakable(name) {
			t.Errorf("somebody can ask for %q", name)
		}
		if strings.Trim(name, "./") == "" || strings.Contains(name, "/") {
			continue // no directory is called so
		}
		c := Compile(Input{Root: &Dir{Dirs: []*Dir{{Name: name, Notes: []*Annotation{{File: "d/.robots", Data: []byte("Disallow: /x\n")}}}}}}, nil)
		if want := compileOf(nil); string(c.File()) != string(want.File()) {
			t.Errorf("%q is in\n%s", name, c.File())
		}
	}
	// A directory whose own selector is longer than a request is out of reach.
	for size, told := range map[int]bool{maxSelector - 2: true, maxSelector - 1: false} {
		c := compileOf(map[string]string{strings.Repeat("a", size) + "/.robots": "Disallow: /\n"})
		if strings.Contains(string(c.File()), "\nDisallow: /aaa") != told {
			t.Errorf("a name of %d bytes: %v", size, !told)
		}
	}
}

// TestNearest: the name that is told is that of the next best, the first if several are
// as good, and of short names only one that differs in case.
func TestNearest(t *testing.T) {
	d := &Dir{Dirs: []*Dir{{Name: "drafts"}, {Name: "grafts"}}, Files: []string{"Ab", "about.txt", "crafts", "new"}}
	n := &node{dir: d}
	for name, want := range map[string]string{"draft": "drafts/", "graft": "grafts/", "rafts": "drafts/", "crafts": "crafts", "About.TXT": "about.txt",
		"aboot.tx": "about.txt", "aboot.t": "", "ab": "Ab", "ac": "", "xyz": "", "mew": "new"} {
		if got := (&finder{}).nearest(d, name, n, "/"); got != "/"+want && (want != "" || got != "") {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// TestHas: a directory is no file, and a file no directory.
func TestHas(t *testing.T) {
	d := treeOf(nil, "a", "d/e/x")
	for name, want := range map[string]string{".": "dir", "d": "dir", "d/e": "dir", "a": "file", "d/e/x": "file", "b": "", "d/x": "", "f/x": "", "d/e/x/y": ""} {
		if d.Has(name, true) != (want == "dir") || d.Has(name, false) != (want == "file") {
			t.Errorf("%s: a directory %v, a file %v", name, d.Has(name, true), d.Has(name, false))
		}
	}
}

// TestUnmatched: each line that matches nothing is told of once, also one of two names.
func TestUnmatched(t *testing.T) {
	var lines []int
	for _, r := range compileOf(map[string]string{".robots": "Disallow: /%61x\nDisallow: /zz/\nDisallow: /a\nDisallow: /%62x\n"}, "a").Reports() {
		if r.Code == CodeNoMatch {
			lines = append(lines, r.Line)
		}
	}
	if slices.Sort(lines); !slices.Equal(lines, []int{1, 2, 4}) {
		t.Errorf("lines %d", lines)
	}
	// Of two annotations each is told of its own. A directory is there though it is empty.
	var places []string
	for _, r := range compileOf(map[string]string{".robots": "Disallow: /xx\n", "robots.txt": "Disallow: /yy\nDisallow: /e/\nDisallow: /e/$\n"}, "e/").Reports() {
		if r.Code == CodeNoMatch {
			places = append(places, r.Place())
		}
	}
	if slices.Sort(places); !slices.Equal(places, []string{".robots:1", "robots.txt:1"}) {
		t.Errorf("told of %q", places)
	}
}

func TestNear(t *testing.T) {
	if near("disallow", "disallow") || !near("disalow", "disallow") || near("dislow", "disallow") {
		t.Error("what is near Disallow")
	}
}
