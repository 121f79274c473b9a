package lint

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// lintCases: each line is odd for one reason; want lists line:code:id.
var lintCases = []struct {
	dialect readers.Dialect
	file    string
	want    string
}{
	{readers.RFC9309, "User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 3\nSitemap: http://h/s.xml\n\n# note\n", ""},
	{readers.Gopher, "User-agent: *\nDisallow: /a\n", ""},
	{readers.Standard1994, "User-agent: *\nDisallow:\n", ""},
	{readers.Extended, "User-agent: a\nRobot-version: 2.0\nVisit-time: 0600-0845\nRequest-rate: 1/30m\nDisallow: /a*\n", ""},

	{readers.RFC9309, "User-agent: *\nDisallow /a\nhello there\n: x\nDisallow: /b\n",
		"2:R2-NO-COLON 3:R2-NO-COLON 4:R2-NO-COLON"},
	{readers.RFC9309, "Usage-agent: *\nUser-agent: *\nDisalow: /\nDissallow: /\nX-thing: 1\nDisallow: /b\n", "1:R2-MISSPELT-FIELD 3:R2-MISSPELT-FIELD 4:R2-MISSPELT-FIELD 4:R5-DUPLICATE 5:R9-UNKNOWN-FIELD"},
	{readers.RFC9309, "User-agent: *\nDisallow: /b\nCrawl-delay: soon\nVisit-time: 9999-0000\nRequest-rate: 1/0\n", "3:VALUE 4:C7-VALUE 5:C8-VALUE"},
	{readers.Gopher, "User-agent: *\nDisallow: /b\nIndex: perhaps\nCooldown: -1\n",
		"3:I3-VALUE 4:I6-VALUE"},
	{readers.RFC9309, "\ufeffUser-agent: *\nDisallow: /\x00b\nDisallow: /\x1bc\nDisallow: /\xff\n",
		"1:R10-BYTES 2:R2-BYTES 3:R10-BYTES 4:R10-BYTES"},
	{readers.Gopher, "User-agent: *\nDisallow: /a\rb\n", "2:G3-BYTES"},
	{readers.RFC9309, "User-agent:\nUser-agent: a/2.0\nDisallow: /a\nUser-agent: *bot\nDisallow: /b\n", "1:R3-AGENT 2:R3-AGENT 4:R3-AGENT"},
	{readers.GopherStrict, "User-agent: a\nDisallow: /a\n", "1:G10-IGNORED"},
	{readers.Gopher, "User-agent: a\nDisallow: /a\nAllow: /a/b\n", "3:G10-IGNORED"},
	{readers.Standard1994, "User-agent: a\nDisallow: /a\nAllow: /a/b\nDisallow: /c*\n",
		"3:S7-IGNORED 4:S4-WILDCARD"},
	{readers.Gopher, "User-agent: a\nDisallow:\ndisallow: /x\n Disallow: /y\nDisallow: /z$\nDisallow: /" + strings.Repeat("l", 255) + "\n", "2:G4-EMPTY 3:G4-FORM 4:G4-FORM 5:G8-WILDCARD 6:G6-LONG"},
	{readers.RFC9309, "User-agent: a\nDisallow: x\nDisallow: /robots.txt\nDisallow: /a$b\nDisallow: /a b\nDisallow: /c#d\n", "2:R5-NEVER 3:R5-NEVER 4:R7-WILDCARD 5:R2-BLANK 6:G9-COMMENT"},
	{readers.RFC9309, "Disallow: /a\nUser-agent: *\nDisallow: /b\n", "1:R8-OUTSIDE"},
	{readers.Gopher, "Disallow: /a\nUser-agent: *\nDisallow: /b\n", "1:R8-OUTSIDE"},
	{readers.Standard1994, "User-agent: *\n\nDisallow: /b\n", "1:S1-EMPTY-GROUP 3:S1-OUTSIDE"},
	{readers.RFC9309, "User-agent: *\n# c\n\nUser-agent: a\nUser-agent: b\n\nDisallow: /\n",
		"1:R9-SWALLOWED"},
	{readers.RFC9309, "User-agent: *\nCrawl-delay: 5\n\nUser-agent: a\nDisallow: /\n",
		"1:R9-SWALLOWED"},
	{readers.RFC9309, "User-agent: *\nSitemap: s\nUser-agent: a\nDisallow: /\nSitemap:\nSitemap: ftp://h/s\nSitemap: HTTPS://h/s\n", "2:SITEMAP 5:SITEMAP 6:SITEMAP"},
	{readers.Gopher, "User-agent: *\nUser-agent: a\nDisallow: /\n", ""},
	{readers.RFC9309, "User-agent: GPTBot, ClaudeBot\nDisallow: /\n", "1:R3-AGENT"},
	{readers.RFC9309, "User-agent: *\nAllow: /\nDisallow: *\n\nUser-agent: a\nAllow: /\nDisallow: /*\n\nUser-agent: b\nAllow: /\nDisallow: /\n", "3:R5-NEVER 6:R5-NEVER 11:R5-NEVER"},
	{readers.RFC9309, "User-agent: *\nDisallow: /a /b\nDisallow: /c d\nCrawl-delay: 86400\nCrawl-delay: 86399\n", "2:R2-BLANK 3:R2-BLANK 4:VALUE"},
	{readers.RFC9309, "<!DOCTYPE html>\n<html><style>\na:hover { color: red }\nsitemap: x\n</style>\n<p>Disallow: /a\n", "0:G1-ABSENT"},
	{readers.RFC9309, strings.Repeat("hello: there\nworld\n", 50), "0:G1-ABSENT"},
	{readers.RFC9309, strings.Repeat("<p>hello: there\nworld\n", 1500) +
		"Sitemap: https://h/s.xml\n", "1:G1-ABSENT"},
	{readers.RFC9309, "User-agent: *\n" + strings.Repeat("hello there\n", 300),
		"1:R1-EMPTY-GROUP 2:G1-ABSENT"},
	{readers.RFC9309, "\x1f\x8b\x08hello\nworld\n", "0:R10-BYTES"},
	{readers.RFC9309, "U\x00s\x00e\x00r\x00\n\x00", "0:R10-BYTES"},
	{readers.RFC9309, strings.Repeat("hello world\n", largeFile/10), "0:G1-ABSENT"},
	{readers.RFC9309, "Sitemap: https://h/s.xml\n", ""},
	{readers.RFC9309, "User-agent: a\nDisallow: /\n\nUser-agent: A\nDisallow: /b\nUser-agent: c\n",
		"4:R3-DUPLICATE 6:R1-EMPTY-GROUP"},
	{readers.Standard1994, "User-agent: a\nDisallow: /\n\nUser-agent: a\nDisallow: /b\n",
		"4:S3-DUPLICATE"},
	{readers.Extended, "User-agent: chives\nDisallow: /\n\nUser-agent: newchives\nDisallow: /b\n",
		"4:S3-UNREACHED"},
	{readers.Standard1994, "User-agent: newchives\nDisallow: /b\n\nUser-agent: chives\nDisallow: /\n", ""},
	{readers.RFC9309, "User-agent: a\nDisallow: /x/.*\nDisallow: /index.*\nAgentmap: https://h/a\nSchemamap: https://h/s\n", "2:R7-MEANT 3:R7-MEANT"},
	{readers.RFC9309, "User-agent: *\nDisallow:\u00a0/a\n\u00a0Disallow: /b\n",
		"2:R2-BLANK 2:R5-NEVER 3:R2-BLANK 3:R2-MISSPELT-FIELD"},
	{readers.Gemini, "User-agent: a\nDisallow: /x*y\n", "2:S4-WILDCARD"},
	{readers.RFC9309, "User-agent: archiver\nUser-agent: Train-AI\nDisallow: /a\n\nUser-agent: ai-input\nDisallow: /b\nAllow: /b/c\n\nUser-agent: use\nUser-agent: bots\nUser-agent: all\nDisallow: /\n", "2:PURPOSE 5:PURPOSE"},
	{readers.Gemini, "User-agent: *\nDisallow: /\n\nUser-agent: indexer\nDisallow:\n\nUser-agent: mybot\nUser-agent: search\nAllow: /\n", "4:PURPOSE 8:PURPOSE 9:G10-IGNORED"},
	{readers.Standard1994, "User-agent: indexer\nUser-agent: train-ai\nDisallow:\n", ""},
	{readers.RFC9309, "User-agent: a\nDisallow: /a\nDisallow: /a\nAllow: /a\nDisallow:\n",
		"2:R5-NEVER 3:R5-DUPLICATE 5:S5-EMPTY"},
	{readers.RFC9309, "User-agent: a\nDisallow: /a\nDisallow: /b c/\nDisallow: a\nDisallow: b%20c/\n", "3:R2-BLANK"}, // as gophd writes it
	{readers.RFC9309, "User-agent: a\nAllow: /a\nDisallow: a\nUser-agent: b\nDisallow: /c\n\nDisallow: c\n", "3:R5-NEVER"},
	{readers.RFC9309, "User-agent: a\nDisallow: /a$\nDisallow: /a\nAllow: /a\nDisallow: /b\nDisallow: /b\nAllow: /b\n", "3:R5-NEVER 5:R5-NEVER 6:R5-DUPLICATE"},
	{readers.RFC9309, "User-agent: a b\nUser-agent: c d\nUser-agent: a\nDisallow: /\n", "2:R3-AGENT"},
	{readers.RFC9309, "User-agent: a b\nUser-agent: a c\nDisallow: /\nUser-agent: a\nDisallow: /\n",
		"1:R3-AGENT 2:R3-AGENT 2:R3-DUPLICATE 4:R3-DUPLICATE"},
	{readers.RFC9309, "User-agent: a\nDisallow: /é\nDisallow: /%C3%A9\nDisallow: /x y/\nDisallow: /x%20y/\n", "4:R2-BLANK"},
	{readers.RFC9309, "User-agent: a\nDisallow: /a~\nDisallow: /%61%7E\nDisallow: /robots.txt$\n",
		"3:R5-DUPLICATE 4:R5-NEVER"},
	{readers.Gopher, "User-agent: a\nDisallow: /a\nDisallow: /%61\n", ""},
	{readers.Extended, "User-agent: a\nRobot-version: 2.1\nDisallow: /a\nRobot-version: x\n",
		"1:C3-EXPERIMENTAL 4:C3-VALUE 4:C3-PLACE"},
	{readers.Gopher, "iHello\tfake\t(NULL)\t0\r\n", "0:G1-ABSENT"},
	{readers.RFC9309, "Useragent: a\nDisallow /x\nUser-agent: b\nDisallow: /100%\nDisallow: /a%4\n",
		"1:R2-MISSPELT-FIELD 2:R2-NO-COLON 4:R6-ESCAPE 5:R6-ESCAPE"},
	{readers.Gopher, "User-agent: a\nDisalow: /x\nDisallow: /100%\n", "2:R2-MISSPELT-FIELD"},
	{readers.RFC9309, "\xff\xfeD\x00i\x00s\x00:\x001\x00\n\x00", "0:G1-ABSENT"},
	{readers.RFC9309, "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y, search=n\nContent-Signal: search=yes, ai-train=no\nLicense: https://h/l.xml\n", ""},
	{readers.RFC9309, "User-agent: *\nAllow: /\nContent-Usage: a/b train-ai=n\nContent-Usage:\nContent-Usage: ai=n, bots=n, other=y, search=no\n", "3:U2-USAGE 4:U2-USAGE 5:U3-USAGE-KEY 5:U3-USAGE-KEY 5:U3-USAGE-KEY 5:U4-USAGE-VALUE"},
	{readers.RFC9309, "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y\nContent-Usage: /%61 search=n\n", "2:U1-USAGE-ALONE 3:U4-USAGE-FORGETS 4:U5-DUPLICATE 4:U4-USAGE-FORGETS"},
	{readers.RFC9309, "User-agent: *\nAllow: /\nContent-Signal: search=maybe, fun=yes\nLicense: here\n", "3:SIGNAL-VALUE 3:SIGNAL-KEY 4:LICENSE"},
}

