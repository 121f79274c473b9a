package site

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gophd/gophd/diag"
)

// problems tells each thing that is wrong in the tree once, not at every
// request that meets it.
type problems struct {
	log  *slog.Logger
	mu   sync.Mutex
	told map[problem]bool
}

type problem struct {
	file string
	line int
	kind string
}

// maxTold bounds what is remembered; then everything may be told again.
const maxTold = 10_000

// Report logs what is wrong with the files of a menu, each unless it was logged
// before.
func (s *Site) Report(list []diag.Diagnostic) { s.problems.report(list) }

func (p *problems) report(list []diag.Diagnostic) {
	for _, d := range list[:min(len(list), maxReports)] {
		p.once(levels[d.Severity], d.File, d.Line, d.Code, d.Message)
	}
	if more := len(list) - maxReports; more > 0 {
		p.once(slog.LevelWarn, "", 0, "MORE", fmt.Sprintf("%d more of %s and others", more, list[maxReports].File))
	}
}

// once logs a problem of a kind in a line of a file, if it was not logged before.
func (p *problems) once(level slog.Level, file string, line int, kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := problem{file, line, kind}
	if p.told[key] {
		return
	}
	if p.told == nil || len(p.told) >= maxTold {
		p.told = map[problem]bool{}
	}
	p.told[key] = true
	if kind != text {
		text = kind + ": " + text
	}
	p.log.Log(context.Background(), level, "problem in the content tree", "file", file, "line", line, "problem", text)
}
