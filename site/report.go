package site

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// problems logs each problem of the tree once, not at every request that meets it.
type problems struct {
	log  *slog.Logger
	mu   sync.Mutex
	told map[problem]bool
}

type problem struct {
	file string
	line int
	code string
}

// maxReports is how many reports of a snapshot are logged.
const maxReports = 20

// maxTold is how many problems are remembered. Beyond it, all are forgotten, and may be
// logged again.
const maxTold = 10_000

func (p *problems) report(list []diag.Diagnostic) {
	for _, d := range list[:min(len(list), maxReports)] {
		p.once(d)
	}
	if more := len(list) - maxReports; more > 0 {
		p.once(diag.Diagnostic{Code: "MORE", Severity: diag.Warning, Message: fmt.Sprintf("%d more of %s and others", more, list[maxReports].File)})
	}
}

// together logs many problems of one kind as one line, which names the first.
func (p *problems) together(list []diag.Diagnostic) {
	const few = 3
	p.mu.Lock()
	list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return p.told[problem{d.File, d.Line, d.Code}] })
	if len(list) > few {
		for _, d := range list[1:] {
			p.remember(problem{d.File, d.Line, d.Code})
		}
		list[0].Message += fmt.Sprintf("; %d more users are not served: gophd check -users names them", len(list)-1)
		list = list[:1]
	}
	p.mu.Unlock()
	for _, d := range list {
		p.once(d)
	}
}

// remember must be called with mu held.
func (p *problems) remember(key problem) {
	if p.told == nil || len(p.told) >= maxTold {
		p.told = map[problem]bool{}
	}
	p.told[key] = true
}

// levels maps severities to log levels. Other severities are logged at Info.
var levels = map[diag.Severity]slog.Level{diag.Error: slog.LevelError, diag.Warning: slog.LevelWarn}

// once logs a diagnostic, unless one with the same code was logged for the same line of
// the file before.
func (p *problems) once(d diag.Diagnostic) { p.first(problem{d.File, d.Line, d.Code}, d) }

// first logs a diagnostic, unless one was logged for the same key before.
func (p *problems) first(key problem, d diag.Diagnostic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[key] {
		return
	}
	p.remember(key)
	attrs := []any{"code", d.Code, "file", d.File, "line", d.Line, "problem", d.Message}
	if d.Hint != "" {
		attrs = append(attrs, "hint", d.Hint)
	}
	p.log.Log(context.Background(), levels[d.Severity], diag.EventProblem, attrs...)
}

// tooManyLinks is the diagnostic about a name with too many links.
func tooManyLinks(name string) diag.Diagnostic {
	return diag.Diagnostic{Code: "TOO-MANY-LINKS", Severity: diag.Warning, File: name,
		Message: fmt.Sprintf("not served: too many links (at most %d, with %d elements in all)", disk.MaxLinks, disk.MaxLinkElements)}
}

// unopened is a diagnostic about the directory of a tree.
func unopened(name, message, hint string) diag.Diagnostic {
	return diag.Diagnostic{Code: "TREE", Severity: diag.Warning, File: name, Message: message, Hint: hint}
}

// The names in annotations are compared with the names in the tree, so that an author
// gets a report about a misspelt one.

// spoken maps each annotation to its reports about names that are not in the tree. They
// are made once, when the annotation has been read.
type spoken map[*policy.Annotation][]policy.Report

// speak returns the reports about the annotations of a tree. It reuses the reports of
// annotations that were there before.
func speak(f finder, before spoken) spoken {
	next := spoken{}
	for _, d := range f.tree.All() {
		for _, a := range d.Notes {
			list, known := before[a]
			if !known {
				for _, r := range f.c.Rules(a.Dir, a.File) {
					if said, ok := f.about(r); ok {
						list = append(list, said)
					}
				}
			}
			next[a] = list
		}
	}
	return next
}

// strays reports files with names that look like misspelt annotations.
func strays(tree *Dir) (list []policy.Report) {
	for name, d := range tree.All() {
		for _, file := range d.Strays {
			list = append(list, policy.NewReport(policy.CodeNotRead, selector.Join(name, file), 0, "it is not read: did you mean .robots?"))
		}
	}
	return list
}

// isStray reports whether a name looks like a misspelt .robots or robots.txt.
func isStray(base string) bool {
	return slices.Contains([]string{noteName, handName, ".robots.txt", ".robot", "robots"}, strings.ToLower(base))
}

// finder looks for the names that rules match.
type finder struct {
	tree    *Dir
	real    func(name string) string
	aliases map[string]link
	c       *policy.Compiled
	own     []string // selectors that are no files; without a leading slash, names in any directory

	list func(dir string) []File // the files of a directory, sorted; nil: the tree has them
}