// TestMeant: what is no pattern, and what it was meant to be.
func TestMeant(t *testing.T) {
	for pattern, want := range map[string]string{
		"/drafts/.*": "/drafts/", "/drafts.*": "/drafts", "/drafts/[a-z]*": "/drafts/",
		"/drafts/.+": "/drafts/", "^/drafts/": "/drafts/",
		"/(drafts|x)/": "/drafts/ /x/", "~/drafts/": "/drafts/", "/drafts/?": "/drafts/",
		"/drafts/$": "/drafts/", "^/a/.*$": "/a/", "/x/[ab]+": "/x/",
		"/drafts/": "", "/*.zip$": "", "/a*": "", "/$": "", "/a.b": "", "/~bob/": "",
		"/p/[slug]": "", "/a(b)": "", "/x?": "", ".*": "", "": "", "*": "",
	} {
		meant, why := Meant(pattern, true)
		if got := strings.Join(meant, " "); got != want || (why == "") != (want == "") {
			t.Errorf("%q: %q (%s), want %q", pattern, got, why, want)
		}
	}
	list := File(robots.Parse(readers.RFC9309, []byte("User-agent: *\nDisallow: /(drafts|x)/\n")))
	if len(list) != 1 || !strings.HasSuffix(list[0].Message, `did you mean "/drafts/" and "/x/"?`) {
		t.Error(list)
	}
	for _, pattern := range []string{"/search/?", "/a/$"} { // of the web, where they are usual
		if meant, _ := Meant(pattern, false); meant != nil {
			t.Errorf("%q: %q", pattern, meant)
		}
	}
}

