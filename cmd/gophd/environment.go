package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
)

// orchestrated matches the variables that Kubernetes sets for services named gophd*.
var orchestrated = regexp.MustCompile(`^GOPHD_(.*_)?(SERVICE|PORT)_|^GOPHD_(.*_)?PORT=(tcp|udp|sctp)://`)

// options lists the options of the program and of all commands.
func options(app *cli.App) (all []*option) {
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			if o, ok := f.(*option); ok { // all but -help and -version
				all = append(all, o)
			}
		}
	}
	var walk func([]*cli.Command)
	walk = func(list []*cli.Command) {
		for _, c := range list {
			add(c.Flags)
			walk(c.Subcommands)
		}
	}
	add(app.Flags)
	walk(app.Commands)
	return all
}

// given returns the option with a name, or an empty one.
func given(flags []cli.Flag, name string) *option {
	for _, f := range flags {
		if o, ok := f.(*option); ok && o.name == name {
			return o
		}
	}
	return &option{}
}

// checkNeeds refuses an option that has no effect without another one. If a variable sets it, it
// only warns, so that no upgrade stops a server.
func checkNeeds(flags []cli.Flag, warn func(error)) error {
	for _, f := range flags {
		o, ok := f.(*option)
		if !ok || o.needs == "" || o.from == byDefault {
			continue
		}
		other, needed := o.needed(flags)
		if other.text != other.def && other.text != "off" {
			continue
		}
		typed := "-" + o.name
		if !o.toggle {
			typed += " " + o.text
		}
		err := exit.Usagef(o.as(o.needs)+" "+o.as(typed), "%s without %s", o.shown(), o.as(needed))
		if o.from == byFlag {
			return err
		}
		warn(err)
	}
	return nil
}

// needed returns the option without which o has no effect, and how to type it: with its value
// unless any value will do.
func (o *option) needed(flags []cli.Flag) (other *option, typed string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(o.needs, "-"), " ")
	other = given(flags, name)
	if other.def != "" && other.def != "0" && other.def != "off" {
		return other, o.needs
	}
	return other, "-" + name
}

// as converts a flag with its value to the variable, if a variable sets o.
func (o *option) as(typed string) string {
	if o.from != byVariable {
		return typed
	}
	name, value, _ := strings.Cut(strings.TrimPrefix(typed, "-"), " ")
	variable := daemon.Variable(name)
	if value == "" {
		return variable
	}
	return variable + "=" + value
}

// checkEnvironment refuses unknown variables GOPHD_*.
func checkEnvironment(app *cli.App) error {
	known := map[string]bool{}
	for _, o := range options(app) {
		known[daemon.Variable(o.name)] = true
	}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		flag, ours := strings.CutPrefix(name, "GOPHD_")
		if !ours || value == "" || known[name] || orchestrated.MatchString(variable) {
			continue
		}
		hint := "each flag of gophd -help has a variable: -root is GOPHD_ROOT"
		flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		if near := strings.TrimLeft(cli.SuggestFlag(app.Flags, flag, false), "-"); near != "" &&
			diag.Distance(near, flag, 3) < 3 {
			hint = fmt.Sprintf("did you mean %s? %s", daemon.Variable(near), hint)
		}
		return exit.Usagef(hint, "unknown variable %s", name)
	}
	return nil
}
