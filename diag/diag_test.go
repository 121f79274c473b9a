package diag_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
)

func Example() {
	d := diag.Diagnostic{
		Code: "NO-MATCH", Severity: diag.Warning, File: "phlog/.robots", Line: 3,
		Message: `"Disallow: /draft" matches nothing`, Hint: "the nearest name is /drafts/",
	}
	fmt.Print(d.Text())
	// Output:
	// phlog/.robots:3: warning: "Disallow: /draft" matches nothing (NO-MATCH)
	//     hint: the nearest name is /drafts/
}

func TestPlaces(t *testing.T) {
	for want, d := range map[string]diag.Diagnostic{
		"warning: m":             {Message: "m"},
		"f: error: m (C)":        {File: "f", Severity: diag.Error, Message: "m", Code: "C"},
		"f:7: notice: m":         {File: "f", Line: 7, Severity: diag.Notice, Message: "m"},
		`a\nb:1: warning: \x1b[`: {File: "a\nb", Line: 1, Message: "\x1b["},
	} {
		if got := d.String(); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}

func TestCompareWorstFirst(t *testing.T) {
	sorted := []diag.Diagnostic{
		{Severity: diag.Error, File: "b"},
		{Severity: diag.Warning, File: "a", Line: 2},
		{Severity: diag.Warning, File: "b", Line: 1},
		{Severity: diag.Notice, File: "a", Line: 1, Code: "A"},
		{Severity: diag.Notice, File: "a", Line: 1, Code: "B"},
	}
	got := slices.Clone(sorted)
	slices.Reverse(got)
	slices.SortFunc(got, diag.Compare)
	if !slices.Equal(got, sorted) {
		t.Errorf("sorted as %v", got)
	}
	if !diag.Error.Worse(diag.Warning) || diag.Notice.Worse(diag.Notice) {
		t.Error("Worse does not order the severities")
	}
}

func TestPrintableKeepsText(t *testing.T) {
	for _, s := range []string{"", "plain", "Grüße, 世界 – «x»", "a\u00a0b", "\ufffd",
		`back\slash "quoted"`} {
		if got := diag.Printable(s); got != s {
			t.Errorf("Printable(%q) = %q", s, got)
		}
	}
	if got := diag.Printable("\x1b[2J\xff\u202e\r\nx\u0085"); got != `\x1b[2J\xff\u202e\r\nx\u0085` {
		t.Errorf("got %q", got)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[31m\x9b\u009b\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		got := diag.Printable(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("Printable(%q) = %q", s, got)
		}
		if diag.Printable(got) != got {
			t.Errorf("not stable: %q", got)
		}
	})
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd...", "abcéd": "abc..."} {
		if got := diag.Shorten(in, 4); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