// TestAnnotation: what means something in a .robots file alone, and how bad it is.
func TestAnnotation(t *testing.T) {
	for file, want := range map[string]string{
		"Disallow: x/\nFinal: /y\nDisallow: /z\nUser-agent: ChatGPT Agent\nDisallow: /\n":                "",
		"Disalow: /a\nDissallow /b\nDisallows: /c\nAlow: /d\nDisallow\n":                                 "1:R2-MISSPELT-FIELD:error 2:R2-NO-COLON:error 3:R2-MISSPELT-FIELD:error 4:R2-MISSPELT-FIELD:error 5:R2-NO-COLON:error",
		"Disallow: /d/.*\nFinal: /d/.*\nAllow: /d/?\n":                                                   "1:R7-MEANT:warning 2:R7-MEANT:warning 2:R5-DUPLICATE:warning 3:R7-MEANT:warning",
		"Disallow:\u00a0/a\nDisallow\u2003: /b\nAllow: /c\u00a0\n\ufeff\u00a0Final: /d\n":                "1:R2-BLANK:error 2:R2-BLANK:error 3:R2-BLANK:warning 4:R2-BLANK:error",
		"Disallow: /a%0Ab\nAllow: /a\tb\nDisallow: /a%2Fb\nFinal:\n":                                     "1:R5-NEVER:error 2:R5-NEVER:error 2:R2-BLANK:notice 3:R6-ESCAPE:notice",
		"User-agent: a, b, *x\nDisallow: /\nUser-agent: *y\nUser-agent:\nUser-agent: z/1\nDisallow: /\n": "1:R3-AGENT:notice 1:R3-AGENT:error 3:R3-AGENT:error 4:R3-AGENT:error 5:R3-AGENT:notice",
		"Foo: 1\nComment:\nCooldown: -1\nIndex: perhaps\nClean-param: x\nhello\n":                        "1:R9-UNKNOWN-FIELD:warning 2:VALUE:warning 3:I6-VALUE:warning 4:I3-VALUE:warning 6:R2-NO-COLON:warning",
		"Content-Usage: train-ai=maybe\nContent-Usage: train=n\nContent-Usage: /b ai=n\nContent-Usage: (((\nContent-Usage: /*.jpg search=n\nContent-Usage: /c search=y\u00a0\n": "" +
			"1:U4-USAGE-VALUE:warning 2:U3-USAGE-KEY:notice 2:U5-DUPLICATE:notice 3:U3-USAGE-KEY:notice 4:U2-USAGE:error 5:U2-USAGE:error 6:R2-BLANK:error",
		"User-agent: *\nCrawl-delay: 5\n\nUser-agent: a\nDisallow: /\n":      "1:R9-SWALLOWED:error",
		"User-agent: *\n\nUser-agent: a\nDisallow: /\n":                      "1:R9-SWALLOWED:error",
		"User-agent: *\nFinal: /y\nUser-agent: a\nDisallow: /\n":             "",
		"User-agent: *\nUser-agent: a\n\nDisallow: /\n":                      "",
		"User-agent: b\nComment: x\nUser-agent: a\nDisallow: /\n":            "1:R9-SWALLOWED:warning",
		"User-agent: *\nFinal:\n\nUser-agent: a\nDisallow: /\n":              "1:R9-SWALLOWED:error",
		"User-agent: a\nUser-agent: b\nContent-Usage: search=n\n":            "",
		"User-agent: a\nContent-Usage: /x search=n\nContent-Usage: ai-use=n": "",
		"Disallow: /x\nUser-agent: a\n":                                      "2:R1-EMPTY-GROUP:notice",
		"Content-Signal: sarch=yes, search=maybe\nDisallow: /robots.txt\n":   "1:SIGNAL-KEY:notice 1:SIGNAL-VALUE:warning",
	} {
		var got []string
		for _, d := range Annotation("/d/", []byte(file)) {
			got = append(got, fmt.Sprintf("%d:%s:%s", d.Line, d.Code, d.Severity))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q:\n got %s\nwant %s", file, strings.Join(got, " "), want)
		}
	}
}

