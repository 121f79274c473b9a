package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
)

// inFile gives diagnostics the name of the file that they are about.
func inFile(name string, list []diag.Diagnostic) []diag.Diagnostic {
	all := []diag.Diagnostic{}
	for _, d := range list {
		d.File = name
		all = append(all, d)
	}
	return all
}

// place names a line of a file, or the file as a whole.
func place(file string, line int) string {
	file = printable(file)
	if line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// lintRobots prints what in a robots file has no effect or a doubtful one; exit
// status 1 if that is more than notices.
func lintRobots(c *cli.Context) error {
	s, err := oneTarget(c, "gophd robots lint robots.txt")
	if err != nil {
		return err
	}
	if s.note != "" {
		return withHint(fmt.Errorf("%s: %s", s.name, s.note), "there is nothing to lint")
	}
	if filepath.Base(s.name) == ".robots" && c.String("dialect") == "" {
		say(c.App.ErrWriter, s.name+" is read as the robots.txt of a host", "as an annotation: gophd robots check -root DIR")
	}
	list := inFile(s.name, s.diagnostics())
	if err := printFindings(c.App.Writer, list, c.Bool("json")); err != nil {
		return err
	}
	for _, d := range list {
		if d.Severity.Worse(diag.Notice) {
			return errNo
		}
	}
	return nil
}

// printLost lists on standard error what a dialect cannot say.
func printLost(c *cli.Context, to robots.Dialect, lost []diag.Diagnostic) error {
	if len(lost) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(c.App.ErrWriter, "gophd: this cannot be said in %s:\n", to); err != nil {
		return err
	}
	return printFindings(c.App.ErrWriter, lost, false)
}

// oneTarget loads the only argument.
func oneTarget(c *cli.Context, example string) (source, error) {
	if !c.Args().Present() {
		return source{}, usageError(example, "%s wants a target", c.Command.Name)
	}
	if err := noMoreArguments(c, 1); err != nil {
		return source{}, err
	}
	return loadTarget(c, c.Args().First())
}

func printFindings(w io.Writer, list []diag.Diagnostic, asJSON bool) error {
	if asJSON {
		return printJSON(w, list)
	}
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.Text())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
