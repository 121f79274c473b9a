package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Report is one finding about a line of an annotation, or about the lines written for
// it.
type Report struct {
	diag.Diagnostic
	Selector string   `json:"selector"` // what it is about; may be empty
	Readers  []string `json:"readers"`  // names of the readers concerned
	Victims  []string `json:"victims"`  // allowed selectors that they take as denied; ten at most
	Leaks    []string `json:"leaks"`    // denied selectors that they take as allowed; ten at most
}

// NewReport makes a report with the severity and the hint of its code.
func NewReport(code, file string, line int, message string) Report {
	r := reportOf(diag.Diagnostic{
		Code:    code,
		File:    file,
		Line:    line,
		Message: message,
	})
	for _, c := range codes {
		if c.Code == code {
			r.Severity, r.Hint = c.Severity, c.Hint
		}
	}
	return r
}

// reportOf returns a report with a diagnostic and empty lists.
func reportOf(d diag.Diagnostic) Report {
	return Report{Diagnostic: d, Readers: []string{}, Victims: []string{}, Leaks: []string{}} // lists in JSON, never null
}

// The codes of reports, beside those of package lint about single lines. Their meaning is
// in [Codes]; they never change.
const (
	CodeAlias          = "ALIAS"
	CodeAnchor         = "ANCHOR"
	CodeCoarsened      = "COARSENED"
	CodeDiffers        = "DIFFERS"
	CodeDigits         = "DIGITS"
	CodeFinal          = "FINAL"
	CodeGlob           = "GLOB"
	CodeHandWritten    = "HAND-WRITTEN"
	CodeIndex          = "INDEX"
	CodeJoined         = "JOINED"
	CodeLost           = "LOST"
	CodeMatchedLength  = "MATCHED-LENGTH"
	CodeMisplacedField = "MISPLACED-FIELD"
	CodeName           = "NAME"
	CodeNoMatch        = "NO-MATCH"
	CodeNotRead        = "NOT-READ"
	CodeOverBlock      = "OVER-BLOCK"
	CodeOverruled      = "OVERRULED"
	CodePartName       = "PART-NAME"
	CodeProgram        = "PROGRAM"
	CodeReader         = "READER"
	CodeRootMenu       = "ROOT-MENU"
	CodeShownElsewhere = "SHOWN-ELSEWHERE"
	CodeTooLarge       = "TOO-LARGE"
	CodeUnnamedLeak    = "UNNAMED-LEAK"
	CodeUnreadable     = "UNREADABLE"
	CodeVeronicaHost   = "VERONICA-HOST"
)

// CodeInfo documents a code of reports.
type CodeInfo struct {
	Code     string
	Severity diag.Severity // the worst that it has
	Meaning  string
	Hint     string // what to do
	Example  string
}

// Codes lists all codes of reports, each with its meaning and an example.
func Codes() []CodeInfo { return slices.Clone(codes) }

