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

// maxAsked bounds the selectors of a tree in a case of the kit.
const maxAsked = 5000

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
	decisions := make([][]byte, len(k.Agents))
	ask := func(name string, dir bool) {
		for _, sel := range selector.Spellings(name, dir) {
			if len(k.Selectors) >= maxAsked ||
				snap.Compiled.Closed(selector.Canonical(name, dir), sel) {
				continue
			}
			k.Selectors = append(k.Selectors, sel)
			for i, agent := range k.Agents {
				decision := byte('0')
				if snap.Compiled.Explain(agent, name, dir).Allowed {
					decision = '1'
				}
				decisions[i] = append(decisions[i], decision)
			}
		}
	}
	for at, d := range snap.Tree.All() {
		ask(at, true)
		for _, f := range d.Files {
			ask(selector.Join(at, f.Name), false)
		}
		ask(selector.Join(at, "later"), false)
	}
	k.Fill()
	for _, row := range decisions {
		k.Policy = append(k.Policy, string(row))
	}
	return k
}
