// Package manualcmd is the command "gophd manual": it lists and prints the pages of the
// manual, which are part of the program.
package manualcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gophd/gophd"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
)

// Manual is gophd manual.
type Manual struct {
	Dir    bool   // print the directory of the pages
	Unpack string // write them into this directory; "": do not
	Out    io.Writer
}

// Run lists the pages, or prints the one that the argument names.
func (m *Manual) Run(args []string) error {
	switch {
	case len(args) > 1:
		return exit.Usagef("gophd manual PAGE",
			"manual takes one page, got %d arguments", len(args))
	case m.Dir:
		return m.where()
	case m.Unpack != "":
		if err := os.CopyFS(m.Unpack, gophd.Manual()); err != nil {
			return exit.Hint(fmt.Errorf("unpacking the manual: %w", err), "name a new directory")
		}
		return nil
	case len(args) == 1:
		return m.print(args[0])
	}
	names, err := fs.Glob(gophd.Manual(), "*.txt")
	for _, file := range names {
		text, _ := fs.ReadFile(gophd.Manual(), file)
		title, _, _ := strings.Cut(string(text), "\n")
		_, err = fmt.Fprintf(m.Out, "%-13s %s\n", strings.TrimSuffix(file, ".txt"),
			strings.TrimSpace(title))
	}
	return err
}

func (m *Manual) print(page string) error {
	page = strings.TrimSuffix(page, ".txt")
	text, err := fs.ReadFile(gophd.Manual(), page+".txt")
	if err == nil {
		_, err = m.Out.Write(text)
		return err
	}
	hint, best := "gophd manual lists the pages", 4
	names, _ := fs.Glob(gophd.Manual(), "*.txt")
	for _, file := range names {
		name := strings.TrimSuffix(file, ".txt")
		if n := diag.Distance(page, name, best); n < best {
			hint = "did you mean " + diag.Command("gophd", "manual", name) +
				"? gophd manual lists the pages"
			best = n
		}
	}
	return exit.Usagef(hint, "the manual has no page %q", page)
}

// where prints the directory in which a package, or make install, has put the pages: beside
// the program.
func (m *Manual) where() error {
	program, err := os.Executable()
	if err != nil { // without /proc
		program = "/usr/bin/gophd"
	}
	dir := filepath.Join(filepath.Dir(program), "../share/gophd/manual")
	if _, err := disk.Caller(disk.Direct).Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return &exit.CommandError{
			Status: exit.No,
			Err:    fmt.Errorf("the pages are not in %s", dir),
			Hint:   "gophd manual -unpack DIR writes them",
		}
	}
	_, err = fmt.Fprintln(m.Out, dir)
	return err
}
