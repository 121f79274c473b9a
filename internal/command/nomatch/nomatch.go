// Package nomatch compares the rules of annotations with the names of the tree, so that an
// author gets a report about a misspelt one.
package nomatch

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/site"
)

// own are selectors that gophd answers by itself; without a leading slash, names in any
// directory.
var own = []string{"/robots.txt", "/caps.txt", "/about-robots", "feed.xml", "feed.gmi",
	"/sitemap.xml", "/sitemap.txt", "/sitemap-recent.xml"}

// Reports returns the reports of a snapshot, which was made with site.Config.Files, with one
// for each rule that matches nothing. The worst come first.
func Reports(snap *site.Snapshot) []policy.Report {
	list := slices.Clone(snap.Reports)
	f := finder{snap}
	if gemini := snap.Capsules(); gemini != nil {
		f = append(f, gemini)
	}
	seen := map[*policy.Annotation]bool{}
	for _, s := range f {
		for _, d := range s.Tree.All() {
			for _, a := range d.Notes {
				if seen[a] {
					continue
				}
				seen[a] = true
				for _, r := range snap.Compiled.Rules(a.Dir, a.File) {
					if report, ok := f.about(r); ok {
						list = append(list, report)
					}
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b policy.Report) int {
		return diag.Compare(a.Diagnostic, b.Diagnostic)
	})
	return list
}

// finder looks for the names that rules match in the trees of a site: of most clients, and of
// those over Gemini.
type finder []*site.Snapshot

// about returns a report if a rule matches no name in the tree.
func (f finder) about(r policy.AnnotationRule) (policy.Report, bool) {
	if f.exists(r) {
		return policy.Report{}, false
	}
	message := fmt.Sprintf("%q matches nothing", r.Text())
	report := policy.NewReport(policy.CodeNoMatch, r.File, r.Line, message)
	report.Selector = r.Path
	if !r.Literal { // written for names to come
		report.Severity = diag.Notice
		return report, true
	}
	meant, near := f.meant(r), f.nearest(r)
	switch {
	case slices.Contains(strings.Split(r.Value, "/"), ".."):
		report.Message += ": an annotation is about its directory and what lies below"
	case meant != "":
		report.Message += "; did you mean " + meant + "?"
	case near != "":
		report.Message += "; the nearest name is " + near
	default:
		report.Severity = diag.Notice
	}
	return report, true
}

// exists reports whether a rule matches something.
func (f finder) exists(r policy.AnnotationRule) bool {
	return slices.ContainsFunc(own, func(sel string) bool {
		return r.Matches(sel) ||
			sel[0] != '/' && strings.HasSuffix(strings.TrimSuffix(r.Value, "$"), sel)
	}) || slices.ContainsFunc(f, func(snap *site.Snapshot) bool { return has(snap, r) })
}

// has reports whether a rule matches something in a tree.
func has(snap *site.Snapshot, r policy.AnnotationRule) bool {
	for _, p := range snap.Compiled.Programs() {
		if strings.HasSuffix(p, "/") {
			continue // a directory's menu, which is here like others
		}
		if strings.HasPrefix(r.Path, p) || r.Matches(p) ||
			strings.HasPrefix(p, "/*") && strings.Contains(r.Value, p[2:]) {
			return true
		}
	}
	if r.Literal && snap.Answers(strings.TrimSuffix(r.Path, "/")) ||
		slices.ContainsFunc(snap.Aliases(), r.Matches) {
		return true
	}

	// Look below the directory that the path names, for a literal one at its names alone.
	dir, _ := path.Split(strings.TrimPrefix(r.Path, "/"))
	top := snap.Tree.Find(snap.Real(cmp.Or(strings.TrimSuffix(dir, "/"), ".")))
	if top == nil {
		return false
	}
	if r.Matches("/" + dir) {
		return true
	}
	for name, d := range top.All() {
		at := "/" + dir + strings.TrimPrefix(name+"/", "./")
		if slices.ContainsFunc(d.Files, func(f site.File) bool { return r.Matches(at + f.Name) }) ||
			slices.ContainsFunc(d.Dirs, func(d *site.Dir) bool {
				return r.Matches(at + d.Name + "/")
			}) {
			return true
		}
		if r.Literal {
			break
		}
	}
	return false
}

var itemType = regexp.MustCompile(`^/?[0-9A-Za-z]/`)

// meant returns a corrected value for a rule: the first correction of a common mistake with which
// the rule matches something; "" if there is none.
func (f finder) meant(r policy.AnnotationRule) string {
	first, _, _ := strings.Cut(r.Value, " ")
	below := strings.TrimPrefix(strings.TrimPrefix(r.Value, "/"), r.Dir[1:])
	for _, value := range []string{
		"/" + below, // the path from the root
		strings.TrimPrefix(strings.TrimPrefix(r.Path, strings.TrimSuffix(r.Dir, "/")), r.Dir), // in a URL
		"/" + itemType.ReplaceAllString(r.Value, ""),                                          // a selector with its item type
		strings.Trim(r.Value, `"'`),
		"/" + strings.TrimPrefix(strings.TrimPrefix(r.Value, "/"), "./"),
		first,
		strings.ReplaceAll(r.Value, "%", "%25"),
	} {
		value = "/" + strings.TrimPrefix(value, "/")
		if value == "/" || strings.TrimPrefix(value, "/") == strings.TrimPrefix(r.Value, "/") {
			continue
		}
		if other, ok := r.With(value); ok && f.exists(other) {
			return value
		}
	}
	return ""
}

// nearest returns the existing path that is most similar to a rule's, relative to the
// annotation; "" if none is similar enough.
func (f finder) nearest(r policy.AnnotationRule) string {
	for _, snap := range f {
		if near := Nearest(snap.Tree, r.Path); near != "" {
			return strings.TrimPrefix(near, strings.TrimSuffix(r.Dir, "/"))
		}
	}
	return ""
}

// Nearest returns the path of a tree that is most similar to one, "" if none is similar. Case
// does not count. In each element one byte of four may differ, two at most.
func Nearest(tree *site.Dir, name string) string {
	at := "/"
	for elem := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		if tree == nil {
			return ""
		}
		best, least := "", min(3, 1+len(elem)/4)
		var next *site.Dir
		try := func(other string, sub *site.Dir) {
			if d := diag.Distance(strings.ToLower(other), strings.ToLower(elem),
				least); d < least || other == elem {
				best = other
				least = d
				next = sub
			}
		}
		for _, sub := range tree.Dirs {
			try(sub.Name, sub)
		}
		for _, file := range tree.Files {
			try(file.Name, nil)
		}
		if best == "" {
			return ""
		}
		at, tree = path.Join(at, best), next
	}
	if tree != nil {
		at += "/"
	}
	return at
}
