package prooftest

import (
	"slices"
	"strings"
)

// Usages are the dictionaries that drawn Content-Usage lines hold, and what each
// states: a value that is neither y nor n states nothing (""), and what is no
// dictionary is no rule (nil).
var Usages = map[string]map[string]string{
	"train-ai=y":               {"train-ai": "y"},
	"train-ai=n":               {"train-ai": "n"},
	"search=y":                 {"search": "y"},
	"search=n":                 {"search": "n"},
	"train-ai=n, search=y":     {"train-ai": "n", "search": "y"},
	"train-ai=y, search=y":     {"train-ai": "y", "search": "y"},
	"search=n, train-ai=y":     {"train-ai": "y", "search": "n"},
	"train-ai=y;x=1":           {"train-ai": "y"},
	"train-ai=n;x=\"a,b\"":     {"train-ai": "n"},
	"train-ai=no":              {"train-ai": ""},
	"train-ai=y, search=(a b)": {"train-ai": "y", "search": ""},
	"train-ai=n, (((":          nil,
}

// Preferences returns what the annotations on the way prefer for each use of a
// canonical selector, by a robot that is "*" or a name in lower case. The line with
// the longest path decides alone; where several have that path, each use has the
// value that permits least: n, then y.
func Preferences(path []*Dir, robot, sel string) map[string]string {
	uri, most := Escape(sel), -1
	said := map[string]string{}
	base := "/"
	for depth, d := range path {
		if depth > 0 {
			base += d.Name + "/"
		}
		for _, u := range readUsages(d.Text, robot) {
			pattern := Escape(base[:len(base)-1]) + uriForm(u.path, true)
			if !match(pattern, uri) || len(pattern) < most {
				continue
			}
			if len(pattern) > most {
				most = len(pattern)
				clear(said)
			}
			for key, value := range u.states {
				if old, ok := said[key]; !ok || value == "n" || old == "" {
					said[key] = value
				}
			}
		}
	}
	return said
}

type usage struct {
	path   string
	states map[string]string
}

// readUsages returns the preferences of an annotation for a robot: its own if it has
// any, else those for all.
func readUsages(text, robot string) (list []usage) {
	var own []usage
	names, ended := []string{"*"}, true
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "User-agent":
			if ended {
				names, ended = nil, false
			}
			names = append(names, agents(value)...)
		case "Allow", "Disallow", "Final":
			ended = true
		case "Content-Usage":
			ended = true
			u := usage{path: "/"}
			if strings.HasPrefix(value, "/") {
				u.path, value, _ = strings.Cut(value, " ")
			}
			if u.states = Usages[value]; u.states == nil {
				continue
			}
			if slices.Contains(names, "*") {
				list = append(list, u)
			}
			if slices.Contains(names, robot) {
				own = append(own, u)
			}
		}
	}
	if len(own) > 0 {
		return own
	}
	return list
}
