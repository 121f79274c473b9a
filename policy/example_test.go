package policy_test

import (
	"fmt"

	"github.com/gophd/gophd/policy"
)

func Example() {
	drafts := &policy.Dir{
		Name:  "drafts",
		Files: []string{"about.txt", "novel.txt"},
		Notes: []*policy.Annotation{{
			File: "drafts/.robots",
			Data: []byte("User-agent: *\nDisallow: /\nAllow: /about.txt\n"),
		}},
	}
	root := &policy.Dir{Files: []string{"index.txt"}, Dirs: []*policy.Dir{drafts}}
	c := policy.Compile(policy.Input{Root: root}, nil)
	fmt.Printf("%s\n", c.File())
	for _, r := range c.Reports() {
		fmt.Println(r.Diagnostic)
	}
	leaks := 0
	for _, row := range c.Proof() {
		leaks += row.Leaks
	}
	fmt.Println("leaks:", leaks)
	// Output:
	// # robots.txt made by gophd; "gophd robots explain" tells why
	// User-agent: *
	// Allow: /drafts/about.txt
	// Disallow: /drafts/
	// Allow: drafts/about.txt
	// Disallow: drafts/
	//
	// drafts/.robots:3: notice: not every reader can be told what it allows (OVER-BLOCK)
	// leaks: 0
}

func ExampleCompiled_Explain() {
	root := &policy.Dir{
		Files: []string{"a.txt"},
		Notes: []*policy.Annotation{{File: ".robots", Data: []byte("Disallow: /\nAllow: /a.txt\n")}},
	}
	c := policy.Compile(policy.Input{Root: root}, nil)
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
