package main

import (
	"github.com/urfave/cli/v2"
)

// robotsCommand holds all that has to do with robots.txt.
func robotsCommand() *cli.Command {
	return &cli.Command{
		Name: "robots", Usage: "make, test and explain robots.txt", ArgsUsage: "COMMAND ...",
		Subcommands: []*cli.Command{
			robotsCommandOf("show", "print the robots.txt of a directory", "-root DIR", showHelp, showRobots, showFlags()...),
			robotsCommandOf("check", "what is doubtful in it, and what each robot makes of it", "-root DIR [URL]", checkHelp, checkRobots, checkFlags()...),
			robotsCommandOf("explain", "why a robot may fetch a selector or not", "-root DIR SELECTOR...", explainHelp, explainRobots,
				rootFlag(), agentFlag(), jsonFlag()),
			robotsCommandOf("test", "may a robot fetch these selectors?", "TARGET SELECTOR...", testHelp, testRobots,
				append(targetFlags(), agentFlag())...),
			robotsCommandOf("lint", "what in a robots.txt has no effect or a doubtful one", "TARGET", lintHelp, lintRobots, targetFlags()...),
			robotsCommandOf("convert", "write a robots.txt in another dialect", "-to D TARGET", convertHelp, convertRobots, convertFlags()...),
		},
		Action:             func(*cli.Context) error { return usageError("gophd robots -help lists them", "robots wants a command") },
		OnUsageError:       badUsage,
		HideHelpCommand:    true,
		CustomHelpTemplate: robotsHelp,
	}
}

func robotsCommandOf(name, usage, args, more string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: args, Flags: flags, Action: action,
		OnUsageError: badUsage, CustomHelpTemplate: commandHelp + more, HideHelpCommand: true,
	}
}
