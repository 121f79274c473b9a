// Package robotscmd is the commands "gophd robots ...": the robots.txt of a tree
// shown, checked and explained, and any other tested, linted and converted.
//
// They may print strangers' text, which passes through [terminal.PrintText]. Only whole
// files, from show and convert, are printed as they are.
package robotscmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/robots/readers"
)

// A Command is one of them, with its flags and arguments. Each method is a
// command; it reads the fields that it has a flag for. Errors come from
// package exit: [exit.ErrNo] if the command printed a negative answer.
type Command struct {
	Name string   // as it was called: "gophd robots lint"
	Args []string // its arguments

	Root     string        // the directory of show, check, explain
	Serve    daemon.Flags  // the other sources of the site
	At       string        // where it is served: "/~ann/"; "" for the root
	Agent    string        // a robot's name, as it sends it
	Dialect  string        // to read a target in; "": by the target
	From, To string        // dialects of convert
	Format   string        // one of [formats], of show
	MaxSize  int64         // bytes at which reading of a target stops
	Timeout  time.Duration // for asking a host
	Insecure bool          // take any certificate
	JSON     bool
	Annotate bool // show: above each rule where it comes from
	Verbose  bool // check: notices, too
	Hash     bool // show: the sum of the policy, not the file

	Version  string // of gophd, sent to hosts
	In       io.Reader
	Out, Err io.Writer
}

// atMost refuses all arguments after the first n.
func (c *Command) atMost(n int) error {
	if len(c.Args) > n {
		return exit.Usagef(c.Name+" -help lists what it takes", "unexpected argument %q", c.Args[n])
	}
	return nil
}

// product returns the product token of -agent: its first word, without a version
// (R3).
func (c *Command) product() (string, error) {
	name := readers.ProductToken(c.Agent)
	if name == "" {
		return "", exit.Usagef("the name that the robot gives itself, such as -agent veronica",
			"-agent %q names no robot", c.Agent)
	}
	return name, nil
}

// reportsText returns the reports for people: each as a line, in the next ones who
// is concerned and what to do. Notices are counted only, unless all are wanted.
func reportsText(reports []policy.Report, all bool) string {
	var b strings.Builder
	notices := 0
	for _, r := range reports {
		if r.Severity == diag.Notice && !all {
			notices++
			continue
		}
		if r.File == "" {
			r.File = "robots.txt"
		}
		more := func(what, text string) {
			if text != "" {
				fmt.Fprintf(&b, "    %s: %s\n", what, text)
			}
		}
		b.WriteString(r.String() + "\n")
		more("readers", strings.Join(r.Readers, ", "))
		more("leaks", quotedList(r.Leaks))
		more("victims", quotedList(r.Victims))
		more("hint", r.Hint)
	}
	if notices > 0 {
		fmt.Fprintf(&b, "%s (-v shows them)\n", diag.Count(notices, "notice", "notices"))
	}
	return b.String()
}

// print prints the result of a command, as text or JSON. The error is [exit.ErrNo] if the
// answer is no.
func (c *Command) print(result any, text string, yes bool) error {
	var err error
	if c.JSON {
		err = terminal.PrintJSON(c.Out, result)
	} else {
		err = terminal.PrintText(c.Out, text)
	}
	if err == nil && !yes {
		return exit.ErrNo
	}
	return err
}

// maxShown is how many selectors a report shows of those that JSON has.
const maxShown = 5

func quotedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i == maxShown {
			b.WriteString(" and more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}
