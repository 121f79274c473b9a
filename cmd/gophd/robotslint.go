package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/robots"
)

// finding is a diagnostic as it is printed.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // 0: the file as a whole
	ID       string `json:"id"`   // of the requirement it rests on
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

func findings(name string, list []robots.Diagnostic) []finding {
	all := []finding{}
	for _, d := range list {
		all = append(all, finding{name, d.Line, d.ID, d.Code, d.Severity.String(), d.Message})
	}
	return all
}

// String gives file:line: text (id). A note is marked as one.
func (f finding) String() string {
	id := f.ID
	if id == "" {
		id = f.Code
	}
	if f.Severity == robots.Note.String() {
		id = "note, " + id
	}
	return fmt.Sprintf("%s: %s (%s)", place(f.File, f.Line), f.Message, id)
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
// status 1 if that is more than notes.
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
	list := findings(s.name, s.diagnostics())
	if err := printFindings(c.App.Writer, list, c.Bool("json")); err != nil {
		return err
	}
	for _, f := range list {
		if f.Severity == robots.Warning.String() {
			return errNo
		}
	}
	return nil
}

// printLost lists on standard error what a dialect cannot say.
func printLost(c *cli.Context, to robots.Dialect, lost []finding) error {
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

func printFindings(w io.Writer, list []finding, asJSON bool) error {
	if asJSON {
		return printJSON(w, list)
	}
	var b strings.Builder
	for _, f := range list {
		_, _ = fmt.Fprintln(&b, f)
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
