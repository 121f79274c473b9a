package robotscmd

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/convert"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/site"
)

// Formats are the standards that show can write the policy in.
var Formats = []string{"gopher", "rfc9309", "1994", "extended", "ircv3"}

// Show prints what gophd -root DIR would answer at robots.txt, or the same
// in another standard.
func (c *Command) Show(ctx context.Context) error {
	format, err := formatOf(c.Format)
	if err != nil {
		return err
	}
	snap, err := c.readRoot(ctx)
	if err == nil {
		err = c.atMost(0)
	}
	if err != nil {
		return err
	}
	if leaks := snap.Compiled.Unproven(); len(leaks) > 0 {
		exit.Say(c.Err, fmt.Sprintf("not proven, so everything is denied: %v", leaks[0]), "gophd robots check lists all leaks")
	}
	if c.Hash {
		_, err := fmt.Fprintf(c.Out, "%s  policy\n%s  robots.txt\n", snap.Compiled.Hash(), snap.Compiled.FileHash())
		return err
	}
	show := shown{snap: snap, format: format}
	text, lost := show.text()
	if c.Annotate {
		text = show.annotated(text)
	}
	if err := printFile(c.Out, []byte(text)); err != nil {
		return err
	}
	if format == readers.IRCv3 && text == "" {
		exit.Say(c.Err, "no CRAWLER token: nothing is said about indexing", "put Index: allow or Index: deny into the root's .robots")
	}
	return c.printLost(format.String(), lost)
}

func formatOf(name string) (readers.Dialect, error) {
	for _, f := range Formats {
		if f == name {
			return readers.ParseDialect(name)
		}
	}
	return 0, exit.Usagef("one of "+strings.Join(Formats, ", "), "unknown -format %q", name)
}

// readRoot reads the site of the directory that -root names, or else the first
// argument, as gophd would serve it with the same flags.
func (c *Command) readRoot(ctx context.Context) (*site.Snapshot, error) {
	if c.Root == "" && len(c.Args) > 0 {
		c.Root, c.Args = c.Args[0], c.Args[1:]
	}
	if c.Root == "" {
		return nil, exit.Usagef("name it after the command: ./content, or set GOPHD_ROOT", "no directory is named")
	}
	conf, _, err := c.Serve.Parts()
	if err != nil {
		return nil, err
	}
	conf.Sitemaps = c.sitemaps
	var snap *site.Snapshot
	if at := strings.Trim(c.At, "/"); at != "" {
		var read atomic.Int64
		defer c.progress(read.Load)()
		snap, err = site.LoadAt(c.Root, at, &read)
	} else {
		snap, err = c.readSite(ctx, conf)
	}
	if err != nil {
		return nil, exit.Root(c.Root, err)
	}
	return snap, nil
}

// readSite runs a site until it has its first snapshot.
func (c *Command) readSite(ctx context.Context, conf site.Config) (*site.Snapshot, error) {
	conf.Watch, conf.Names = site.WatchOff, true
	s, err := site.Open(c.Root, conf)
	if err != nil {
		return nil, err
	}
	defer c.progress(s.Scanned)()
	snap, stop, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	return snap, stop()
}

func (c *Command) progress(read func() int64) (stop func()) {
	return terminal.Progress(c.Err, func() string { return fmt.Sprintf("reading %s: %d directories", c.Root, read()) })
}

// shown is the policy of a tree in one standard.
type shown struct {
	snap   *site.Snapshot
	format readers.Dialect
}

// text returns the file, and what could not be said.
func (s shown) text() (text string, lost []diag.Diagnostic) {
	if s.format == readers.Gopher {
		return string(s.snap.Robots), nil
	}
	out, problems := convert.File(robots.Parse(readers.RFC9309, s.snap.Robots), s.format)
	if s.format == readers.IRCv3 {
		out = s.token(out)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if !bare(line) {
			b.WriteString(line)
		}
	}
	return b.String(), s.lost(problems)
}

