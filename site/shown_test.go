package site_test

import (
	"slices"
	"testing"

	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/site"
)

// TestShownElsewhere: a rule that denies a file whose text an open menu shows is told, with
// the menu and the line that denies it; what reads texts for robots leaves out the menu, too.
func TestShownElsewhere(t *testing.T) {
	for _, test := range []struct {
		files map[string]string
		menu  string // by its name; "" for none
		says  string
	}{
		{map[string]string{"d/index.gmi": "# A\n", "d/.robots": "Disallow: /index.gmi\n"}, "d",
			"/d/ shows the text of /d/index.gmi: Disallow: /$ denies that, too"},
		{map[string]string{"d/index.gph": "a\n", ".robots": "Disallow: /d/index.gph\n"}, "d",
			"/d/ shows the text of /d/index.gph: Disallow: /d/$ denies that, too"},
		{map[string]string{"d/x.gophermap": "a\n", "d/.robots": "Disallow: /x\n"}, "d",
			"/d/ shows the text of /d/x.gophermap: Disallow: /$ denies that, too"},
		{map[string]string{"d/gophermap": "a\n*\n", "d/x.gophermap": "a\n",
			"d/.robots": "Disallow: /x\n"}, "d", "/d/ shows the text of /d/x.gophermap: Disallow: /$ denies that, too"},
		{map[string]string{"d/gophermap": "a\n", "d/x.gophermap": "a\n",
			"d/.robots": "Disallow: /x\n"}, "", ""},
		{map[string]string{"index.gmi": "a\n", ".robots": "Disallow: /*.gmi\n"}, ".",
			"/ shows the text of /index.gmi: Disallow: /$ denies that, too"},
		{map[string]string{"gophermap": "=d/inc.txt\n", "d/inc.txt": "a\n",
			"d/.robots": "Disallow: /inc\n"}, ".", "/ shows the text of /d/inc.txt: Disallow: /$ in the root's .robots denies that, too"},
		{map[string]string{"d/index.gmi": "a\n", "d/.robots": "Disallow: /\n"}, "", ""},
		{map[string]string{"d/index.gmi": "a\n", "d/gophermap": "b\n",
			"d/.robots": "Disallow: /index.gmi\n"}, "", ""},
		{map[string]string{"d/index.gmi": "a\n",
			"d/.robots": "Disallow: /index.gmi\nDisallow: /$\n"}, "", ""},
		{map[string]string{"d/index.gmi": "a\n"}, "", ""},
	} {
		dir := t.TempDir()
		write(t, dir, test.files)
		snap, err := start(t, dir, site.Config{}).Snapshot(t.Context())
		must(t, err)
		var got []string
		for _, r := range snap.Reports {
			if r.Code == policy.CodeShownElsewhere {
				got = append(got, r.Message)
			}
		}
		if want := test.says; want == "" && len(got) > 0 ||
			want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%v: %q, not %q", test.files, got, want)
		}
		if test.menu != "" && snap.Open(test.menu, true) {
			t.Errorf("%v: what lists texts for robots shows %s", test.files, test.menu)
		}
		if !snap.Open("e", true) ||
			test.menu == "" && snap.Open("d", true) == snap.Compiled.DeniedToAll("d", true) {
			t.Errorf("%v: another menu is left out", test.files)
		}
	}
}
