package main

import (
	"fmt"
	"io"
	"strings"
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
	helpLine    = "  -help                      print this\n"
	versionLine = "  -version                   print the version\n"
	appEnd      = `
gophd COMMAND -help says more. Every flag has an environment variable: -root is
GOPHD_ROOT. Exit status: 0, 1 (the answer is no), 2 (wrong), 3 (may work later).
`
)

// help prints the help of a command: usage, commands or flags, description.
func (c *call) help() {
	var b strings.Builder
	switch {
	case c.path == "gophd":
		b.WriteString(appUsage)
		last := ""
		for _, o := range c.flags {
			if o.category != last {
				b.WriteString("\n" + o.category + "\n")
				last = o.category
			}
			b.WriteString(o.line())
		}
		b.WriteString("\nOther\n" + helpLine + versionLine + appEnd)
	case len(c.commands) > 0:
		fmt.Fprintf(&b, "%s: %s\n\nUsage:\n", c.path, c.usage)
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "  %-21s %s\n", sub.path, sub.usage)
		}
		fmt.Fprintf(&b, "\n%s COMMAND -help says more.\n", c.path)
	default:
		fmt.Fprintf(&b, "%s: %s\n\nUsage:\n  %[1]s [FLAG]... %[3]s\n\nFlags:\n", c.path, c.usage,
			c.args)
		for _, o := range c.flags {
			b.WriteString(o.line())
		}
		b.WriteString(helpLine + c.description)
	}
	_, _ = io.WriteString(c.out, b.String())
}

// line formats a flag: -name VALUE  usage (default).
func (o *option) line() string {
	name, usage := "-"+o.name, o.usage
	if !o.toggle {
		name += " " + o.value
		if def := o.shownDefault(); def != "" && !strings.Contains(usage, "default") {
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
