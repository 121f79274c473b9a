package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// targetFlags are those of every command that takes a TARGET.
func targetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "dialect", Usage: "`D` to read it in (default: by target)", EnvVars: env("dialect")},
		&cli.StringFlag{Name: "max-size", Value: "500KiB", Usage: "`SIZE` at which reading stops", EnvVars: env("max-size")},
		timeoutFlag(), insecureFlag(), jsonFlag(),
	}
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Value: "*", Usage: "`NAME` the robot's product token", EnvVars: env("agent")}
}

// agentOf gives the product token of -agent: its first word, without a version
// (R3).
func agentOf(c *cli.Context) (string, error) {
	name := strings.TrimSpace(c.String("agent"))
	if i := strings.IndexAny(name, "/ \t;("); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		return "", usageError("the name that the robot gives itself, such as -agent veronica", "-agent %q names nobody", c.String("agent"))
	}
	return name, nil
}

func timeoutFlag() cli.Flag {
	return &cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "`DURATION` for asking a host", EnvVars: env("timeout")}
}

func insecureFlag() cli.Flag {
	return &cli.BoolFlag{Name: "insecure", Usage: "take any certificate", EnvVars: env("insecure")}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "answer in JSON", EnvVars: env("json")}
}
