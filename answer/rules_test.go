package answer_test

import (
	"maps"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/site"
)

// TestRules: the rules of a file for all robots, and the names that each can match.
func TestRules(t *testing.T) {
	const file = "User-agent: a\nUser-agent: *\nAllow: /x\nDisallow: /y/z/*.bak$\n\n" +
		"User-agent: b\nDisallow: /no\n\nUser-agent: *\nDisallow: /gr%C3%B6%C3%9Fe/\nAllow: /*.txt$\nDisallow: /%zz\n"
	want := map[answer.Rule]bool{
		{"Allow: /x", "x"}:                        true,
		{"Disallow: /y/z/*.bak$", "y/z/"}:         true,
		{"Disallow: /gr%C3%B6%C3%9Fe/", "größe/"}: true,
		{"Allow: /*.txt$", ""}:                    true,
		{"Disallow: /%zz", ""}:                    true,
	}
	if got := answer.Rules(&site.Snapshot{Robots: []byte(file)}); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
