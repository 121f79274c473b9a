package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
)

// A command is gophd, or a command of it.
type command struct {
	path                     string // what users type: "gophd robots show"
	usage, args, description string
	flags                    []*option
	commands                 []*command
	run                      func(c *call, args []string) error
}

// newCommand returns a command that takes flags and arguments.
func newCommand(path, usage, args, description string, run func(*call, []string) error,
	flags ...*option) *command {
	return &command{
		path:        path,
		usage:       usage,
		args:        args,
		description: description,
		flags:       flags,
		run:         run,
	}
}

// find returns the command with a name, or nil.
func (c *command) find(name string) *command {
	for _, sub := range c.commands {
		if sub.path == c.path+" "+name {
			return sub
		}
	}
	return nil
}

// options lists the options of a command and of the commands below it.
func (c *command) options() []*option {
	all := slices.Clip(c.flags)
	for _, sub := range c.commands {
		all = append(all, sub.options()...)
	}
	return all
}

// A call is a command that a user has typed.
type call struct {
	context.Context
	*command
	in       io.Reader
	out, err io.Writer
}

// execute parses the words after a command, and runs it or the command that the first argument
// names. Flags may stand between the arguments, but not after "--".
func (c *call) execute(words []string) error {
	var args []string
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" {
			args = append(args, words...)
			break
		}
		if len(c.commands) > 0 && args == nil && !isDir(word) &&
			slices.Contains([]string{"h", "help", "version"}, word) {
			word = "-" + word
		}
		name, isFlag := strings.CutPrefix(word, "-")
		if !isFlag || name == "" {
			if sub := c.find(word); sub != nil && args == nil {
				c.tellOfDirectory(word, len(words))
				next := *c
				next.command = sub
				return next.execute(words)
			}
			args = append(args, word)
			if len(c.commands) > 0 && len(c.flags) == 0 {
				break // there is no such command
			}
			continue
		}

		name, value, hasValue := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch name {
		case "h", "help":
			c.help()
			return nil
		case "version":
			_, err := fmt.Fprintln(c.out, "gophd", version())
			return err
		}
		o := given(c.flags, name)
		switch {
		case o.name == "":
			return c.unknownFlag(name)
		case o.toggle && !hasValue:
			value = "yes"
		case !hasValue && len(words) == 0:
			return exit.Usagef(o.wanted(), "-%s has no value", name)
		case !hasValue:
			value = words[0]
			words = words[1:]
		}
		if err := o.set(value); err != nil {
			return err
		}
	}
	if len(args) > 0 && args[0] == "" {
		return exit.Usagef("is a shell variable unset?", "the first argument of %s is empty", c.path)
	}
	for _, o := range c.flags {
		if err := o.readVariable(); err != nil {
			return err
		}
	}
	return c.run(c, args)
}

// tellOfDirectory prints that an argument, the last one, is a command, if a directory has the same
// name.
func (c *call) tellOfDirectory(name string, more int) {
	if more == 0 && c.path == "gophd" && isDir(name) {
		exit.Say(c.err,
			fmt.Sprintf("%s is taken as a command, not as the directory of that name", name),
			"to serve the directory: "+diag.Command("gophd", "./"+name))
	}
}

func (c *call) unknownCommand(name string) error {
	var names []string
	for _, sub := range c.commands {
		names = append(names, sub.path)
	}
	hint := c.path + " -help lists the commands"
	if near := nearest(names, c.path+" "+name); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	if c.path == "gophd" {
		return exit.Usagef(hint+"; to serve a directory: gophd DIR",
			"no directory and no command is called %q", name)
	}
	_, below, _ := strings.Cut(c.path+" "+name, " ")
	return exit.Usagef(hint, "unknown command %q", below)
}

func (c *call) unknownFlag(name string) error {
	hint := c.path + " -help lists the flags; an argument that begins with - stands after --"
	if near := nearest(optionNames(c.flags), name); near != "" {
		hint = "did you mean -" + near + "? " + hint
	}
	return exit.Usagef(hint, "unknown flag %q", "-"+name)
}

// nearest returns the name that differs least from another one, or "" if all differ much.
func nearest(names []string, name string) (best string) {
	limit := 3
	for _, near := range names {
		if d := diag.Distance(near, name, limit); d < limit {
			best, limit = near, d
		}
	}
	return best
}

// complete prints what may follow the words on a command line, for the completions of shells: flags
// if the last word begins with a hyphen, else commands.
func (c *command) complete(out io.Writer, words []string) {
	last := ""
	for _, last = range words {
		if sub := c.find(last); sub != nil {
			c = sub
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, name := range optionNames(c.flags) {
			if strings.HasPrefix(name, strings.TrimLeft(last, "-")) {
				_, _ = fmt.Fprintln(out, "-"+name)
			}
		}
		return
	}
	for _, sub := range c.commands {
		_, _ = fmt.Fprintln(out, strings.TrimPrefix(sub.path, c.path+" "))
	}
}
