package robots_test

import (
	"fmt"
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

// The program of google/robotstxt's README: is a robot allowed to fetch a URL?
func ExampleFile_Allowed() {
	body := []byte("user-agent: Googlebot\nallow: /x/page.html\ndisallow: /x/\n")
	for _, url := range []string{"https://example.com/x/page.html", "https://example.com/x/"} {
		if robots.Parse(robots.RFC9309, body).Allowed("Googlebot", url) {
			fmt.Printf("user-agent 'Googlebot' with URI '%s': ALLOWED\n", url)
		} else {
			fmt.Printf("user-agent 'Googlebot' with URI '%s': DISALLOWED\n", url)
		}
	}
	// Output:
	// user-agent 'Googlebot' with URI 'https://example.com/x/page.html': ALLOWED
	// user-agent 'Googlebot' with URI 'https://example.com/x/': DISALLOWED
}

// A site that keeps training robots out, and search in.
func ExampleFile_Usage() {
	f := robots.Parse(robots.RFC9309,
		[]byte("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y, search=y\nAllow: /\n"))
	for _, p := range f.Usage("mybot", "/phlog/poem.txt") {
		fmt.Printf("%s=%s, says line %d\n", p.Key, p.Preference, p.Line)
	}
	fmt.Println(f.Usage("mybot", "/free/song.txt"))
	fmt.Println(f.Usage("mybot", "/phlog/").Of("search"))
	// Output:
	// train-ai=n, says line 2
	// search=y, train-ai=y
	// unstated
}

func ExampleParse_gopher() {
	f := robots.Parse(robots.Gopher, []byte("Disallow: */secret\nDisallow: /price$\n"))
	fmt.Println(f.Allowed("mybot", "/a/b/secret.txt"), f.Allowed("mybot", "/price"))
	// Output: false true
}

func ExampleParse_rfc9309() {
	f := robots.Parse(robots.RFC9309,
		[]byte("User-agent: *\nDisallow: /\nAllow: /caf%C3%A9/*.html$\n"))
	fmt.Println(f.Allowed("mybot", "https://example.org/café/menu.html"),
		f.Allowed("mybot", "/café/menu.html?all"))
	// Output: true false
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
