package policy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// Of the two trees of a home, the one for Gopher and the one for Gemini, either may deny.

// home makes the annotations of a tree of texts, by their directories below /~ann/.
func home(prefix string, texts map[string]string) (list []Annotation) {
	for dir, text := range texts {
		list = append(list, Annotation{Dir: "/~ann/" + dir,
			File: prefix + "~ann/" + dir + ".robots", Data: []byte(text)})
	}
	slices.SortFunc(list, func(a, b Annotation) int { return strings.Compare(a.Dir, b.Dir) })
	return list
}

// rfc9309 returns what a robot that reads as RFC 9309 has it may fetch.
func rfc9309(list []Annotation) func(robot, sel string) bool {
	row, _ := readers.Named("rfc9309")
	return row.Read(Compile(Input{Annotations: list}).File()).Allowed
}

// treeText draws an annotation: at times with lines for all, with groups that name one robot or
// two, and with lines that deny, allow, or only begin a group.
func treeText(rnd *rand.Rand) string {
	one := func(list ...string) string { return list[rnd.IntN(len(list))] }
	var b strings.Builder
	for range rnd.IntN(7) {
		if rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, "User-agent: %s\n",
				one("*", "*", "GPTBot", "foo", "Foo, bar", "*, bar"))
			continue
		}
		fmt.Fprintf(&b, "%s: /%s%s\n", one("Disallow", "Disallow", "Allow", "Final"),
			one("", "a", "b", "a/", "a/b", "*b", "*/b$"), one("", "", "x"))
	}
	return b.String()
}

// TestEitherTreeDenies: what one of two trees denies to a robot when it is all that there is,
// both together deny to that robot.
func TestEitherTreeDenies(t *testing.T) {
	t.Parallel()
	var names []string
	for _, dir := range []string{"", "a/", "a/b/"} {
		for _, name := range []string{"", "a", "b", "x", "ax", "bx", "a/b", "a/bx", "b/x",
			"q/b", "a/b/b"} {
			names = append(names, "/~ann/"+dir+name)
		}
	}
	denials, openings := 0, 0
	for seed := *first; seed < *first+4**drawn; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 60))
		var trees [2][]Annotation
		for i, prefix := range []string{"", "gemini="} {
			texts := map[string]string{}
			for _, dir := range []string{"", "a/", "a/b/"} {
				if rnd.IntN(3) > 0 {
					texts[dir] = treeText(rnd)
				}
			}
			trees[i] = home(prefix, texts)
		}
		both := rfc9309(BothTrees(trees[0], trees[1]))
		alone := []func(robot, sel string) bool{rfc9309(trees[0]), rfc9309(trees[1])}

		for _, robot := range []string{"GPTBot", "foo", "bar", "nobody-names-it"} {
			for _, sel := range append(names, "/", "/a", "/~bob/a") {
				got := both(robot, sel)
				for i, allows := range alone {
					if !allows(robot, sel) && got {
						t.Fatalf("seed %d: tree %d denies %s to %s, both together do not\n%s", seed,
							i, sel, robot, textsOf(trees))
					}
				}
				switch {
				case !got && !strings.HasPrefix(sel, "/~ann"):
					t.Fatalf("seed %d: %s is kept out of %s, of which no tree speaks\n%s", seed,
						robot, sel, textsOf(trees))
				case got:
					openings++
				default:
					denials++
				}
			}
		}
	}
	if denials == 0 || openings == 0 {
		t.Errorf("%d are denied, %d are not", denials, openings)
	}
}

func textsOf(trees [2][]Annotation) string {
	var b strings.Builder
	for _, a := range slices.Concat(trees[0], trees[1]) {
		fmt.Fprintf(&b, "== %s\n%s", a.File, a.Data)
	}
	return b.String()
}

// TestBanInOneTree: a tree that keeps one robot out closes the home to that robot alone,
// whatever else the trees say.
func TestBanInOneTree(t *testing.T) {
	ban := "User-agent: GPTBot\nDisallow: /\n"
	for _, c := range []struct {
		gopher, gemini map[string]string
		open, denied   string // for other robots
	}{
		{map[string]string{"": ban}, map[string]string{"": "Disallow: /drafts/\n"}, "/~ann/phlog/",
			"/~ann/drafts/x"},
		{map[string]string{"": "Disallow: /drafts/\n"}, map[string]string{"": ban}, "/~ann/phlog/",
			"/~ann/drafts/x"},
		{map[string]string{"": "Disallow: /drafts/\n" + ban}, map[string]string{"": "# nothing\n"},
			"/~ann/phlog/", "/~ann/drafts/x"},
		{map[string]string{"": ban}, map[string]string{"": "User-agent: foo\nDisallow: /\n"},
			"/~ann/phlog/", ""},
		{map[string]string{"": ban},
			map[string]string{"": "",
				"d/": "User-agent: GPTBot\nAllow: /\n\nUser-agent: *\nDisallow: /x\n"}, "/~ann/d/", "/~ann/d/x"},
		{map[string]string{"": ban}, nil, "/~ann/phlog/", ""},
		{nil, map[string]string{"": ban}, "/~ann/phlog/", ""},
		{map[string]string{"": ban}, map[string]string{"": ban}, "/~ann/phlog/", ""},
	} {
		list := BothTrees(home("", c.gopher), home("gemini=", c.gemini))
		allows := rfc9309(list)
		for _, sel := range []string{"/~ann/", "/~ann/phlog/", "/~ann/d/", "/~ann/drafts/x"} {
			if allows("GPTBot", sel) {
				t.Errorf("%q, %q: GPTBot may fetch %s", c.gopher, c.gemini, sel)
			}
		}
		for _, robot := range []string{"bar", "nobody-names-it"} {
			if !allows(robot, "/~ann/") || !allows(robot, c.open) ||
				c.denied != "" && allows(robot, c.denied) {
				t.Errorf("%q, %q: %s may fetch the home: %v, %s: %v, %s: %v", c.gopher, c.gemini,
					robot, allows(robot, "/~ann/"), c.open, allows(robot, c.open), c.denied,
					allows(robot, c.denied))
			}
		}
	}
}

// TestTreesAlike: trees with the same annotations are one, as is a tree beside an empty one;
// their Allows count.
func TestTreesAlike(t *testing.T) {
	texts := map[string]string{"": "Disallow: /\nAllow: /pub/\n",
		"d/": "User-agent: foo\nDisallow: /x\n"}
	gopher, gemini := home("", texts), home("gemini=", texts)
	for name, c := range map[string][3][]Annotation{
		"alike":     {gopher, gemini, gopher},
		"no Gemini": {gopher, nil, gopher},
		"no Gopher": {nil, gemini, gemini},
	} {
		if got := BothTrees(c[0], c[1]); !reflect.DeepEqual(got, c[2]) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	one, both := Compile(Input{Annotations: gopher}).File(),
		Compile(Input{Annotations: BothTrees(gopher, gemini)}).File()
	if !bytes.Equal(one, both) {
		t.Errorf("alone:\n%s== both:\n%s", one, both)
	}
}
