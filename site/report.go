package site

import (
	"context"
	"fmt"
	"log/slog"
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
