package robots

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lintCases: each line is odd for one reason; want lists line:code:id.
var lintCases = []struct {
	dialect Dialect
	file    string
	want    string
}{
	{RFC9309, "User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 3\nSitemap: http://h/s.xml\n\n# note\n", ""},
	{Gopher, "User-agent: *\nDisallow: /a\n", ""},
	{Standard1994, "User-agent: *\nDisallow:\n", ""},
	{Extended, "User-agent: a\nRobot-version: 2.0\nVisit-time: 0600-0845\nRequest-rate: 1/30m\nDisallow: /a*\n", ""},

	{RFC9309, "User-agent: *\nDisallow /a\nhello there\n: x\nDisallow: /b\n", "2:no-colon:R2 3:no-colon:R2 4:no-colon:R2"},
	{RFC9309, "Usage-agent: *\nUser-agent: *\nDisalow: /\nDissallow: /\nX-thing: 1\nDisallow: /b\n", "1:misspelt-field:R2 3:misspelt-field:R2 4:misspelt-field:R2 5:unknown-field:R9"},
	{RFC9309, "User-agent: *\nDisallow: /b\nCrawl-delay: soon\nVisit-time: 9999-0000\nRequest-rate: 1/0\n", "3:value: 4:value:C7 5:value:C8"},
	{Gopher, "User-agent: *\nDisallow: /b\nIndex: perhaps\nCooldown: -1\n", "3:value:I3 4:value:I6"},
	{RFC9309, "\ufeffUser-agent: *\nDisallow: /\x00b\nDisallow: /\x1bc\nDisallow: /\xff\n", "1:octets:R10 2:octets:R2 3:octets:R10 4:octets:R10"},
	{Gopher, "User-agent: *\nDisallow: /a\rb\n", "2:octets:G3"},
	{RFC9309, "User-agent:\nUser-agent: a/2.0\nDisallow: /a\nUser-agent: *bot\nDisallow: /b\n", "1:agent:R3 2:agent:R3 2:stacked:R1 4:agent:R3"},
	{GopherStrict, "User-agent: a\nDisallow: /a\n", "1:ignored:G10"},
	{Gopher, "User-agent: a\nDisallow: /a\nAllow: /a/b\n", "3:ignored:G10"},
	{Standard1994, "User-agent: a\nDisallow: /a\nAllow: /a/b\nDisallow: /c*\n", "3:ignored:S7 4:wildcard:S4"},
	{Gopher, "User-agent: a\nDisallow:\ndisallow: /x\n Disallow: /y\nDisallow: /z$\nDisallow: /" + strings.Repeat("l", 255) + "\n", "2:empty:G4 3:form:G4 4:form:G4 5:wildcard:G8 6:long:G6"},
	{RFC9309, "User-agent: a\nDisallow: x\nDisallow: /robots.txt\nDisallow: /a$b\nDisallow: /a b\nDisallow: /c#d\n", "2:never:R5 3:never:R5 4:wildcard:R7 5:blank:R2 6:comment:G9"},
	{RFC9309, "Disallow: /a\nUser-agent: *\nDisallow: /b\n", "1:outside:R8"},
	{Gopher, "Disallow: /a\nUser-agent: *\nDisallow: /b\n", "1:outside:R8"},
	{Standard1994, "User-agent: *\n\nDisallow: /b\n", "1:empty-group:S1 3:outside:S1"},
	{RFC9309, "User-agent: *\nCrawl-delay: 5\n\nUser-agent: a\nDisallow: /\n", "1:swallowed:R9"},
	{RFC9309, "User-agent: *\nSitemap: s\nUser-agent: a\nDisallow: /\n", "3:stacked:R1"},
	{Gopher, "User-agent: *\nUser-agent: a\nDisallow: /\n", "2:stacked:R1"},
	{RFC9309, "User-agent: a\nDisallow: /\n\nUser-agent: A\nDisallow: /b\nUser-agent: c\n", "4:duplicate:R3 6:empty-group:R1"},
	{Standard1994, "User-agent: a\nDisallow: /\n\nUser-agent: a\nDisallow: /b\n", "4:duplicate:S3"},
	{RFC9309, "User-agent: a\nDisallow: /a\nDisallow: /a\nAllow: /a\nDisallow:\n", "2:never:R5 3:duplicate:R5 5:empty:S5"},
	{RFC9309, "User-agent: a\nDisallow: /a~\nDisallow: /%61%7E\nDisallow: /robots.txt$\n", "3:duplicate:R5 4:never:R5"},
	{Gopher, "User-agent: a\nDisallow: /a\nDisallow: /%61\n", ""},
	{Extended, "User-agent: a\nRobot-version: 2.1\nDisallow: /a\nRobot-version: x\n", "1:experimental:C3 4:value:C3 4:place:C3"},
	{Gopher, "iHello\tfake\t(NULL)\t0\r\n", "0:absent:G1 1:no-colon:R2"},
	{IRCv3, "CRAWLER=cooldown:5\n", "0:index-missing:I3"},
	{IRCv3, "NETWORK=x", "0:absent:I2"},
}

