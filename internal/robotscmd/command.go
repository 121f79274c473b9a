// Package robotscmd is the commands "gophd robots ...": the robots.txt of a tree
// shown, checked and explained, and any other tested, linted and converted.
//
// What they print may be strangers' text; it passes through [diag.Printable]. Only
// a file that is shown or converted as a whole is printed as it is.
package robotscmd

import (
	"io"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/exit"
)

// A Command is one of them, with its flags and arguments. Each method is a
// command; it reads those fields that it has a flag for. Errors are those of
// package exit: [exit.ErrNo] if the answer, which was printed, is no.
type Command struct {
	Name string   // as it was called: "gophd robots lint"
	Args []string // its arguments

	Root     string        // the directory of show, check, explain
	At       string        // where it is served: "/~ann/"; "" for the root
	Agent    string        // a robot's name, as it sends it
	Dialect  string        // to read a target in; "": by the target
	From, To string        // dialects of convert
	Format   string        // one of [Formats], of show
	MaxSize  string        // where reading of a target stops; "": the default of package robots
	Timeout  time.Duration // for asking a host
	Insecure bool          // take any certificate
	JSON     bool
	Annotate bool // show: above each rule where it comes from
	Verbose  bool // check: notices, too
	Hash     bool // show: the sum of the policy, not the file

	Version  string // of gophd, told to hosts
	In       io.Reader
	Out, Err io.Writer
}

// atMost refuses all arguments after the first n.
func (c *Command) atMost(n int) error {
	if len(c.Args) > n {
		return exit.Usagef(c.Name+" -help tells what it takes", "unexpected argument %q", c.Args[n])
	}
	return nil
}

// product returns the product token of -agent: its first word, without a version
// (R3).
func (c *Command) product() (string, error) {
	name := strings.TrimSpace(c.Agent)
	if i := strings.IndexAny(name, "/ \t;("); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		return "", exit.Usagef("the name that the robot gives itself, such as -agent veronica", "-agent %q names nobody", c.Agent)
	}
	return name, nil
}
