package site

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// problems logs each problem of the tree once, not for every request that meets it.
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

// Of problems of one kind, these many are logged.
const (
	maxReports = 20
	maxUsers   = 3 // who are not served; of more, one
)

// maxTold bounds the remembered problems. When it is reached, all are forgotten and may be
// logged again.
const maxTold = 10_000

// report logs the first problems of a list, and how many more there are of the rest.
func (p *problems) report(list []diag.Diagnostic, most int, rest string) {
	for _, d := range list[:min(len(list), most)] {
		p.once(d)
	}
	if more := len(list) - most; more > 0 {
		p.first(problem{file: rest}, diag.Diagnostic{
			Code:     "MORE",
			Severity: diag.Warning,
			Message:  fmt.Sprintf("%d more %s", more, rest),
		})
	}
}

// levels maps severities to log levels. Other severities are logged at Info.
var levels = map[diag.Severity]slog.Level{diag.Error: slog.LevelError, diag.Warning: slog.LevelWarn}

// once logs a diagnostic, unless one with the same code was logged for the same line of
// the file before.
func (p *problems) once(d diag.Diagnostic) {
	p.first(problem{d.File, d.Line, d.Code}, d)
}

// first logs a diagnostic, unless one with the same key was logged before.
func (p *problems) first(key problem, d diag.Diagnostic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[key] {
		return
	}
	if p.told == nil || len(p.told) >= maxTold {
		p.told = map[problem]bool{}
	}
	p.told[key] = true
	attrs := []any{"code", d.Code, "file", d.File, "line", d.Line, "problem", d.Message}
	if d.Hint != "" {
		attrs = append(attrs, "hint", d.Hint)
	}
	p.log.Log(context.Background(), levels[d.Severity], diag.EventProblem, attrs...)
}

// tooManyLinks returns the diagnostic about a name with too many links.
func tooManyLinks(name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:     "TOO-MANY-LINKS",
		Severity: diag.Warning,
		File:     name,
		Message: fmt.Sprintf("not served: too many links (at most %d, with %d elements in all)",
			disk.MaxLinks, disk.MaxLinkElements),
	}
}

// strays reports files with names that look like misspelt annotations.
func strays(tree *Dir) (list []policy.Report) {
	for name, d := range tree.All() {
		for _, file := range d.Strays {
			list = append(list, policy.NewReport(policy.CodeNotRead, selector.Join(name, file), 0,
				"it is not read: did you mean .robots?"))
		}
	}
	return list
}

// isStray reports whether a name looks like a misspelt .robots or robots.txt.
func isStray(base string) bool {
	return slices.Contains([]string{noteName, handName, ".robots.txt", ".robot", "robots"},
		strings.ToLower(base))
}

// Some menus contain the text of a file that also has its own selector: that of a directory's
// index.gmi, index.gph or *.gophermap, or of a file that a map includes. A rule that denies
// the file does not deny the menu.

// shown is a file whose text a menu contains.
type shown struct {
	file string // name below the root
	menu string // canonical selector of the menu
}

// shownIn returns the files of a directory that its menu is made from. names are the base
// names of its menu files; isListed means that its map includes a listing.
func shownIn(dir string, names []string, isListed bool) (list []shown) {
	sel := selector.Canonical(dir, true)
	for _, base := range []string{"gophermap", ".gophermap", "index.gph", "index.gmi"} {
		if slices.Contains(names, base) {
			list = []shown{{selector.Join(dir, base), sel}}
			break
		}
	}
	if list != nil && !isListed {
		return list
	}
	for _, base := range names {
		if menu.IsMenuFile(base) && !menu.IsMap(base) && strings.HasSuffix(base, ".gophermap") {
			list = append(list, shown{selector.Join(dir, base), sel})
		}
	}
	return list
}

// shown returns all files whose text a menu contains, sorted.
func (s *scanner) shown() (list []shown) {
	for _, p := range s.found {
		list = append(list, p.shown...)
	}
	slices.SortFunc(list, func(a, b shown) int {
		return strings.Compare(a.file+"\n"+a.menu, b.file+"\n"+b.menu)
	})
	return list
}

// shownElsewhere reports rules that deny a file whose text an allowed menu contains, and
// records these menus in s.shows.
func (s *Snapshot) shownElsewhere() (reports []policy.Report) {
	s.shows = map[string]bool{}
	for _, x := range s.shown {
		name := path.Clean(strings.TrimPrefix(x.menu, "/"))
		by := s.Compiled.DeniedBy(x.file, false)
		if by == nil || by.Line == 0 ||
			s.Compiled.DeniedToAll(name, strings.HasSuffix(x.menu, "/")) {
			continue
		}
		s.shows[name] = true

		// The line of the same annotation that denies the menu, or else of the root's.
		line, where := x.menu, " in the root's .robots"
		if dir := selector.Canonical(path.Dir(by.File), true); strings.HasPrefix(x.menu, dir) {
			line, where = x.menu[len(dir)-1:], ""
		}
		if strings.HasSuffix(line, "/") {
			line += "$"
		}
		reports = append(reports, policy.NewReport(policy.CodeShownElsewhere, by.File, by.Line,
			fmt.Sprintf("%s shows the text of /%s: Disallow: %s%s denies that, too", x.menu,
				x.file, line, where)))
	}
	return reports
}

// maxEscaped bounds the names with escapes that are examined per directory; 50 times as many
// are examined in total.
const maxEscaped = 20

// escaped reports denied names that look percent-escaped, such as 50%faster.txt, where some
// readers are let in: they decode the escape, and then the part of the rule behind a star no
// longer matches.
func (s *Snapshot) escaped(scan *scanner) (reports []policy.Report) {
	var list []string
	for _, p := range scan.found {
		list = append(list, p.escaped...)
	}
	slices.Sort(list)
	for _, sel := range list[:min(len(list), 50*maxEscaped)] {
		name, dir := path.Clean(sel[1:]), strings.HasSuffix(sel, "/")
		by := s.Compiled.DeniedBy(name, dir)
		if by == nil || by.Line == 0 {
			continue
		}
		r := policy.NewReport(policy.CodeDigits, by.File, by.Line,
			sel+" holds an escape, which some readers take for one byte")
		r.Selector, r.Leaks = sel, []string{sel}
		r.Readers = slices.DeleteFunc(s.Compiled.LetIn(name, dir), func(reader string) bool {
			return slices.ContainsFunc(s.Compiled.Reports(), func(o policy.Report) bool {
				return o.File == by.File && o.Line == by.Line && slices.Contains(o.Readers, reader)
			})
		})
		if len(r.Readers) > 0 {
			reports = append(reports, r)
		}
	}
	return reports
}