var codes = []CodeInfo{
	{CodeAlias, diag.Notice,
		"a link or a mount leads to a directory below which an annotation denies something: the link is denied as a whole, and robots read the directory under its own name",
		"nothing to do, unless robots should follow the link: then move what is denied elsewhere",
		"blog -> phlog, and Disallow: /drafts/ in phlog/.robots"},
	{CodeAnchor, diag.Notice,
		"readers that do not know $ take what the rule denies as allowed",
		"leave out the $ to keep them out, and all robots out of every name that begins so (/log denies log-book.txt, too); or deny a directory, /log/, which all readers understand",
		"Disallow: /log$"},
	{CodeCoarsened, diag.Error,
		"the robots.txt would be too large for robots to read: this top-level directory takes more than its share, and is denied as a whole",
		"write fewer lines: deny whole directories, use *, name fewer robots",
		"ten thousand rules below ~mallory"},
	{CodeDiffers, diag.Error,
		"the server has another robots.txt than the directory",
		"check that the server serves this directory; gophd reads it again at SIGHUP",
		"gophd robots check with the URL of a server and -root"},
	{CodeDigits, diag.Notice,
		"what follows a * in the pattern begins with hexadecimal digits, so it matches a part of an escape: readers that do not escape names take what a Disallow denies in that way as allowed, and an Allow opens more to readers that escape more bytes, such as Python's since 3.15",
		"nothing to do, unless robots must be kept out of such names: then deny them, or allow others, by their beginning",
		"Disallow: /*9.txt, which matches é.txt, since that is %C3%A9.txt; Allow: /*9.txt, which to Python opens (2).txt, since that is %282%29.txt"},
	{CodeFinal, diag.Error,
		"Final takes a path, or /* and what follows; no robots.txt could keep an Allow further down from undoing this one, so it counts as a Disallow",
		"write the path of a directory, or begin with /*",
		"Final: /a*b"},
	{CodeGlob, diag.Warning,
		"readers that do not know * do not understand the pattern, and take what it denies as allowed",
		"move the denied names into a directory of their own, and deny that",
		"Disallow: /*.zip$"},
	{CodeHandWritten, diag.Warning,
		"a hand-written robots.txt is served byte for byte, and some readers interpret it differently from RFC 9309",
		"rename it to .robots: then gophd compiles it for all readers",
		"Disallow: /private/ says nothing of the selector private/"},
	{CodeIndex, diag.Notice,
		"Google applies an Allow of an index.html to its directory, too",
		"nothing to do, unless the menu of the directory is to be hidden from Google",
		"Disallow: /d/ and Allow: /d/index.html"},
	{CodeJoined, diag.Notice,
		"robots.txt would be too large, since many directories name robots: what one of them denies to some of these robots is denied to all of them, and what it allows them by name does not count",
		"write rules for User-agent: *, or name the robots in the root's annotation",
		"a list of 160 robots in each of 300 homes, in 30 versions"},
	{CodeLost, diag.Error,
		"a Disallow in a group whose User-agent lines name no robot keeps no robot out",
		"correct the User-agent line",
		"User-agent: *GoodBot* and Disallow: /"},
	{CodeMatchedLength, diag.Notice,
		"readers that count the text a rule has matched, such as Python's since 3.15, take what it denies as allowed where an Allow matches as much",
		"deny a directory, without * and $",
		"Disallow: /log$ and Allow: /log"},
	{CodeMisplacedField, diag.Warning,
		"the field is about the whole site and has no effect here, or gophd writes it into no robots.txt",
		"ask the administrator to put it into the root's annotation",
		"Crawl-delay: 10 in phlog/.robots"},
	{CodeName, diag.Warning,
		"some readers interpret a character of the name or of the Allow differently (temoto finds a pattern with * or $ anywhere in a path), so no rule for them can be written: they fetch more",
		"rename it, or allow it without * and $: to some readers #, %, =, ;, and a blank at an end are special, too",
		"Disallow: /a%23b for the name a#b"},
	{CodeNoMatch, diag.Warning,
		"the rule matches nothing that exists now; it is written to robots.txt for names to come",
		"check the spelling of the name; if the name is to come, do nothing",
		"Disallow: /draft/ beside a directory drafts"},
	{CodeNotRead, diag.Error,
		"the name resembles an annotation's, but the file is not read",
		"rename it to .robots",
		"phlog/robots.txt, .robots.txt or .Robots"},
	{CodeOverBlock, diag.Notice,
		"readers that do not know Allow, or need finer rules than they understand, treat something allowed as denied",
		"write separate lines for User-agent: veronica into the same annotation, or move the allowed names out of the denied directory",
		"Disallow: / and Allow: /about.txt in phlog/drafts/.robots"},
	{CodeOverruled, diag.Notice,
		"two annotations disagree: one below opens what this rule of the root denies, or an Allow does not count, since a Disallow above it must not be undone",
		"if nothing below may undo the Disallow of the root, write Final: in its place; if an Allow does not count, ask the administrator",
		"Disallow: /~bob/ in the root, and Allow: / in ~bob/.robots"},
	{CodePartName, diag.Notice,
		"some readers apply the group of a robot to all robots whose names contain its name, and let them in where only that robot is allowed",
		"deny the same to both robots",
		"User-agent: bot and an empty Disallow, and a robot that is called robotbot"},
	{CodeProgram, diag.Error,
		"a notice: an Allow that names a program does not open all of it, since a line that denies the program is longer. An error: what a program answers is neither a selector nor /* and the end of names, and the whole site is denied",
		"write the line that the report names; with the error gophd does not start",
		"Allow: /cgi-bin, where -fastcgi has /cgi-bin"},
	{CodeReader, diag.Notice,
		"a reader that is not among those of gophd takes an Allow of another group, or one that stands before the rule, and is let in",
		"deny the same to all robots, and allow nothing of it",
		"User-agent: bot and Allow: /x for a reader without groups"},
	{CodeRootMenu, diag.Notice,
		"a Disallow without * matches no selector without a leading slash, nor the empty one of the root menu",
		"nothing to do: robots that do not know * may request them",
		"Disallow: / in the root's .robots"},
	{CodeShownElsewhere, diag.Warning,
		"a rule denies a file whose content another selector shows",
		"deny that selector, too",
		"Disallow: /index.gmi, which is the menu of its directory"},
	{CodeTooLarge, diag.Error,
		"the annotations have more rules than gophd takes into account: their directory is denied",
		"write fewer lines: patterns may contain *",
		"1,001 rules in ~mallory/.robots"},
	{CodeUnnamedLeak, diag.Error,
		"a reader would be let in where the policy denies it, and no report says so: the directory of the rule is denied",
		"this is a fault in gophd: please report it, with the annotations",
		"none is known"},
	{CodeUnreadable, diag.Error,
		"the annotation cannot be read: its directory is denied until it can be",
		"remove it if it is a link or not meant; else let everybody read it (a+r) and enter its directory (a+rx)",
		diag.Command("chmod", "0", "phlog/.robots")},
	{CodeVeronicaHost, diag.Notice,
		"Veronica-2 removes a host that denies / from its list of servers, whatever it allows",
		"deny the directories instead, if people are to find the host",
		"Disallow: / and Allow: /pub/ in the root's .robots"},
}

