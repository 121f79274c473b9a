package client

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// A Preference is what a site states about one kind of use of a page.
type Preference struct {
	Key    string // of Content-Usage, such as search; or use, which only Content-Signal has
	Value  string // y or n; of use: immediate, reference or full
	Origin string // who states it: "robots.txt:4: Content-Usage", or "X-Robots-Tag" of the response
}

// Preferences returns what the host's file and the header of a page's response state about
// the use of that page, sorted by key: Content-Usage and Content-Signal lines of the file,
// and the fields Content-Usage, X-Robots-Tag and Robots-Tag of the response, which may be
// nil. Of several statements about a key it returns the most restrictive, or else the
// first. It returns nil if the robot must not fetch the page.
func (a *HostRules) Preferences(rawURL string, header http.Header) []Preference {
	if !a.Allowed(rawURL) {
		return nil
	}
	var list []Preference
	add := func(key, value, origin string) {
		rank := slices.Index(strictness, value)
		i := slices.IndexFunc(list, func(o Preference) bool { return o.Key == key })
		switch {
		case rank < 0: // it states nothing
		case i < 0:
			list = append(list, Preference{key, value, origin})
		case rank > slices.Index(strictness, list[i].Value):
			list[i] = Preference{key, value, origin}
		}
	}

	// What the file states.
	for _, s := range a.Usage(rawURL) {
		add(s.Key, s.Preference.String(), fmt.Sprintf("robots.txt:%d: Content-Usage", s.Line))
	}
	for _, f := range a.rules.Fields() {
		if f.Name != "content-signal" {
			continue
		}
		origin := fmt.Sprintf("robots.txt:%d: Content-Signal", f.Line)
		for _, s := range readers.ParseSignals(f.Value) {
			switch {
			case !s.IsValid():
			case s.Category.Key == "":
				add(s.Key, s.Value, origin)
			default:
				add(s.Category.Key, s.Value[:1], origin)
			}
		}
	}

	// What the response states.
	for _, value := range header.Values("Content-Usage") {
		stated, _ := robots.ParseUsage(value)
		for _, s := range stated {
			add(s.Key, s.Preference.String(), "Content-Usage")
		}
	}
	for _, field := range []string{"X-Robots-Tag", "Robots-Tag"} {
		for _, value := range header.Values(field) {
			isOurs := true
			for directive := range strings.SplitSeq(strings.ToLower(value), ",") {
				name, rest, found := strings.Cut(directive, ":")
				name = strings.TrimSpace(name)
				if found && readers.ProductToken(name) == name && !slices.Contains(valued, name) {
					isOurs = slices.ContainsFunc(a.robot.Names, func(own string) bool {
						return strings.EqualFold(own, name)
					})
					directive = rest
				}
				switch directive = strings.TrimSpace(directive); {
				case !isOurs:
				case directive == "noindex", directive == "none":
					add("search", "n", field)
				case directive == "noai":
					add("train-ai", "n", field)
					add("ai-use", "n", field)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Preference) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// strictness orders the values of preferences, the most restrictive last.
var strictness = []string{"full", "reference", "immediate", "y", "n"}

// valued lists the directives of an X-Robots-Tag that have a value. Any other word before a
// colon is the name of a robot, to which the directives are addressed from there on.
var valued = []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
