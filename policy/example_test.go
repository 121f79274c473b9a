package policy_test

import (
	"fmt"

	"github.com/gophd/gophd/policy"
)

func Example() {
	c := policy.Compile(policy.Input{Annotations: []policy.Annotation{{
		Dir:  "/~bob/",
		File: "~bob/.robots",
		Data: []byte("Disallow: /drafts/\nAllow: /drafts/about.txt\nDisallow: /*.zip$\n"),
	}}})
	fmt.Printf("%s\n", c.File())
	for _, r := range c.Reports() {
		fmt.Println(r.Diagnostic, r.Readers)
	}
	// Output:
	// # robots.txt made by gophd; "gophd robots explain" tells why
	// User-agent: *
	// Disallow: /~bob/*.zip$
	// Allow: /~bob/drafts/about.txt
	// Disallow: /~bob/drafts/
	//
	// User-agent: veronica
	// Disallow: /~bob/*.zip
	// Disallow: /~bob/drafts/
	//
	// ~bob/.robots:3: warning: not every reader knows * (GLOB) [1994 first-match first-match-3.14 first-match-3.14-raw gemini]
	// ~bob/.robots:2: notice: some readers cannot understand what it allows (OVER-BLOCK) [1994 gemini gopher-mcp gopher-strict veronica2]
	// ~bob/.robots:3: notice: some readers take it to deny more (OVER-BLOCK) [gopher-strict veronica2]
}

func ExampleCompiled_Explain() {
	c := policy.Compile(policy.Input{Annotations: []policy.Annotation{{
		Dir: "/", File: ".robots", Data: []byte("Disallow: /\nAllow: /a.txt\n"),
	}}})
	e := c.Explain("*", "a.txt", false)
	fmt.Println(e.Selector, e.Allowed)
	fmt.Printf("by %s:%d, which overrules line %d\n", e.By.File, e.By.Line, e.Overrules.Line)
	fmt.Println(e.Text)
	fmt.Println(c.Explain("*", "to/come.txt", false).Allowed)
	// Output:
	// /a.txt true
	// by .robots:2, which overrules line 1
	// Allow: /a.txt
	// false
}
