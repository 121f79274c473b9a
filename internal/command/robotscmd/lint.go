package robotscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/robots/convert"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/lint"
	"github.com/gophd/gophd/robots/readers"
)

// inFile returns the diagnostics with the name of their file.
func inFile(name string, list []diag.Diagnostic) []diag.Diagnostic {
	all := []diag.Diagnostic{}
	for _, d := range list {
		d.File = name
		all = append(all, d)
	}
	return all
}

// placed returns the diagnostics with file and line. Those of a directory are about its
// annotations.
func (s ruleSource) placed() (list []diag.Diagnostic) {
	switch {
	case s.network != nil:
		return inFile(s.name, s.problems)
	case s.snap == nil:
		list = inFile(s.name, lint.File(s.file))
	default:
		for _, r := range nomatch.Reports(s.snap) {
			if d := r.Diagnostic; d.File != "" {
				d.File = path.Join(s.dir, d.File)
				list = append(list, d)
			}
		}
	}
	for i := range list {
		list[i].Line = max(list[i].Line, 1) // of the file as a whole: the first
	}
	return list
}

// Lint prints the diagnostics of robots files. Exit status 1 if any is worse than a
// notice.
func (c *Command) Lint(ctx context.Context) error {
	if len(c.Args) == 0 {
		return exit.Usagef(diag.Command("gophd", "robots", "lint", "robots.txt"),
			"%s needs a target", c.Name)
	}
	list := []diag.Diagnostic{}
	for _, target := range c.Args {
		s, err := c.load(ctx, target)
		if err != nil {
			return err
		}
		if s.note != "" {
			return exit.Hint(fmt.Errorf("%s: %s", s.name, s.note), "there is nothing to lint")
		}
		list = append(list, s.placed()...)
	}
	isBad := func(d diag.Diagnostic) bool { return d.Severity.Worse(diag.Notice) }
	return c.print(list, findingsText(list), !slices.ContainsFunc(list, isBad))
}

func findingsText(list []diag.Diagnostic) string {
	text := ""
	for _, d := range list {
		text += d.Text()
	}
	return text
}

// printFile prints a robots.txt, unchanged to a file or a pipe and escaped to a terminal, and
// on standard error the rules that its dialect cannot express.
func (c *Command) printFile(text, dialect string, lost []diag.Diagnostic) error {
	out := terminal.WholeFile(c.Out)
	_, err := io.WriteString(out, text)
	err = errors.Join(err, out.Close())
	if err != nil || len(lost) == 0 {
		return err
	}
	return terminal.PrintText(c.Err, "gophd: these rules cannot be expressed in "+dialect+":\n"+
		findingsText(lost))
}

// conversion is the JSON output of convert.
type conversion struct {
	Text string            `json:"text"`
	Lost []diag.Diagnostic `json:"lost"`
}

// Convert writes a file in another dialect, and lists on standard error the rules that the
// dialect cannot express.
func (c *Command) Convert(ctx context.Context) error {
	if c.To == "" {
		return exit.Usagef("gophd robots convert -from gopher -to rfc9309 robots.txt", "no -to")
	}
	rewrite := map[string]func(*robots.File) ([]byte, []diag.Diagnostic){
		"content-usage":  convert.SignalsToUsage,
		"content-signal": convert.UsageToSignals,
	}[c.To]
	preferences := rewrite != nil
	if !preferences {
		to, err := dialectOf("to", c.To, readers.Gopher)
		if err != nil {
			return err
		}
		rewrite = func(f *robots.File) ([]byte, []diag.Diagnostic) { return convert.File(f, to) }
	}
	if len(c.Args) == 0 {
		return exit.Usagef("gophd robots convert -from gopher -to rfc9309 robots.txt",
			"%s needs a target", c.Name)
	}
	if err := c.atMost(1); err != nil {
		return err
	}
	s, err := c.load(ctx, c.Args[0])
	if err != nil {
		return err
	}
	if s.network != nil {
		return exit.Usagef(diag.Command("gophd", "robots", "test", "--", c.Args[0])+
			" asks for its CRAWLER token", "a network has no robots.txt")
	}
	from, err := dialectOf("from", c.From, s.file.Dialect())
	if err != nil {
		return err
	}
	if preferences {
		from = readers.RFC9309
	}
	text, lost := rewrite(robots.Parse(from, s.file.AppendTo(nil)))
	list := inFile(s.name, lost)
	if c.JSON {
		return terminal.PrintJSON(c.Out, conversion{string(text), list})
	}
	return c.printFile(string(text), c.To, list)
}