// allReports returns the reports of the whole compilation.
func (w *work) allReports() []Report {
	list := slices.Clone(w.said)
	for _, n := range w.live() {
		list = append(list, n.reports...)
	}
	for _, n := range w.notes { // those that are below a directory that is denied
		if n.shut != nil {
			list = append(list, n.reports...)
		}
	}
	list = append(list, w.found...)
	if w.hand() {
		return list
	}
	for _, c := range w.all {
		list = append(list, c.notices(w.programs)...)
	}
	if w.joins > 0 {
		list = append(list, w.joinReports()...)
	}
	if w.isAliased {
		list = append(list, w.aliasReports()...)
	}
	return append(list, w.all[0].overruled()...)
}

// aliasReports reports the aliases that are denied, and the readers that the lines do not
// keep out of them: a link to a file is denied by its whole name.
func (w *work) aliasReports() (list []Report) {
	file := readers.Open(w.file)
	seen := map[string]bool{}
	for _, c := range w.all {
		for _, d := range c.rules {
			if d.links == "" || seen[d.file] {
				continue
			}
			seen[d.file] = true
			r := NewReport(CodeAlias, d.file, 0, d.value)
			sel := selector.Canonical(d.file, !isAnchored(d.uri))
			for _, row := range w.readers {
				if (row.Agent == "" || row.Agent == c.token) &&
					row.ReadFile(file).Allowed(c.token, sel) {
					r.Readers = append(r.Readers, row.Name)
					r.Leaks = []string{sel}
				}
			}
			list = append(list, r)
		}
	}
	return list
}

// notices reports rules that work, but perhaps not as their author expects.
func (c *composition) notices(programs []program) (list []Report) {
	overruled := func(r *rule, message string) {
		list = append(list, NewReport(CodeOverruled, r.file, r.line, message))
	}
	for _, s := range c.struck {
		overruled(s.allow, "it does not count: "+s.by.place()+
			", in a directory above, denies some of it")
		overruled(s.by, s.allow.place()+" does not count: it would open some of what this denies")
	}
	for _, s := range c.carried {
		overruled(s.allow, s.by.place()+", in a directory above, denies the path itself")
	}

	// What is carried below one Allow may close some of what another opens.
	opening := c.opening()
	for _, line := range c.rules {
		if line.below == nil {
			continue
		}
		for _, a := range slices.Concat(opening[""], opening[line.top()]) {
			if a == line.below || len(a.uri) >= len(line.uri) || !meets(a.uri, line.uri) {
				continue
			}
			if i := slices.IndexFunc(programs, func(p program) bool {
				return p.lines[0].file == line.file
			}); i >= 0 {
				if programs[i].names(a) {
					r := NewReport(CodeProgram, a.file, a.line,
						fmt.Sprintf("%s is denied below %s, which closes some of what this opens",
							line.file, line.below.place()))
					r.Severity = diag.Notice
					list = append(list, r)
				}
				continue
			}
			overruled(a, line.place()+" denies some of it below "+line.below.place())
			overruled(line, "below "+line.below.place()+" it denies some of what "+
				a.place()+" allows")
		}
	}
	for _, allows := range opening {
		for _, a := range allows {
			for _, p := range programs {
				list = append(list, p.reports(a)...)
			}
		}
	}

	for _, u := range c.uses {
		for _, o := range u.over {
			list = append(list,
				NewReport(CodeOverruled, o.yes.file, o.yes.line,
					fmt.Sprintf("%s says %s=n for some of it", o.no.place(), o.key)),
				NewReport(CodeOverruled, o.no.file, o.no.line,
					fmt.Sprintf("%s says %s=y for some of it", o.yes.place(), o.key)))
			for i := range 2 {
				list[len(list)-1-i].Hint = "nothing to do: the longest path counts, unless an annotation above names the robot"
			}
		}
	}
	return list
}

