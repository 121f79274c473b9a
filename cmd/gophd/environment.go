package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/systemd"
)

// orchestrated matches the variables that Kubernetes sets for services named gophd*.
var orchestrated = regexp.MustCompile(`^GOPHD_(.*_)?(SERVICE|PORT)_|^GOPHD_(.*_)?PORT=(tcp|udp|sctp)://`)

// plainWords replaces yes, no, on and off of flags that are true or false, in the
// environment and in args, by the words that the flag library reads, and unsets empty
// variables. It must run before the flags are parsed.
func plainWords(app *cli.App, args []string) []string {
	args = slices.Clone(args)
	for _, f := range allFlags(app) {
		for _, name := range f.(cli.DocGenerationFlag).GetEnvVars() {
			if os.Getenv(name) == "" {
				_ = os.Unsetenv(name)
			}
		}
		toggle, ok := f.(*cli.BoolFlag)
		if !ok {
			continue
		}
		for _, name := range toggle.EnvVars {
			if word, ok := truths[strings.ToLower(os.Getenv(name))]; ok {
				_ = os.Setenv(name, word)
			}
		}
		for i, arg := range args {
			name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if word, ok := truths[strings.ToLower(value)]; ok && arg[0] == '-' && name == toggle.Name {
				args[i] = "-" + name + "=" + word
			}
		}
	}
	for flag, variable := range map[string]string{"quiet": "GOPHD_V", "v": "GOPHD_QUIET"} { // the flag wins
		if slices.Contains(args, "-"+flag) || slices.Contains(args, "--"+flag) {
			_ = os.Unsetenv(variable)
		}
	}
	if port := "GOPHD_PORT"; orchestrated.MatchString(port + "=" + os.Getenv(port)) {
		_ = os.Unsetenv(port)
	}
	return args
}

var truths = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}

func allFlags(app *cli.App) []cli.Flag {
	flags := slices.Clone(app.Flags)
	var add func([]*cli.Command)
	add = func(list []*cli.Command) {
		for _, c := range list {
			flags = append(flags, c.Flags...)
			add(c.Subcommands)
		}
	}
	add(app.Commands)
	return flags
}

// checkEnvironment refuses a variable GOPHD_* that sets nothing.
func checkEnvironment(app *cli.App) error {
	known := map[string]bool{}
	for _, f := range allFlags(app) {
		for _, name := range f.(cli.DocGenerationFlag).GetEnvVars() {
			known[name] = true
		}
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		flag, ours := strings.CutPrefix(name, "GOPHD_")
		if !ours || known[name] || orchestrated.MatchString(variable) {
			continue
		}
		hint := "each flag of gophd -help has a variable: -root is GOPHD_ROOT"
		flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		if near := strings.TrimLeft(cli.SuggestFlag(app.Flags, flag, false), "-"); near != "" && diag.Distance(near, flag, 3) < 3 {
			hint = fmt.Sprintf("did you mean %s? %s", env(near)[0], hint)
		}
		return exit.Usagef(hint, "unknown variable %s", name)
	}
	return nil
}

// unparsed are the flag library's messages about a value: of a variable, and of a flag.
var unparsed = []*regexp.Regexp{
	regexp.MustCompile(`^could not parse ("(?:[^"\\]|\\.)*") as .* value from environment variable "(\w+)" for flag ([\w-]+): `),
	regexp.MustCompile(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?(-([\w-]+)): `),
}

// badValue explains a value that the library could not parse, or returns nil.
func badValue(c *cli.Context, err error) error {
	for _, message := range unparsed {
		m := message.FindStringSubmatch(err.Error())
		if m == nil {
			continue
		}
		want := "a number"
		for _, f := range c.Command.Flags {
			if f.Names()[0] != m[3] {
				continue
			}
			switch f.(type) {
			case *cli.BoolFlag:
				want = "yes or no"
			case *cli.DurationFlag:
				want = "a DURATION, such as 90s or 10m"
			}
		}
		return exit.Usagef("want "+want, "%s is %s", m[2], m[1])
	}
	return nil
}

// flagName matches what may be a flag in a message, and the value that follows it.
var flagName = regexp.MustCompile(`(^|[ (])-([a-z]+(?:-[a-z]+)*)( (?:[A-Z0-9:/']|(?:nobody|gophd|gopher|view|page|off|slow|refuse|poll|inotify|require|auto|json)\b))?`)

// inUnit names the settings of a service in place of flags, if systemd started gophd. Flags
// that the unit itself has keep their names.
func inUnit(app *cli.App, args []string, err error) error {
	var e *exit.CommandError
	if !systemd.InUnit() || !errors.As(err, &e) || e.Err == nil {
		return err
	}
	flags := map[string]bool{}
	for _, f := range app.Flags {
		flags[f.Names()[0]] = !slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			return strings.HasPrefix(arg, "-") && name == f.Names()[0]
		})
	}
	rename := func(text string) string {
		if strings.Contains(text, "GOPHD_") {
			return text
		}
		return flagName.ReplaceAllStringFunc(text, func(found string) string {
			m := flagName.FindStringSubmatch(found)
			if !flags[m[2]] {
				return found
			}
			return m[1] + env(m[2])[0] + strings.Replace(m[3], " ", "=", 1)
		})
	}
	hint := rename(e.Hint)
	if !strings.Contains(hint, "/etc/") && !strings.Contains(hint, "systemctl") {
		hint = strings.TrimPrefix(hint+"; settings are in /etc/default/gophd", "; ")
	}
	return &exit.CommandError{Status: e.Status, Err: errors.New(rename(err.Error())), Hint: hint}
}

// seeDoctor adds to the hint of a server that could not start where to look further.
func seeDoctor(err error) error {
	var e *exit.CommandError
	if errors.As(err, &e) && e.Err != nil {
		return &exit.CommandError{Status: e.Status, Err: err, Hint: strings.TrimPrefix(e.Hint+"; gophd doctor looks at everything", "; ")}
	}
	return err
}
