package main

// The help of the robots commands; each text closes the help of a command.
const (
	robotsHelp = `gophd robots: {{.Usage}}

Usage:
{{range .VisibleCommands}}  gophd robots {{printf "%-8s" .Name}} {{.Usage}}
{{end}}
gophd robots COMMAND -help tells more.
`
	showHelp = `
F gopher is the file as it is served; the others are the same policy in another
standard. What that cannot say is listed on standard error.
`
	checkHelp = `
Prints what is doubtful in the annotations below DIR, and how each kind of robot
reads the robots.txt made of them: leaks are selectors that it takes although it
must not, over-blocks those that it leaves although it may. With the URL of a
server its robots.txt is compared with that of DIR, and proven against DIR. Exit
status 1 if there is an error, a leak that no report names, or a difference.
`
	explainHelp = `
Tells for each SELECTOR what the annotations below DIR say to robot NAME, which
line decides, what it overrules, the line of robots.txt that says so, and what
each kind of robot makes of it. Exit status 1 if the policy denies any.
`
	testHelp = `
Exit status 1 if any selector is denied. For an IRC network the selector may be
left out: its CRAWLER token speaks for all of it.
` + targetHelp
	lintHelp = `
Exit status 1 if there is more than notes.
` + targetHelp
	convertHelp = `
What cannot be said in the other dialect is listed on standard error.
` + targetHelp

	targetHelp = `
TARGET is a robots.txt, - (standard input), a directory, or a URL of the scheme
gopher, gophers, http, https, irc or ircs.
D is gopher (with groups), gopher-strict, veronica2, rfc9309, 1994, extended or
ircv3. Without it: rfc9309 for http and https, ircv3 for irc and ircs, else
gopher.
`
)
