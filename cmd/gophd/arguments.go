package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// arrange puts the flags among the arguments before the others, behind the
// command they belong to: flags may stand anywhere, although the flag package
// stops at the first argument that is none. What follows "--" is no flag. It
// finds unknown commands and flags, and has a hint for each.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) > 1 && args[1] == "help" {
		args = append(append(args[:1:1], args[2:]...), "-help")
	}
	a := arrangement{names: args[:1:1], commands: app.Commands, flags: slices.Concat(app.Flags, []cli.Flag{cli.HelpFlag, cli.VersionFlag})}
	for rest := args[1:]; len(rest) > 0; {
		n, err := a.take(rest)
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	if len(a.others) > 0 {
		a.given = append(append(a.given, "--"), a.others...)
	}
	return append(a.names, a.given...), nil
}

type arrangement struct {
	names    []string       // of the program, the command and its subcommand
	commands []*cli.Command // that may follow
	flags    []cli.Flag     // that are known so far
	given    []string       // flags and their values
	before   []string       // names of the flags before the last command
	others   []string
}

// take takes one argument, or a flag with its value, or all that follows "--",
// and returns how many that were.
func (a *arrangement) take(rest []string) (int, error) {
	word := rest[0]
	switch {
	case word == "--":
		a.others = append(a.others, rest[1:]...)
		return len(rest), nil
	case len(word) > 1 && word[0] == '-':
		return a.flag(rest)
	case len(a.commands) > 0:
		return 1, a.command(word)
	}
	a.others = append(a.others, word)
	return 1, nil
}

// flag takes a flag and its value. It may stand before the name of its command.
func (a *arrangement) flag(rest []string) (int, error) {
	name, _, joined := strings.Cut(strings.TrimLeft(rest[0], "-"), "=")
	f := findFlag(a.flags, name)
	if f == nil {
		return 0, unknownFlag(a.names, a.flags, name)
	}
	n := 1
	if doc, ok := f.(cli.DocGenerationFlag); ok && doc.TakesValue() && !joined {
		n = min(2, len(rest))
	}
	a.given, a.before = append(a.given, rest[:n]...), append(a.before, name)
	return n, nil
}

// command goes on to a command. Flags that came before it must be its own.
func (a *arrangement) command(name string) error {
	i := slices.IndexFunc(a.commands, func(c *cli.Command) bool { return c.HasName(name) })
	if i < 0 {
		return unknownCommand(a.names, a.commands, name)
	}
	c := a.commands[i]
	a.names = append(a.names, name)
	a.commands, a.flags = c.Subcommands, append(slices.Clone(c.Flags), cli.HelpFlag)
	if len(c.Subcommands) > 0 { // flags before the subcommand are that one's
		for _, sub := range c.Subcommands {
			a.flags = append(a.flags, sub.Flags...)
		}
		return nil
	}
	for _, f := range a.before {
		if findFlag(a.flags, f) == nil {
			return unknownFlag(a.names, a.flags, f)
		}
	}
	return nil
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

func unknownCommand(names []string, commands []*cli.Command, name string) error {
	full := slices.Concat([]string{"gophd"}, names[1:])
	var all []string
	for _, c := range commands {
		all = append(all, c.Name)
		for _, sub := range c.Subcommands {
			all = append(all, c.Name+" "+sub.Name)
		}
	}
	hint := "to serve a directory: gophd -root DIR; gophd -help lists the commands"
	if len(names) > 1 {
		hint = "the commands are " + strings.Join(all, ", ")
	}
	if near := nearest(name, all); near != "" {
		hint = "did you mean " + strings.Join(append(full, near), " ") + "?"
	}
	return usageError(hint, "unknown command %q", strings.Join(append(full[1:], name), " "))
}

func unknownFlag(names []string, flags []cli.Flag, name string) error {
	var all []string
	for _, f := range flags {
		all = append(all, f.Names()...)
	}
	hint := strings.Join(slices.Concat([]string{"gophd"}, names[1:]), " ") + " -help lists the flags; an argument that begins with - stands behind --"
	if near := nearest(name, all); near != "" {
		hint = "did you mean -" + near + "?"
	}
	return usageError(hint, "unknown flag %q", "-"+name)
}
