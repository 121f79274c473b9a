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
	c := policy.Compile(&policy.Dir{Files: []string{"index.txt"}, Dirs: []*policy.Dir{drafts}}, nil)
	fmt.Printf("%s\n", c.File())
	for _, r := range c.Reports() {
		fmt.Printf("%s:%d: %s %s\n", r.File, r.Line, r.Code, r.Selector)
	}
	for _, row := range c.Proof()[:3] {
		fmt.Printf("%s: %d selectors, %d leaks\n", row.Name, row.Selectors, row.Leaks)
	}
	fmt.Println("unnamed leaks:", len(c.Unproven()))
	// Output:
	// User-agent: *
	// Allow: /drafts/about.txt$
	// Allow: drafts/about.txt$
	// Disallow: /drafts/novel.txt
	// Disallow: drafts/novel.txt
	// Disallow: /drafts/*$
	// Disallow: drafts/*$
	//
	// drafts/.robots:2: LISTING-EXPOSED /drafts/
	// drafts/.robots:2: NEW-FILES /drafts/
	// gopher-strict: 10 selectors, 2 leaks
	// veronica2: 10 selectors, 2 leaks
	// rfc9309: 10 selectors, 0 leaks
	// unnamed leaks: 0
}

func ExampleCompiled_Explain() {
	root := &policy.Dir{
		Files: []string{"a.txt"},
		Notes: []*policy.Annotation{{File: ".robots", Data: []byte("Disallow: /\nAllow: /a.txt\n")}},
	}
	e := policy.Compile(root, nil).Explain("*", "a.txt", false)
	fmt.Println(e.Selector, e.Allowed)
	fmt.Printf("by %s:%d, which overrules line %d\n", e.By.File, e.By.Line, e.Overrules.Line)
	fmt.Println(e.Text)
	// Output:
	// /a.txt true
	// by .robots:2, which overrules line 1
	// Allow: /a.txt$
}
