package main

import (
	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/convert"
)

func convertFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "`D` the dialect it is written in (default: by target)", EnvVars: env("from")},
		&cli.StringFlag{Name: "to", Usage: "`D` the dialect to write", EnvVars: env("to")},
		&cli.StringFlag{Name: "max-size", Value: "500KiB", Usage: "`SIZE` at which reading stops", EnvVars: env("max-size")},
		timeoutFlag(), insecureFlag(), jsonFlag(),
	}
}

// conversion is what convert answers in JSON.
type conversion struct {
	Text string            `json:"text"`
	Lost []diag.Diagnostic `json:"lost"`
}

// convertRobots writes a file in another dialect, and what could not be said on
// standard error.
func convertRobots(c *cli.Context) error {
	if c.String("to") == "" {
		return usageError("gophd robots convert -from gopher -to rfc9309 robots.txt", "no -to")
	}
	to, err := dialectOf(c, "to", robots.Gopher)
	if err != nil {
		return err
	}
	s, err := oneTarget(c, "gophd robots convert -from gopher -to rfc9309 robots.txt")
	if err != nil {
		return err
	}
	from, err := dialectOf(c, "from", s.file.Dialect())
	if err != nil {
		return err
	}
	text, lost := convert.File(robots.Parse(from, s.file.AppendTo(nil)), to)
	list := inFile(s.name, lost)
	if c.Bool("json") {
		return printJSON(c.App.Writer, conversion{string(text), list})
	}
	if _, err := c.App.Writer.Write(text); err != nil {
		return err
	}
	return printLost(c, to, list)
}
