package prooftest

import "strings"

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
func Preferences(way []*Dir, robot, sel string) map[string]string {
	uri, most := Escape(sel), -1
	said := map[string]string{}
	base := "/"
	for depth, d := range way {
		if depth > 0 {
			base += d.Name + "/"
		}
		list, _ := linesFor(d.Text, robot, func(field, value string) bool {
			_, states := cutUsage(value)
			return field == "Content-Usage" && states != nil
		})
		for _, l := range list {
			path, states := cutUsage(l.value)
			pattern := Escape(base[:len(base)-1]) + uriForm(path, true)
			if !Match(pattern, uri) || len(pattern) < most {
				continue
			}
			if len(pattern) > most {
				most = len(pattern)
				clear(said)
			}
			for key, value := range states {
				if old, ok := said[key]; !ok || value == "n" || old == "" {
					said[key] = value
				}
			}
		}
	}
	return said
}

// cutUsage returns the path of a Content-Usage line, and what it states.
func cutUsage(value string) (path string, states map[string]string) {
	path = "/"
	if strings.HasPrefix(value, "/") {
		path, value, _ = strings.Cut(value, " ")
	}
	return path, Usages[value]
}