// bare reports whether a rule is for selectors without a leading slash, which
// are no paths to other standards than Gopher's.
func bare(line string) bool {
	field, pattern, _ := strings.Cut(strings.TrimSpace(line), ": ")
	if field != "Allow" && field != "Disallow" || pattern == "" {
		return false
	}
	return pattern[0] != '/' && pattern[0] != '*'
}

// lost returns each problem once, although it may stand in several groups of the
// file, with its place in an annotation if it has one.
func (s shown) lost(problems []diag.Diagnostic) []diag.Diagnostic {
	lines := strings.Split(string(s.snap.Robots), "\n")
	seen := map[diag.Diagnostic]bool{}
	var list []diag.Diagnostic
	for _, d := range problems {
		if d.Line > 0 && s.said(lines[d.Line-1]) {
			continue
		}
		f := d
		f.File = "robots.txt"
		if from := s.snap.Compiled.Source(d.Line); from != nil {
			f.File, f.Line = from.File, from.Line
		}
		if once := (diag.Diagnostic{File: f.File, Message: f.Message}); !seen[once] {
			seen[once] = true
			list = append(list, f)
		}
	}
	return list
}

// said reports whether nothing is lost with a line: of selectors without a slash,
// one of the two that say that all is allowed, or one that the token says.
func (s shown) said(line string) bool {
	token := s.format == readers.IRCv3 && (strings.HasPrefix(line, "Index: ") || strings.HasPrefix(line, "Cooldown: "))
	return token || bare(line) || line == "Allow: /" || line == "Disallow: /.robots"
}

// token writes the CRAWLER token that the fields Index and Cooldown ask for.
// Without Index rules that deny everything deny, but a permission must be said.
func (s shown) token(fromRules []byte) []byte {
	c := s.snap.Compiled.Fields().Crawler()
	said, _ := robots.Parse(readers.IRCv3, fromRules).Crawler()
	if c.Index == readers.IndexUnspecified && said.Index == readers.IndexDeny {
		c.Index = said.Index
	}
	if c.Index == readers.IndexUnspecified {
		return nil
	}
	return []byte(c.String() + "\n")
}

// annotated puts above each line the place it comes from, as a comment.
func (s shown) annotated(text string) string {
	sources := s.sources()
	var b strings.Builder
	agent := ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
			agent = name
		}
		if from := sources[agent+key(line)]; from != "" {
			_, _ = fmt.Fprintf(&b, "# %s\n", from)
		}
		b.WriteString(line)
	}
	return b.String()
}

// sources returns the place that each line of each group comes from. Its keys are
// the lines as this standard writes them. It marks rules that match nothing now.
func (s shown) sources() map[string]string {
	sources, nothing := map[string]string{}, map[string]bool{}
	for _, r := range s.snap.Reports {
		if r.Code == policy.CodeNoMatch {
			nothing[place(r.File, r.Line)] = true
		}
	}
	agent, n := "", 0
	for line := range strings.Lines(string(s.snap.Robots)) {
		n++
		if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
			agent = name
		}
		from := s.snap.Compiled.Source(n)
		if from == nil {
			continue
		}
		said := place(from.File, from.Line)
		if nothing[said] {
			said += ": " + notThere(strings.HasPrefix(line, "Allow: "))
		}
		for _, as := range s.written(line) {
			if sources[agent+key(as)] == "" {
				sources[agent+key(as)] = said
			}
		}
	}
	return sources
}

// written returns a line in the standard, and what else it becomes there.
func (s shown) written(line string) []string {
	list := []string{line}
	if s.format == readers.Gopher {
		return list
	}
	out, _ := convert.File(robots.Parse(readers.RFC9309, []byte("User-agent: *\n"+line)), s.format)
	for as := range strings.Lines(string(out)) {
		field, value, _ := strings.Cut(strings.TrimSpace(as), ":")
		if field != "User-agent" && field != "Robot-version" && value != "" && as != "Allow: /\n" {
			list = append(list, as)
		}
	}
	return list
}

// key returns the part of a line that all standards share: a pattern may differ only
// at its end.
func key(line string) string { return strings.TrimRight(line, "*$\r\n") }
