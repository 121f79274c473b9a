package robots

import (
	"slices"
	"strings"
)

// knownFields are the fields besides the three that make groups and rules, and
// where each comes from.
var knownFields = []string{
	"sitemap", "crawl-delay", // extras that many files carry
	"robot-version", "visit-time", "request-rate", "comment", // Extended
	"index", "cooldown", // gophd's own, after the IRC token
}

func isKnown(field string) bool {
	return slices.ContainsFunc(knownFields, func(known string) bool {
		return strings.EqualFold(known, field)
	})
}

// version is the meaning that Robot-version gives to a group (C3).
type version uint8

const (
	version1     version = iota // 1.0, or not said, or not understood
	version2                    // 2.0, or a later stable one
	experimental                // an odd minor number: the group is ignored
)

// parseVersion reads M.N or M.N.R; only the first two numbers count.
func parseVersion(value string) version {
	major, minor, ok := cutVersion(value)
	switch {
	case !ok:
		return version1
	case (minor[len(minor)-1]-'0')%2 == 1:
		return experimental
	case major == "2":
		return version2
	}
	return version1
}

func cutVersion(value string) (major, minor string, ok bool) {
	word, _, _ := strings.Cut(value, " ")
	major, rest, _ := strings.Cut(word, ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor, (major == "1" || major == "2") && digits(minor)
}
