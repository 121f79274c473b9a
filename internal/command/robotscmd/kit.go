package robotscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// maxAsked bounds the names of a tree in a case of the kit.
const maxAsked = 2000

// Kit writes the kit for authors of robots into a directory, with the robots.txt
// of -root as a further case, if there is one.
func (c *Command) Kit(ctx context.Context) error {
	if err := c.atMost(1); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		return exit.Usagef(c.Name+" ./kit", "no directory to write to")
	}
	var tree []kit.Case
	if c.Root != "" {
		snap, err := c.readRoot(ctx)
		if err != nil {
			return err
		}
		tree = append(tree, kitCase(snap))
	}
	switch err := kit.Write(c.Args[0], tree); {
	case errors.Is(err, fs.ErrExist):
		return exit.Hint(err, "nothing is overwritten: name a new directory")
	case err != nil:
		return err
	}
	_, err := fmt.Fprintf(c.Out, "%s: README.md explains its use\n%s", diag.Printable(c.Args[0]),
		outdated(time.Now()))
	return err
}

// outdated returns a line if the keys of preferences were compared with their sources long ago.
func outdated(now time.Time) string {
	if at, err := time.Parse(time.DateOnly, readers.VocabularyChecked); err == nil &&
		now.Sub(at) > 183*24*time.Hour {
		return "its preference keys date from " + readers.VocabularyChecked +
			": more than six months old\n"
	}
	return ""
}

// kitCase returns a case with the names of a tree and, in each directory, one name that does
// not exist. It omits spellings that are answered with a pointer.
func kitCase(snap *site.Snapshot) kit.Case {
	k := kit.Case{
		Name:   "tree",
		Robots: snap.Robots,
		Agents: []string{"somebot"},
	}
	for _, g := range robots.Parse(readers.RFC9309, snap.Robots).Groups() {
		for _, a := range g.Agents {
			if name := strings.ToLower(a.Token); name != "*" && !slices.Contains(k.Agents, name) {
				k.Agents = append(k.Agents, name)
			}
		}
	}
	var names []namedFile
	for at, d := range snap.Tree.All() {
		names = append(names, namedFile{at, true})
		for _, f := range d.Files {
			names = append(names, namedFile{selector.Join(at, f.Name), false})
		}
		if names = append(names,
			namedFile{selector.Join(at, "later"), false}); len(names) >= maxAsked {
			break
		}
	}
	var of []namedFile // the name of each selector
	for _, n := range names[:min(len(names), maxAsked)] {
		for _, sel := range selector.Spellings(n.name, n.dir) {
			if !snap.Compiled.Closed(selector.Canonical(n.name, n.dir), sel) {
				k.Selectors, of = append(k.Selectors, sel), append(of, n)
			}
		}
	}
	k.Fill()
	for _, agent := range k.Agents {
		row := make([]byte, len(of))
		for i, n := range of {
			if row[i] = '0'; snap.Compiled.Explain(agent, n.name, n.dir).Allowed {
				row[i] = '1'
			}
		}
		k.Policy = append(k.Policy, string(row))
	}
	return k
}

// namedFile is a file or directory of a tree.
type namedFile struct {
	name string
	dir  bool
}
