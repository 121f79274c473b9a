package lint

import (
	"regexp"
	"strconv"
	"strings"
)

// Patterns are no regular expressions, no globs of a shell, and know no home directory.
var (
	alternatives = regexp.MustCompile(`\(([^()|]+(?:\|[^()|]+)+)\)`)
	class        = regexp.MustCompile(`\[(?:[^\]/]*-[^\]/]*\][*+]?|[^\]/]+\][*+])$`)
)

// Meant returns the patterns that an author probably meant by one, and why it differs from
// them; none if the pattern does what it seems to do. In a file for Gopher a "?" begins no query, and
// the rule for a directory applies to everything below it.
func Meant(pattern string, gopher bool) (meant []string, why string) {
	p := pattern
	switch {
	case strings.HasPrefix(p, "^"):
		p, why = p[1:], "^ is an ordinary byte"
	case strings.HasPrefix(p, "~/"):
		p, why = p[1:], "~ is an ordinary byte"
	}
	if found := alternatives.FindStringSubmatchIndex(p); strings.Contains(p, "(") && found != nil {
		for word := range strings.SplitSeq(p[found[2]:found[3]], "|") {
			meant = append(meant, p[:found[0]]+word+p[found[1]:])
		}
		return meant, "( | ) are ordinary bytes"
	}

	body, whole := strings.CutSuffix(p, "$")
	switch {
	case strings.HasSuffix(body, ".*"):
		p = body[:len(body)-2]
		why = "the dot is an ordinary byte, so only names with a dot there match"
	case strings.HasSuffix(body, ".+"):
		p, why = body[:len(body)-2], "a dot and a plus sign are ordinary bytes"
	case class.MatchString(body):
		p = body[:class.FindStringIndex(body)[0]]
		why = "[ and ] are ordinary bytes"
	case gopher && strings.HasSuffix(p, "/?"):
		p, why = p[:len(p)-1], "? is an ordinary byte"
	case gopher && whole && len(body) > 1 && strings.HasSuffix(body, "/"):
		p = body
		why = "$ ends the selector, so only the menu itself matches, and nothing below it"
	}
	if p == pattern || p == "" {
		return nil, ""
	}
	return []string{p}, why
}

func quoted(list []string) string {
	var all []string
	for _, s := range list {
		all = append(all, strconv.Quote(s))
	}
	return strings.Join(all, " and ")
}