func TestLint(t *testing.T) {
	for _, c := range lintCases {
		var got []string
		for _, d := range Parse(c.dialect, []byte(c.file)).Lint() {
			got = append(got, fmt.Sprintf("%d:%s:%s", d.Line, d.Code, d.ID))
			if d.Message == "" || strings.ContainsFunc(d.Message, isControl) {
				t.Errorf("%q: message %q", c.file, d.Message)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q:\n got %s\nwant %s", c.dialect, c.file, strings.Join(got, " "), c.want)
		}
	}
}

// TestLintSize: R14, from the size that gophd warns of to the limit.
func TestLintSize(t *testing.T) {
	for size, want := range map[int]string{largeFile: "", largeFile + 1: "note", tooBigFile + 1: "warning"} {
		got := ""
		for _, d := range Parse(Gopher, append([]byte("Disallow: /a\n"), strings.Repeat("\n", size-13)...)).Lint() {
			if d.Code == "size" {
				got = d.Severity.String()
			}
		}
		if got != want {
			t.Errorf("%d octets: %q, want %q", size, got, want)
		}
	}
	f, err := ParseReader(Gopher, strings.NewReader("Disallow: /a\nDisallow: /b\n"), 20)
	if err != nil || len(f.Lint()) == 0 || f.Lint()[0].Code != "size" {
		t.Errorf("a cut file: %v, %v", f.Lint(), err)
	}
}

// TestNetwork: I1 and I3, as decisions.
func TestNetwork(t *testing.T) {
	for text, want := range map[string]Decision{
		"CRAWLER=index:deny,cooldown:60":                       {Allowed: false, Reason: NetworkToken},
		"CRAWLER=index:allow":                                  {Allowed: true, Reason: NetworkToken},
		":irc.example.org 005 nick CRAWLER=index:deny :are ok": {Allowed: false, Reason: NetworkToken},
		"CRAWLER=cooldown:5\nDisallow: /\n":                    {Allowed: true, Reason: NoGroup},
		"":                                                     {Allowed: true, Reason: NoGroup},
	} {
		f := Parse(IRCv3, []byte(text))
		if got := f.Decide("bot", "/"); got.Allowed != want.Allowed || got.Reason != want.Reason || f.Allowed("bot", "") != want.Allowed {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestCodesAreDocumented: the package documentation lists each code.
func TestCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	report := regexp.MustCompile(`\.(?:warn|note|lose)\([^"]*"([a-z-]+)"`)
	files, err := filepath.Glob("[lc][io]n*t*.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range report.FindAllSubmatch(src, -1) {
			if !regexp.MustCompile(`\b` + string(m[1]) + `\b[,.;]`).Match(doc) {
				t.Errorf("%s: the code %s is not documented", name, m[1])
			}
		}
	}
}