func (f finder) files(d *Dir, dir string) []File {
	if f.list == nil {
		return d.Files
	}
	return f.list(cmp.Or(strings.Trim(dir, "/"), "."))
}

// lister returns a function that lists the files of a directory, once; nil if the tree
// has their names. It may list some that are not served.
func (s *scanner) lister() func(dir string) []File {
	if s.aside == nil {
		return nil
	}
	known := map[string]*Dir{}
	return func(dir string) []File {
		d, ok := known[dir]
		if !ok {
			d = &Dir{}
			t, _, rest := s.root.At(dir)
			list, _ := s.aside.Named(dir).List(filepath.Join(t.Dir, rest))
			for _, e := range list {
				if selector.Askable(e.Name()) && !e.IsDir() {
					d.Files = append(d.Files, File{Name: e.Name()})
				}
			}
			if dir == "." {
				d.addCaps()
			}
			known[dir] = d
		}
		return d.Files
	}
}

// about returns a report if a rule without wildcards matches no name in the tree.
func (f finder) about(r policy.AnnotationRule) (policy.Report, bool) {
	if !r.Literal || f.exists(r) {
		return policy.Report{}, false
	}
	message := fmt.Sprintf("%q matches nothing", r.Text())
	report := policy.NewReport(policy.CodeNoMatch, r.File, r.Line, message)
	report.Selector = r.Path
	if slices.Contains(strings.Split(r.Value, "/"), "..") {
		report.Message += ": an annotation is about its directory and what lies below"
		return report, true
	}
	if meant := f.meant(r); meant != "" {
		report.Message += "; did you mean " + meant + "?"
		return report, true
	}
	if near := f.nearest(r); near != "" {
		report.Message += "; the nearest name is " + near
		return report, true
	}
	report.Severity = diag.Notice
	return report, true
}

// exists reports whether a rule without a wildcard matches something.
func (f finder) exists(r policy.AnnotationRule) bool {
	if slices.ContainsFunc(f.own, func(sel string) bool {
		return r.Matches(sel) || sel[0] != '/' && strings.HasSuffix(r.Path, sel)
	}) || r.Path == "/"+handName {
		return true
	}
	for _, p := range f.c.Programs() {
		if strings.HasSuffix(p, "/") {
			continue // a directory's menu, which is here like others
		}
		if strings.HasPrefix(r.Path, p) || isAnswered([]string{p}, strings.TrimSuffix(r.Path, "/")) || strings.HasPrefix(p, "/*") && strings.Contains(r.Path, p[2:]) {
			return true
		}
	}
	for name, l := range f.aliases {
		if r.Matches(selector.Canonical(name, l.dir)) {
			return true
		}
	}
	dir, begin := path.Split(strings.TrimPrefix(r.Path, "/"))
	d := f.tree.find(f.real(strings.TrimSuffix(dir, "/")))
	if d == nil {
		return false
	}
	if begin == "" && r.Matches("/"+dir) {
		return true
	}
	files := f.files(d, dir)
	from, _ := slices.BinarySearchFunc(files, begin, func(f File, name string) int { return strings.Compare(f.Name, name) })
	for _, file := range files[from:] {
		if !strings.HasPrefix(file.Name, begin) {
			break
		}
		if r.Matches("/" + dir + file.Name) {
			return true
		}
	}
	from, _ = slices.BinarySearchFunc(d.Dirs, begin, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	for _, sub := range d.Dirs[from:] {
		if !strings.HasPrefix(sub.Name, begin) {
			break
		}
		if r.Matches("/" + dir + sub.Name + "/") {
			return true
		}
	}
	return false
}

var itemType = regexp.MustCompile(`^/?[0-9A-Za-z]/`)

// meant returns the value that the author of a rule surely meant: the first correction
// of a usual mistake with which the rule matches something; "" if there is none.
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

// nearest returns the existing name that is most similar to the missing one, as the
// annotation would write it; "" if none is similar.
func (f finder) nearest(r policy.AnnotationRule) string {
	d, at, rest := f.tree, "/", strings.TrimPrefix(r.Path, "/")
	for {
		name, more, deeper := strings.Cut(rest, "/")
		sub := child(d, name)
		if !deeper || sub == nil {
			rest = name
			break
		}
		d, at, rest = sub, at+name+"/", more
	}
	best, least := "", 3
	try := func(other, end string) {
		if distance := diag.Distance(strings.ToLower(rest), strings.ToLower(other), least); distance < least {
			best, least = strings.TrimPrefix(at, strings.TrimSuffix(r.Dir, "/"))+other+end, distance
		}
	}
	for _, sub := range d.Dirs {
		try(sub.Name, "/")
	}
	for _, file := range f.files(d, at) {
		try(file.Name, "")
	}
	if len(rest) < 3 && least > 0 {
		return ""
	}
	return best
}
