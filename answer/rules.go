package answer

import (
	"net/url"
	"strings"

	"github.com/gophd/gophd/site"
)

// A Rule is an Allow or Disallow line of robots.txt for robots that no annotation names.
type Rule struct {
	Line string

	// Prefix begins the names that the rule can match: "phlog/drafts/".
	Prefix string
}

// Rules returns the rules of a snapshot. Two snapshots that differ in some rules decide
// alike about all names that begin with none of their prefixes.
func Rules(snap *site.Snapshot) map[Rule]bool {
	rules := map[Rule]bool{}
	all, header := false, false // the group is for all robots; its head has not ended
	for line := range strings.Lines(string(snap.Robots)) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "User-agent":
			all = all && header || value == "*"
			header = true
		case "Allow", "Disallow":
			header = false
			if all {
				rules[Rule{line, literal(value)}] = true
			}
		}
	}
	return rules
}

// literal is the part of a pattern before its first wildcard, as a name.
func literal(pattern string) string {
	if i := strings.IndexAny(pattern, "*$"); i >= 0 {
		pattern = pattern[:i]
	}
	name, err := url.PathUnescape(strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return ""
	}
	return name
}
