package check

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/process/sandbox"
)

// Check is gophd check.
type Check struct {
	Options
	Account string // flag -user
	JSON    bool
	Against comparison // if its URL is set, the command compares with that server instead of checking the tree
	From    string     // if set, the command translates the configuration of that server instead
	Out     io.Writer
}

// Check checks a directory and prints the findings. Exit status 1 if something is
// lost.
func (c *Check) Check(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return exit.Usagef("gophd check DIR", "check takes one directory")
	}
	if c.From != "" {
		return c.translate(args[0])
	}
	name := c.Account
	if name == "" && os.Geteuid() == 0 {
		name = "nobody" // root can read everything, and should not serve
	}
	if name != "" {
		u, err := sandbox.LookUpUser(name)
		if err != nil {
			return exit.Usagef("-user takes an account of this machine", "%w", err)
		}
		c.User, c.Named = &u, c.Account != ""
	}
	var result *Outcome
	var err error
	if c.Against.URL != "" {
		result, err = compare(ctx, args[0], c.Options, c.Against)
	} else {
		result, err = examineSite(ctx, args[0], c.Serve.VirtualHosts(), c.Options)
	}
	if err != nil {
		return exit.Directory("DIR", args[0], nil, fmt.Errorf("checking: %w", err))
	}
	if c.JSON {
		if result.Findings == nil {
			result.Findings = []diag.Diagnostic{}
		}
		err = terminal.PrintJSON(c.Out, result)
	} else {
		err = terminal.PrintText(c.Out, result.text(args[0], c.Against.URL))
	}
	if err == nil && (result.Lost+result.Silent > 0 || result.tooFew()) {
		return exit.ErrNo
	}
	return err
}

// text returns the result for people: the findings, each hint once, and a summary of the tree, or
// of the comparison with a server.
func (r *Outcome) text(dir, server string) string {
	var b strings.Builder
	hinted := map[string]bool{"": true}
	differ := map[string]bool{}
	for _, d := range r.Findings {
		if d.Code != codeSilent && d.Code != codeHost {
			differ[d.File] = true
		}
		if hinted[d.Hint] {
			d.Hint = ""
		}
		hinted[d.Hint] = true
		b.WriteString(d.Text())
	}
	if server != "" {
		for _, class := range r.Classes {
			fmt.Fprintf(&b, "%s (%s): %d %s\n", class.Tree,
				class.Owner, class.Count, class.Code)
		}
		fmt.Fprintf(&b, "%s: %s, %d with a difference", server,
			diag.Count(r.Asked, "selector", "selectors"), len(differ))
		switch {
		case r.Silent > 0:
			fmt.Fprintf(&b, ", %d lost, %d not compared\n", r.Lost, r.Silent)
		case r.tooFew():
			b.WriteString("; its root menu links nothing on that server, so nothing else was compared: is the name right? (-host)\n")
		default:
			fmt.Fprintf(&b, ", %d lost\n", r.Lost)
		}
		return b.String()
	}

	warnings := 0
	for _, p := range r.Parts {
		warnings += p.Warnings
		if len(r.Parts) > 1 {
			fmt.Fprintf(&b, "%s (%s): %s: %d lost, %s\n", p.Tree,
				p.Owner, p.Amounts, p.Lost,
				diag.Count(p.Warnings, "warning", "warnings"))
		}
	}
	fmt.Fprintf(&b, "%s: %s: ", dir, r.Amounts)
	if len(r.Findings) == 0 {
		b.WriteString("served as they are\n")
	} else {
		fmt.Fprintf(&b, "%d lost, %s, %s\n", r.Lost, diag.Count(warnings, "warning", "warnings"),
			diag.Count(len(r.Findings)-r.Lost-warnings, "notice", "notices"))
	}
	fmt.Fprintf(&b, "robots.txt: %d bytes, from %s\n", r.RobotsBytes,
		diag.Count(r.Annotations, "annotation", "annotations"))
	return b.String()
}
