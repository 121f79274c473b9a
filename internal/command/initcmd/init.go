// Package initcmd is the command "gophd init": it makes a small hole that is a
// good example.
package initcmd

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
)

//go:embed all:hole
var hole embed.FS

// Init makes a hole in the only argument, a directory that does not exist yet or is empty, and
// prints the files that it made and the command that serves them. Errors are those of package
// exit.
func Init(out io.Writer, args []string, today time.Time) error {
	if len(args) != 1 {
		return exit.Usagef("gophd init hole",
			"init takes one directory, got %d arguments", len(args))
	}
	dir := args[0]
	if list, err := disk.Caller(disk.Direct).List(dir); len(list) > 0 {
		return exit.Usagef("name a new directory; to serve this one as it is: "+
			diag.Command("gophd", "--", dir), "%s is not empty: %s is in it", dir, list[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Hint(err, "name a new directory: gophd init hole")
	}
	dates := strings.NewReplacer("TODAY", today.Format(time.DateOnly),
		"YESTERDAY", today.Add(-24*time.Hour).Format(time.DateOnly))
	made := 0
	err := fs.WalkDir(hole, "hole", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(dates.Replace(strings.TrimPrefix(name, "hole"))))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := hole.ReadFile(name)
		if err != nil {
			return err
		}
		made++
		return os.WriteFile(to, []byte(dates.Replace(string(text))), 0o644)
	})
	if err != nil {
		return exit.Hint(fmt.Errorf("making a hole: %w", err),
			"name a directory that you may write to")
	}
	_, err = fmt.Fprintf(out, "made %d files in %s\ntry: %s\n", made, diag.Printable(dir),
		diag.Command("gophd", "-listen", ":7070", "--", dir))
	return err
}
