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
		{true, "/x", "x"}:                      true,
		{false, "/y/z/*.bak$", "y/z/"}:         true,
		{false, "/gr%C3%B6%C3%9Fe/", "größe/"}: true,
		{true, "/*.txt$", ""}:                  true,
		{false, "/%zz", ""}:                    true,
	}
	if got := answer.Rules(&site.Snapshot{Robots: []byte(file)}); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
