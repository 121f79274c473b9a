package nomatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/site"
)

// TestDidYouMean: what people write for a name that is there is a warning with the line
// that they mean; the surer it is that a rule does nothing, the louder it is said.
func TestDidYouMean(t *testing.T) {
	for _, test := range []struct{ file, line, want string }{
		{"phlog/.robots", "Disallow: /phlog/drafts/", "warning; did you mean /drafts/?"},
		{"phlog/.robots", "Disallow: /phlog/drafts", "warning; did you mean /drafts?"},
		{".robots", "Disallow: /1/phlog/drafts/", "warning; did you mean /phlog/drafts/?"},
		{".robots", "Disallow: 1/phlog/", "warning; did you mean /phlog/?"},
		{"phlog/.robots", "Disallow: 0/about.txt", "warning; did you mean /about.txt?"},
		{".robots", `Disallow: "/phlog/"`, "warning; did you mean /phlog/?"},
		{".robots", "Disallow: '/phlog/'", "warning; did you mean /phlog/?"},
		{".robots", "Disallow: /phlog/drafts/ /phlog/about.txt",
			"warning; did you mean /phlog/drafts/?"},
		{".robots", "Disallow: ./phlog/", "warning; did you mean /phlog/?"},
		{".robots", "Disallow: /./phlog/", "warning; did you mean /phlog/?"},
		{"phlog/.robots", "Disallow: ./drafts/", "warning; did you mean /drafts/?"},
		{"phlog/.robots", "Disallow: /100%41", "warning; did you mean /100%2541?"},
		{"phlog/.robots", "Final: /draft/", "warning; the nearest name is /drafts/"},
		{"phlog/.robots", "Disallow: ../phlog/drafts/",
			"warning: an annotation is about its directory and what lies below"},
		{"phlog/.robots", "Disallow: /..drafts/", "warning; the nearest name is /drafts/"},
		{"phlog/.robots", "Disallow: /draft/", "warning; the nearest name is /drafts/"},
		{"phlog/.robots", "Allow: /abuot.txt", "warning; the nearest name is /about.txt"},
		{"phlog/.robots", "Disallow: /to-come/", "notice"},
		{"phlog/.robots", "Disallow: /drafts/", ""},
		{"phlog/.robots", "Disallow: drafts", ""},
		{"phlog/.robots", "Disallow: /drafts$", "warning; did you mean /drafts?"},
		{"phlog/.robots", "Disallow: /*.zip$", "notice"},
		{"phlog/.robots", "Disallow: /*bout.txt$", ""},
		{"phlog/.robots", "Disallow: /*/x", ""},
		{".robots", "Disallow: /*/feed.xml", ""},
		{".robots", "Disallow: /*/", ""},
		{"phlog/.robots", "Disallow: /about.txt$", ""},
		{"phlog/.robots", "Disallow: /", ""},
		{"phlog/.robots", "Disallow: gopher://example.org/1/phlog/drafts/",
			"warning; did you mean /drafts/?"},
		{".robots", "Disallow: gopher://example.org/1/phlog/drafts/", ""},
		{".robots", "Disallow: /robots.txt", ""},
	} {
		dir := t.TempDir()
		treetest.Write(t, dir, map[string]string{test.file: "User-agent: *\n" + test.line + "\n",
			"phlog/drafts/x": "", "phlog/about.txt": "", "phlog/100%41": ""})
		snap, err := site.Load(dir)
		treetest.Must(t, err)
		var list, want []string
		for _, r := range Reports(snap) {
			if r.Code == policy.CodeNoMatch {
				list = append(list, fmt.Sprintf("%s:%d %s %s", r.File, r.Line,
					r.Severity, r.Message))
			}
		}
		if test.want != "" {
			severity, rest := diag.Notice, ""
			if after, ok := strings.CutPrefix(test.want, "warning"); ok {
				severity, rest = diag.Warning, after
			}
			want = append(want, fmt.Sprintf("%s:2 %s %q matches nothing%s", test.file, severity,
				test.line, rest))
		}
		if !slices.Equal(list, want) {
			t.Errorf("%q in %s: %q\nwant %q", test.line, test.file, list, want)
		}
	}
}