// overruled reports the root's rules that an Allow of an annotation below opens in
// part, and a "Disallow: /" that makes Veronica-2 leave out the host.
func (c *composition) overruled() (list []Report) {
	var allows []*rule
	opens := false
	for _, r := range c.rules {
		opens = opens || r.allow
		if r.allow && r.top() != "" {
			allows = append(allows, r)
		}
	}
	for _, d := range c.rules {
		if d.allow || d.top() != "" || d.line == 0 || d.final {
			continue
		}
		if i := slices.IndexFunc(allows, func(a *rule) bool { return d.concerns(a) }); i >= 0 {
			r := NewReport(CodeOverruled, d.file, d.line,
				fmt.Sprintf("%s:%d allows some of what it denies", allows[i].file, allows[i].line))
			r.Selector = allows[i].uri
			list = append(list, r)
		}
		if opens && d.uri == "/" {
			r := NewReport(CodeVeronicaHost, d.file, d.line,
				"Veronica-2 leaves out hosts that deny /")
			r.Selector = d.uri
			list = append(list, r)
		}
	}
	return list
}

// gather merges reports of the same line and code, and puts the worst first. The worst
// severity of the merged reports counts.
func gather(reports []Report, rows []readers.Reader) []Report {
	at := map[diag.Diagnostic]int{}
	var list []Report
	for _, r := range reports {
		key := diag.Diagnostic{Code: r.Code, File: r.File, Line: r.Line}
		if len(r.Readers) == 0 {
			key.Message = r.Message
		}
		i, ok := at[key]
		if !ok {
			at[key] = len(list)
			list = append(list, r)
			continue
		}
		l := &list[i]
		if r.Severity.Worse(l.Severity) {
			l.Severity = r.Severity
		}
		l.Readers = union(l.Readers, r.Readers, len(rows)+1)
		l.Victims, l.Leaks = union(l.Victims, r.Victims, maxExamples),
			union(l.Leaks, r.Leaks, maxExamples)
	}
	for i := range list {
		list[i].cure(rows)
	}
	slices.SortStableFunc(list, func(a, b Report) int {
		return cmp.Or(diag.Compare(a.Diagnostic, b.Diagnostic),
			strings.Compare(a.Selector, b.Selector))
	})
	return list
}

// cure adapts the hint of an over-block to its readers: lines for veronica help that reader
// alone.
func (r *Report) cure(rows []readers.Reader) {
	if r.Code != CodeOverBlock {
		return
	}
	isHers := func(row readers.Reader) bool {
		return row.Agent == veronica && slices.Contains(r.Readers, row.Name)
	}
	hasGroups := func(row readers.Reader) bool {
		return row.Groups && slices.Contains(r.Readers, row.Name)
	}
	switch {
	case slices.ContainsFunc(rows, isHers):
	case !slices.ContainsFunc(rows, hasGroups):
		r.Message = "strict Gopher readers apply every Disallow of the file"
		r.Hint = "nothing to do: these readers know no groups; or move the allowed names out of the denied directory"
	default:
		r.Hint = "move the allowed names out of the denied directory"
	}
}

// maxExamples is how many selectors a report names.
const maxExamples = 10

// union appends the strings that list lacks, up to a number in all.
func union(list, more []string, most int) []string {
	for _, s := range more {
		if !slices.Contains(list, s) && len(list) < most {
			list = append(list[:len(list):len(list)], s)
		}
	}
	return list
}
