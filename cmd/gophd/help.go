package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

const (
	appUsage = `gophd: a Gopher server whose robots.txt is always right

Usage:
  gophd [FLAG]... DIR                        serve a directory
  gophd init DIR                             make a hole that is a good example
  gophd check DIR                            what would stop working here
  gophd check-config [FLAG]... DIR           check the settings and exit
  gophd doctor                               what is wrong, and what to type
  gophd robots show|check|explain DIR        its robots.txt, the proof, and why
  gophd robots test|lint|convert ...         any robots.txt, in any dialect
  gophd get URL, gophd manual [PAGE]         fetch, for scripts; read the manual
`
	appEnd = `
gophd COMMAND -help says more. Every flag has an environment variable: -root is
GOPHD_ROOT. Exit status: 0, 1 (the answer is no), 2 (wrong), 3 (may work later).
`
)

// printHelp prints the help of the program or a command: usage, commands or flags, description.
func printHelp(w io.Writer, _ string, data any) {
	var b strings.Builder
	if app, ok := data.(*cli.App); ok {
		b.WriteString(appUsage)
		last := ""
		for _, f := range app.Flags {
			of := "Other"
			if o, ok := f.(*option); ok {
				of = o.category
			}
			if of != last {
				b.WriteString("\n" + of + "\n")
				last = of
			}
			b.WriteString(flagLine(f))
		}
		b.WriteString(appEnd)
	} else if c := data.(*cli.Command); len(c.Subcommands) > 0 {
		fmt.Fprintf(&b, "%s: %s\n\nUsage:\n", c.HelpName, c.Usage)
		for _, sub := range c.VisibleCommands() {
			if sub.Name != "help" { // which the library adds
				fmt.Fprintf(&b, "  %s %-8s %s\n", c.HelpName, sub.Name, sub.Usage)
			}
		}
		fmt.Fprintf(&b, "\n%s COMMAND -help says more.\n", c.HelpName)
	} else {
		fmt.Fprintf(&b, "%s: %s\n\nUsage:\n  %[1]s [FLAG]... %[3]s\n\nFlags:\n", c.HelpName,
			c.Usage, c.ArgsUsage)
		for _, f := range c.Flags {
			b.WriteString(flagLine(f))
		}
		b.WriteString(c.Description)
	}
	_, _ = io.WriteString(w, b.String())
}

// flagLine formats a flag: -name VALUE  usage (default).
func flagLine(f cli.Flag) string {
	name, usage := "-"+f.Names()[0], ""
	switch f := f.(type) {
	case *cli.BoolFlag: // of the library: -help and -version
		usage = f.Usage
	case *option:
		usage = f.usage
		if f.toggle {
			break
		}
		name += " " + f.value
		if def := f.shownDefault(); def != "" && !strings.Contains(usage, "default") {
			usage += " (default " + def + ")"
		}
	}
	return fmt.Sprintf("  %-*s  %s\n", helpColumn-4, name, wrap(usage, helpColumn))
}

// The text of a flag begins at helpColumn and ends at helpWidth.
const (
	helpColumn = 29
	helpWidth  = 80
)

// wrap breaks a text that begins at a column into lines with that indentation.
func wrap(text string, column int) string {
	var b strings.Builder
	room := helpWidth - column
	for i, word := range strings.Fields(text) {
		switch n := len(word) + 1; {
		case i == 0:
			room -= n - 1
		case n > room:
			b.WriteString("\n" + strings.Repeat(" ", column))
			room = helpWidth - column - n + 1
		default:
			b.WriteByte(' ')
			room -= n
		}
		b.WriteString(word)
	}
	return b.String()
}
