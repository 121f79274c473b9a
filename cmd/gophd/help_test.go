package main

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/command/exit"
)

// Each help fits a terminal and names every value.
func TestHelpFits(t *testing.T) {
	for _, command := range []string{
		"gophd", "gophd get", "gophd robots", "gophd robots show", "gophd robots check", "gophd robots explain",
		"gophd robots test", "gophd robots lint", "gophd robots convert",
	} {
		var out, errs strings.Builder
		status := run(t.Context(), append(strings.Fields(command), "-help"), nil, &out, &errs)
		if status != exit.OK || errs.Len() > 0 {
			t.Errorf("%s -help: status %d, %s", command, status, &errs)
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("%s -help: more than 80 columns: %s", command, line)
			}
			if strings.Contains(line, " value ") || strings.Contains(line, " int ") || strings.Contains(line, "m0s") {
				t.Errorf("%s -help: a value without a name: %s", command, line)
			}
		}
	}
}

// Every flag has the environment variable of its name, and a name for its value.
func TestEveryFlag(t *testing.T) {
	app := newApp()
	flags := app.Flags
	for _, c := range app.Commands {
		flags = slices.Concat(flags, c.Flags)
		for _, sub := range c.Subcommands {
			flags = slices.Concat(flags, sub.Flags)
		}
	}
	for _, f := range flags {
		doc, name := f.(cli.DocGenerationFlag), f.Names()[0]
		want := "GOPHD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if !slices.Equal(doc.GetEnvVars(), []string{want}) {
			t.Errorf("-%s has the variables %q, want %q", name, doc.GetEnvVars(), want)
		}
		if value, _ := flag.UnquoteUsage(&flag.Flag{Usage: doc.GetUsage()}); doc.TakesValue() && strings.ToUpper(value) != value {
			t.Errorf("-%s: its value has no name: %s", name, doc.GetUsage())
		}
	}
}