func TestLint(t *testing.T) {
	for _, c := range lintCases {
		var got []string
		for _, d := range File(robots.Parse(c.dialect, []byte(c.file))) {
			got = append(got, fmt.Sprintf("%d:%s", d.Line, d.Code))
			if d.Message == "" || selector.HasControl(d.Message) {
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
	severity := func(f *robots.File) diag.Severity {
		for _, d := range File(f) {
			if d.Code == "R14-SIZE" {
				return d.Severity
			}
		}
		return ""
	}
	for size, want := range map[int]diag.Severity{largeFile: "", largeFile + 1: diag.Notice,
		tooBigFile + 1: diag.Warning} {
		file := append([]byte("Disallow: /a\n"), strings.Repeat("\n", size-13)...)
		if got := severity(robots.Parse(readers.Gopher, file)); got != want {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
	f, err := robots.ParseReader(readers.Gopher,
		strings.NewReader("Disallow: /a\nDisallow: /b\n"), 20)
	if err != nil || severity(f) != diag.Warning {
		t.Errorf("a cut file: %v, %v", File(f), err)
	}
}

// TestLintIsBounded: the diagnostics of a file that was made to have many.
func TestLintIsBounded(t *testing.T) {
	found := File(robots.Parse(readers.RFC9309,
		[]byte("User-agent: *\nDisallow: /\n"+strings.Repeat("x\n", 100_000))))
	if len(found) != diag.MaxFound+1 || !strings.Contains(found[1].String(), ": 99001 more") {
		t.Errorf("%d diagnostics, the second %v", len(found), found[1])
	}
}

// TestCodesAreDocumented: the package documentation lists each kind, and each
// requirement stands in the list of requirements.
func TestCodesAreDocumented(t *testing.T) {
	src := ""
	for _, name := range []string{"lint.go", "annotation.go", "group.go", "line.go", "usage.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src += string(text)
	}
	list, err := os.ReadFile("../../doc/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(src, "package lint")
	codes := regexp.MustCompile(`"(?:([A-Z]\d+)-)?([A-Z]+(?:-[A-Z]+)*)"`).FindAllStringSubmatch(src, -1)
	if len(codes) < 30 {
		t.Fatalf("only %d codes in the source", len(codes))
	}
	for _, m := range codes {
		if !regexp.MustCompile(`\b` + m[2] + `\b[,.;]`).MatchString(doc) {
			t.Errorf("the kind %s is not documented", m[2])
		}
		if m[1] != "" && !strings.Contains(string(list), "\n| "+m[1]+" |") {
			t.Errorf("there is no requirement %s", m[1])
		}
	}
}

// FuzzFile: a diagnostic has a line of the file, in order, and no byte of it raw.
func FuzzFile(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\n"))
	f.Add([]byte("\ufeffDisallow: /\r\nAllow: %41\rx\x1b"))
	f.Add([]byte("User-agent: foo\nRobot-version: 2.1\nDisalow: *.gif\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range readers.Dialects() {
			file, lines, last := robots.Parse(d, data), 0, 0
			for range file.Lines() {
				lines++
			}
			for _, g := range File(file) {
				if g.Line < last || g.Line > lines || g.Code == "" ||
					selector.HasControl(g.Message) {
					t.Fatalf("%s: %q: %+v", d, data, g)
				}
				last = g.Line
			}
		}
	})
}

func ExampleFile() {
	f := robots.Parse(readers.RFC9309, []byte(`User-agent: *
Crawl-delay: 10
User-agent: bigbot
Disalow: /tmp/
Disallow: private/
`))
	for _, d := range File(f) {
		d.File = "robots.txt"
		fmt.Println(d)
	}
	// Output:
	// robots.txt:1: warning: the group of "*" has no rules, so it joins "bigbot" in line 3 (R9-SWALLOWED)
	// robots.txt:4: error: Google and gophd read "Disalow" as Disallow, others do not (R2-MISSPELT-FIELD)
	// robots.txt:5: warning: the pattern "private/" can match nothing: paths begin with a slash (R5-NEVER)
}
