package policy

import (
	"fmt"
	"testing"
)

// A file that is too large even without its lines for selectors that lack a slash says
// less to readers that know only Disallow, and what they lose is reported. It closes
// nobody's directory.
func TestWeakCut(t *testing.T) {
	notes := map[string]string{".robots": "Disallow: /*.zip$\nDisallow: /attic/log$\n"}
	for i := range 6500 {
		notes[fmt.Sprintf("~u%04d/.robots", i)] = "Disallow: /private/\nAllow: /private/pub/\n"
	}
	c := compileOf(notes)
	if len(c.shut) > 0 || len(c.Unproven()) > 0 {
		t.Errorf("%d directories are denied, %d leaks are unproven", len(c.shut), len(c.Unproven()))
	}
	for _, reader := range []string{"veronica2", "gopher-strict", "rfc9309", "1994"} {
		if reads(t, reader, c.File(), veronica)("/~u0001/private/x") {
			t.Errorf("%s may fetch a private file", reader)
		}
	}
	named := map[string]bool{}
	for _, r := range c.Reports() {
		for _, reader := range r.Readers {
			named[fmt.Sprint(r.Code, r.Line, reader)] = true
		}
	}
	for _, want := range []string{CodeAnchor + "1veronica2", CodeAnchor + "2veronica2"} {
		if !named[want] {
			t.Errorf("no report is %s: %v", want, named)
		}
	}
}
