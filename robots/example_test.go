package robots_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/gophd/gophd/robots"
)

func Example() {
	body := strings.NewReader("User-agent: *\nDisallow: /phlog/drafts/\n")
	f, err := robots.ParseReader(robots.Gopher, body, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Allowed("mybot", "/phlog/"), f.Allowed("mybot", "/phlog/drafts/"))
	// Output: true false
}

func ExampleParse_gopher() {
	f := robots.Parse(robots.Gopher, []byte("Disallow: */secret\nDisallow: /price$\n"))
	fmt.Println(f.Allowed("mybot", "/a/b/secret.txt"), f.Allowed("mybot", "/price"))
	// Output: false true
}

func ExampleParse_gopherStrict() {
	text := []byte("User-agent: otherbot\nDisallow: /x\n")
	for _, d := range []robots.Dialect{robots.Gopher, robots.GopherStrict} {
		fmt.Println(d, robots.Parse(d, text).Allowed("mybot", "/x"))
	}
	// Output:
	// gopher true
	// gopher-strict false
}

func ExampleParse_veronica2() {
	f := robots.Parse(robots.Veronica2, []byte("User-agent: *\nDisallow: /path/\n"))
	fmt.Println(f.Allowed("veronica", "/path"), f.Allowed("veronica", "/pathology"))
	// Output: false true
}

func ExampleParse_rfc9309() {
	f := robots.Parse(robots.RFC9309, []byte("User-agent: *\nDisallow: /\nAllow: /caf%C3%A9/*.html$\n"))
	fmt.Println(f.Allowed("mybot", "https://example.org/café/menu.html"), f.Allowed("mybot", "/café/menu.html?all"))
	// Output: true false
}

func ExampleParse_standard1994() {
	f := robots.Parse(robots.Standard1994, []byte("User-agent: *\nDisallow: /help\n\nUser-agent: cybermapper\nDisallow:\n"))
	fmt.Println(f.Allowed("mybot", "/help.html"), f.Allowed("CyberMapper/2.1", "/help.html"))
	// Output: false true
}

func ExampleParse_extended() {
	f := robots.Parse(robots.Extended, []byte("User-agent: alfred\nRobot-version: 2.0\nAllow: *index.html\nDisallow: *\n"))
	fmt.Println(f.Allowed("alfred", "/a/index.html"), f.Allowed("alfred", "/a/index.htm"))
	// Output: true false
}

func ExampleParse_ircv3() {
	f := robots.Parse(robots.IRCv3, []byte("CRAWLER=index:deny,cooldown:31536000"))
	fmt.Println(f.Allowed("mybot", ""))
	// Output: false
}

func ExampleFile_Decide() {
	f := robots.Parse(robots.RFC9309, []byte(`User-agent: *
Disallow: /archive/
Allow: /archive/%7Eann/
`))
	d := f.Decide("mybot", "/archive/~ann/cat.gif")
	fmt.Println("allowed:", d.Allowed)
	fmt.Printf("line %d: %q, compared as %q\n", d.Rule.Line, d.Rule.Pattern, d.Pattern)
	fmt.Printf("it overrules line %d: %q\n", d.RunnerUp.Line, d.RunnerUp.Pattern)
	fmt.Println("because of", d.Reason)
	// Output:
	// allowed: true
	// line 3: "/archive/%7Eann/", compared as "/archive/~ann/"
	// it overrules line 2: "/archive/"
	// because of the * group, for robots that no group names
}

func ExampleFile_Lint() {
	f := robots.Parse(robots.RFC9309, []byte(`User-agent: *
Crawl-delay: 10
User-agent: bigbot
Disalow: /tmp/
Disallow: private/
`))
	for _, d := range f.Lint() {
		fmt.Printf("robots.txt:%d: %s (%s)\n", d.Line, d.Message, d.ID)
	}
	// Output:
	// robots.txt:1: the group of "*" has no rules, so it joins that of "bigbot" in line 3 (R9)
	// robots.txt:4: unknown field "Disalow": did you mean Disallow? (R2)
	// robots.txt:5: the pattern "private/" can match nothing (R5)
}

func ExampleConvert() {
	f := robots.Parse(robots.RFC9309, []byte("User-agent: *\nDisallow: /a b/\nAllow: /a b/c\n"))
	out, lost := robots.Convert(f, robots.Gopher)
	_, _ = os.Stdout.Write(out)
	for _, d := range lost {
		fmt.Printf("line %d: %s\n", d.Line, d.Message)
	}
	// Output:
	// User-agent: *
	// Disallow: /a b/
	// line 3: Allow: "/a b/c" cannot be said
}

func ExampleReaders() {
	file := []byte("User-agent: *\nDisallow: /a*c\nAllow: /abc\n")
	for _, r := range robots.Readers() {
		allowed := r.Read(file, "mybot")
		fmt.Println(r.Name, allowed("/abc"))
	}
	// Output:
	// gopher-strict false
	// veronica2 false
	// rfc9309 true
	// 1994 true
	// first-match false
	// gemini true
}
