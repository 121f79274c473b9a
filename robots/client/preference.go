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
	p := stating{}
	for _, s := range a.Usage(rawURL) {
		p.add(s.Key, s.Preference.String(), place(s.Line, "Content-Usage"))
	}
	for _, f := range a.rules.Fields() {
		if f.Name == "content-signal" {
			p.signal(f.Value, place(f.Line, "Content-Signal"))
		}
	}
	for _, value := range header.Values("Content-Usage") {
		said, _ := robots.ParseUsage(value)
		for _, s := range said {
			p.add(s.Key, s.Preference.String(), "Content-Usage")
		}
	}
	for _, field := range []string{"X-Robots-Tag", "Robots-Tag"} {
		for _, value := range header.Values(field) {
			p.tag(value, a.robot.Names, field)
		}
	}
	slices.SortFunc(p.list, func(a, b Preference) int { return strings.Compare(a.Key, b.Key) })
	return p.list
}

func place(line int, field string) string { return fmt.Sprintf("robots.txt:%d: %s", line, field) }

// stating collects preferences.
type stating struct{ list []Preference }

// strictness orders the values of preferences, the most restrictive last.
var strictness = []string{"full", "reference", "immediate", "y", "n"}

// add takes a statement. What states nothing, and values that are unknown, are left out.
func (p *stating) add(key, value, origin string) {
	rank := slices.Index(strictness, value)
	if key == "" || rank < 0 {
		return
	}
	i := slices.IndexFunc(p.list, func(o Preference) bool { return o.Key == key })
	switch {
	case i < 0:
		p.list = append(p.list, Preference{key, value, origin})
	case rank > slices.Index(strictness, p.list[i].Value):
		p.list[i] = Preference{key, value, origin}
	}
}

// signal takes the value of a Content-Signal line: search=yes, ai-train=no, use=reference.
func (p *stating) signal(text, origin string) {
	for pair := range strings.SplitSeq(strings.ToLower(text), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value = strings.TrimSpace(value)
		c, known := robots.CategoryOfSignal(strings.TrimSpace(name))
		switch {
		case !known || !c.IsValue(value):
		case c.Key == "":
			p.add(c.Signal, value, origin)
		default:
			p.add(c.Key, value[:1], origin)
		}
	}
}

// tag takes the value of an X-Robots-Tag: directives, behind the name of a robot if they are
// for that one alone.
func (p *stating) tag(text string, names []string, origin string) {
	if name, rest, found := strings.Cut(text, ":"); found && readers.ProductToken(name) == strings.TrimSpace(name) {
		if !slices.ContainsFunc(names, func(own string) bool { return strings.EqualFold(own, strings.TrimSpace(name)) }) {
			return
		}
		text = rest
	}
	for directive := range strings.SplitSeq(strings.ToLower(text), ",") {
		switch strings.TrimSpace(directive) {
		case "noindex", "none":
			p.add("search", "n", origin)
		case "noai":
			p.add("train-ai", "n", origin)
			p.add("ai-use", "n", origin)
		}
	}
}
