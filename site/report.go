package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site/internal/disk"
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

// maxTold bounds what is remembered; then everything may be told again.
const maxTold = 10_000

// Report logs what is wrong with the files of a menu, each unless it was logged
// before.
func (s *Site) Report(list []diag.Diagnostic) { s.problems.report(list) }

func (p *problems) report(list []diag.Diagnostic) {
	for _, d := range list[:min(len(list), maxReports)] {
		p.once(d)
	}
	if more := len(list) - maxReports; more > 0 {
		p.once(diag.Diagnostic{Code: "MORE", Severity: diag.Warning, Message: fmt.Sprintf("%d more of %s and others", more, list[maxReports].File)})
	}
}

// levels are those at which diagnostics are logged; what is missing is Info.
var levels = map[diag.Severity]slog.Level{diag.Error: slog.LevelError, diag.Warning: slog.LevelWarn}

// once logs what is said of a line of a file, if nothing with its code was logged
// for that line before.
func (p *problems) once(d diag.Diagnostic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := problem{d.File, d.Line, d.Code}
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
	p.log.Log(context.Background(), levels[d.Severity], "problem in the content tree", attrs...)
}

// What is not served though it lies in the tree is told once for the whole tree:
// how much, and the first of it. Dotfiles and maps are not meant; programs are told
// one by one.

// leftOut counts it.
type leftOut struct {
	unaskable, unreadable, outside int
	first                          string // its name
}

func (l *leftOut) add(m leftOut) {
	l.unaskable += m.unaskable
	l.unreadable += m.unreadable
	l.outside += m.outside
	l.first = cmp.Or(l.first, m.first)
}

// leaveOut counts the names of a directory that nobody can ask for, and those that
// this process cannot read.
func (r *reading) leaveOut(list []disk.Dirent) (l leftOut) {
	if r.at.linked() {
		return l // counted where it lies
	}
	readable := func(*disk.Dirent) bool { return true }
	if os.Geteuid() != 0 && len(list) > 0 {
		var f *os.File
		err := r.call(r.at.real, func() (err error) {
			f, err = r.root.Plain(r.at.real)
			return err
		})
		if err == nil {
			defer func() { _ = f.Close() }()
			readable = disk.Readable(f, func(call func() error) error { return r.call(r.at.real, call) })
		}
	}
	for i := range list {
		e := &list[i]
		if r.root.Trees[selector.Join(r.at.real, e.Base)] != nil {
			continue // the top of another tree, which need not be in this directory
		}
		switch reason := selector.Refusal(e.Base); {
		case reason == "" && (e.Mode.IsRegular() || e.Mode.IsDir()) && !readable(e):
			l.add(leftOut{unreadable: 1, first: selector.Join(r.at.name, e.Base)})
		case reason == "", reason == selector.Source, reason == selector.Program, e.Base[0] == '.':
		default:
			l.add(leftOut{unaskable: 1, first: selector.Join(r.at.name, e.Base)})
		}
	}
	return l
}

// refusedLink notes a symbolic link that is not followed.
func (r *reading) refusedLink(name string, err error) {
	name = selector.Join(r.at.name, name)
	p := r.programs[r.at.name]
	switch {
	case errors.Is(err, disk.ErrTooManyLinks):
		p.found = append(p.found, tooManyLinks(name))
	case errors.Is(err, disk.ErrEscapes):
		p.left.add(leftOut{outside: 1, first: name})
	default:
		return
	}
	r.programs[r.at.name] = p
}

// diagnostic returns it as one line.
func (l leftOut) diagnostic() diag.Diagnostic {
	n := l.unaskable + l.unreadable + l.outside
	text := "not served: " + diag.Count(n, "name", "names")
	if n > 1 {
		text += ", of which this is one"
	}
	text += ":"
	for _, part := range []struct {
		n    int
		what string
	}{{l.unaskable, "that nobody can ask for"}, {l.unreadable, "that gophd must not read"}, {l.outside, "out of the tree by a link"}} {
		if part.n > 0 {
			text += fmt.Sprintf(" %d %s,", part.n, part.what)
		}
	}
	return diag.Diagnostic{Code: "LEFT-OUT", Severity: diag.Warning, File: l.first, Message: text[:len(text)-1], Hint: "gophd check DIR tells all of them"}
}

// tooManyLinks is the diagnostic about a name with too many links.
func tooManyLinks(name string) diag.Diagnostic {
	return diag.Diagnostic{Code: "TOO-MANY-LINKS", Severity: diag.Warning, File: name,
		Message: fmt.Sprintf("not served: too many links (at most %d, with %d elements in all)", disk.MaxLinks, disk.MaxLinkElements)}
}
