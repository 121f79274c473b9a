package policy

// The codes of reports. Their meaning is in [Codes]; they never change.
const (
	CodeListingExposed  = "LISTING-EXPOSED"
	CodeRootMenu        = "ROOT-MENU"
	CodeName            = "NAME"
	CodeGlob            = "GLOB"
	CodeNameCollision   = "NAME-COLLISION"
	CodeNameLong        = "NAME-LONG"
	CodeNameUnspeakable = "NAME-UNSPEAKABLE"
	CodeOverBlock       = "OVER-BLOCK"
	CodeOverBlockStrict = "OVER-BLOCK-STRICT"
	CodeNewFiles        = "NEW-FILES"
	CodeHandWritten     = "HAND-WRITTEN"
	CodeBudget          = "BUDGET"
	CodeCoarsened       = "COARSENED"
	CodeRobotsMerged    = "ROBOTS-MERGED"
	CodeUnreadable      = "UNREADABLE"
	CodeTooLarge        = "TOO-LARGE"
	CodeSyntax          = "SYNTAX"
	CodeAgentName       = "AGENT-NAME"
	CodeMisplacedField  = "MISPLACED-FIELD"
	CodeGroupSwallowed  = "GROUP-SWALLOWED"
	CodePartName        = "PART-NAME"
	CodeUnnamedLeak     = "UNNAMED-LEAK"
	CodeDiffers         = "DIFFERS"
)

// CodeInfo documents a code of reports.
type CodeInfo struct {
	Code     string
	Severity Severity
	Meaning  string
	Hint     string // what to do
	Example  string
}

// Codes lists all codes of reports, with what they mean and an example each.
func Codes() []CodeInfo { return append([]CodeInfo(nil), codes...) }

var codes = []CodeInfo{
	{CodeListingExposed, Warning,
		"a denied menu lies above something allowed: readers that know only Disallow cannot be told to keep out of the one and not of the other",
		"move what is allowed out of the directory, or deny all of it",
		"Disallow: / and Allow: /about.txt in phlog/drafts/.robots expose the menu /phlog/drafts/"},
	{CodeRootMenu, Warning,
		"the root menu has the empty selector, and without * no Disallow reaches it",
		"nothing to do: robots without globs see the names in the root menu, nothing else",
		"Disallow: / in the root's .robots"},
	{CodeName, Warning,
		"a name cannot be written so that every reader understands it",
		"rename it: # and * mean something in a robots.txt, and so does a blank at the end",
		"a denied file a#b beside an allowed one ab: a reader without globs takes a#b as allowed"},
	{CodeGlob, Warning,
		"the denied files of a directory are too many to list; they are denied by a pattern, which readers without globs do not understand",
		"put them into a directory of their own, and deny that",
		"Disallow: *.zip in a directory of ten thousand files"},
	{CodeNameCollision, Warning,
		"two names are the same to a reader that decodes percent escapes, and one of them is denied: both are",
		"rename one of them",
		"x%41 and xA in one directory"},
	{CodeNameLong, Notice,
		"a selector has more than 255 octets: many clients do not send it",
		"shorten the names",
		"a file ten directories down with a sentence for a name each"},
	{CodeNameUnspeakable, Notice,
		"a name holds a control octet: no request can ask for it, and it is never written",
		"rename it",
		"a file called x, line feed, Allow: /"},
	{CodeOverBlock, Warning,
		"a rule bars something allowed for readers that cannot be told the exception",
		"rename the one or the other, so that the denied name does not begin the allowed one",
		"Disallow: /x.txt bars x.txt.gz, too, unless the reader knows Allow"},
	{CodeOverBlockStrict, Warning,
		"a rule for one robot bars all robots that are strict Gopher readers: they ignore User-agent",
		"deny it to all robots, or to none",
		"User-agent: greedybot and Disallow: / in phlog/.robots"},
	{CodeNewFiles, Notice,
		"the names in this directory are listed one by one; a robot that holds yesterday's robots.txt takes a new one as allowed",
		"deny the directory as a whole, and put what is allowed elsewhere",
		"Disallow: *.zip in files/.robots"},
	{CodeHandWritten, Warning,
		"a hand-written robots.txt is served octet for octet, and some readers take what it denies as allowed",
		"rename it to .robots: then it is compiled for all readers",
		"Disallow: /private/ says nothing of the selector private/"},
	{CodeBudget, Warning,
		"the robots.txt grows large: robots need not read more than 500 KiB of it",
		"deny whole directories rather than single files",
		"a Disallow that leaves ten thousand files to be listed"},
	{CodeCoarsened, Error,
		"the robots.txt would be too large: this directory is denied as a whole",
		"deny whole directories rather than single files in it",
		"ten thousand rules in ~mallory/.robots"},
	{CodeRobotsMerged, Error,
		"the robots.txt would be too large with a group for each robot: what is denied to this one is denied to all",
		"name fewer robots",
		"200 User-agent lines in ~mallory/.robots"},
	{CodeUnreadable, Error,
		"the annotation cannot be read: its directory is denied until it can be",
		"chmod a+r the file and a+rx its directory, or remove it",
		"chmod 0 phlog/.robots"},
	{CodeTooLarge, Error,
		"the annotation says more than can be taken into account: its directory is denied",
		"say it shorter: patterns may contain *",
		"10,001 rules in ~mallory/.robots"},
	{CodeSyntax, Error,
		"a line that means nothing; the others hold",
		"fields are User-agent, Disallow, Allow; a comment begins with #",
		"Disalow: /drafts/"},
	{CodeAgentName, Error,
		"the value of User-agent is no product token: letters, digits, - _ . and at most 64 of them; the line names nobody",
		"write the name the robot gives itself, without version and address",
		"User-agent: \"my robot\""},
	{CodeMisplacedField, Warning,
		"the field is about the whole site and has no effect here",
		"ask the administrator to put it into the root's annotation",
		"Crawl-delay: 10 in phlog/.robots"},
	{CodeGroupSwallowed, Warning,
		"a group without rules is one with the group that follows: its robots are told the same",
		"write Allow: / into it, or move its fields below the rules of another group",
		"User-agent: * and Crawl-delay: 5 before User-agent: badbot and Disallow: /"},
	{CodePartName, Warning,
		"a reader after the 1994 standard looks for the name of a group anywhere in its own: one that nobody names takes the group of another and is let in with it",
		"name robots by their whole name, or name the others, too",
		"User-agent: bot and Allow: / where all others are kept out let in gptbot, too"},
	{CodeUnnamedLeak, Error,
		"the proof has found a leak that no report names: the file is not served",
		"it is a mistake in gophd: please report it, with the tree",
		"none is known"},
	{CodeDiffers, Error,
		"the server has another robots.txt than the directory",
		"is that the directory it serves? at SIGHUP gophd reads it anew",
		"gophd robots check with the URL of a server and -root"},
}

// NewReport makes a report with the severity and the hint of its code, for what
// is found beside the compilation, too.
func NewReport(code, file string, line int, message string) Report {
	r := Report{Code: code, File: file, Line: line, Message: message}
	r.Readers, r.Victims, r.Leaks = []string{}, []string{}, []string{} // lists in JSON, never null
	for _, c := range codes {
		if c.Code == code {
			r.Severity, r.Hint = c.Severity, c.Hint
		}
	}
	return r
}
