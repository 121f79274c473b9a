package robotscmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/command/terminal"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/convert"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/site"
)

// formats are the standards that show can write the policy in.
var formats = []string{"gopher", "rfc9309", "1994", "extended", network}

// network is the format of the CRAWLER token of IRC networks.
const network = "ircv3"

// Show prints what gophd -root DIR would answer at robots.txt, or the same
// in another standard.
func (c *Command) Show(ctx context.Context) error {
	format := c.Format
	if !slices.Contains(formats, format) {
		return exit.Usagef("one of "+strings.Join(formats, ", "), "unknown -format %q", format)
	}
	snap, err := c.readRoot(ctx)
	if err == nil {
		err = c.atMost(0)
	}
	if err != nil {
		return err
	}
	if leaks := snap.Compiled.Unproven(); len(leaks) > 0 {
		exit.Say(c.Err, fmt.Sprintf("not proven, so everything is denied: %v", leaks[0]),
			"gophd robots check lists all leaks")
	}
	if c.Hash {
		_, err := fmt.Fprintf(c.Out, "%s  policy\n%s  robots.txt\n", snap.Compiled.Hash(),
			snap.Compiled.FileHash())
		return err
	}
	if c.Annotate && format != readers.Gopher.String() {
		return exit.Usagef("leave out -format: in another dialect no line has a source",
			"-annotate is for the file as it is served")
	}
	show := shown{snap: snap, format: format}
	text, lost := show.text()
	if c.Annotate {
		text = show.annotated()
	}
	if err := printFile(c.Out, []byte(text)); err != nil {
		return err
	}
	if format == network && text == "" {
		exit.Say(c.Err, "no CRAWLER token: the policy states nothing about indexing",
			"put Index: allow or Index: deny into the root's .robots")
	}
	return c.printLost(format, lost)
}

// readRoot reads the site of the directory that -root names, or else the first
// argument, as gophd would serve it with the same flags.
func (c *Command) readRoot(ctx context.Context) (*site.Snapshot, error) {
	if c.Root == "" && len(c.Args) > 0 {
		c.Root, c.Args = c.Args[0], c.Args[1:]
	}
	if c.Root == "" {
		return nil, exit.Usagef("name it after the command: ./content, or set GOPHD_ROOT",
			"no directory is named")
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
	conf.Watch, conf.Files = site.WatchOff, true
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
	return terminal.Progress(c.Err, func() string {
		return fmt.Sprintf("reading %s: %d directories", c.Root, read())
	})
}

// shown is the policy of a tree in one format.
type shown struct {
	snap   *site.Snapshot
	format string
}

// text returns the file, and the rules that the format cannot express.
func (s shown) text() (text string, lost []diag.Diagnostic) {
	file := robots.Parse(readers.RFC9309, s.snap.Robots)
	switch s.format {
	case readers.Gopher.String():
		return string(s.snap.Robots), nil
	case network:
		text, problems := s.token(file)
		return text, s.lost(problems)
	}
	dialect, _ := readers.ParseDialect(s.format)
	out, problems := convert.File(file, dialect)
	return string(out), s.lost(problems)
}

// lost returns each problem once, even if several groups of the file have it, with its line in
// an annotation if one caused it.
func (s shown) lost(problems []diag.Diagnostic) []diag.Diagnostic {
	lines := strings.Split(string(s.snap.Robots), "\n")
	seen := map[diag.Diagnostic]bool{}
	var list []diag.Diagnostic
	for _, d := range problems {
		if d.Line > 0 && s.isExpressed(lines[d.Line-1]) {
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

// isExpressed reports whether the format loses nothing by leaving out a line: the line only
// states the default, or the token states it.
func (s shown) isExpressed(line string) bool {
	token := s.format == network &&
		(strings.HasPrefix(line, "Index: ") || strings.HasPrefix(line, "Cooldown: "))
	return token || line == "Allow: /" || line == "Disallow: /.robots"
}

// token returns the CRAWLER token for the fields Index and Cooldown. Without Index, rules that
// deny everything make a denying token; only Index makes a permitting one.
func (s shown) token(file *robots.File) (string, []diag.Diagnostic) {
	c := s.snap.Compiled.Fields().Crawler()
	rules, lost := convert.Token(file)
	if c.Index == readers.IndexUnspecified && rules.Index == readers.IndexDeny {
		c.Index = rules.Index
	}
	if c.Index == readers.IndexUnspecified {
		return "", lost
	}
	return c.String() + "\n", lost
}

// annotated returns the file with the place that each line comes from above it, as a
// comment. It marks rules that match nothing now.
func (s shown) annotated() string {
	nothing := map[string]bool{}
	for _, r := range nomatch.Reports(s.snap) {
		if r.Code == policy.CodeNoMatch {
			nothing[diag.Place(r.File, r.Line)] = true
		}
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(s.snap.Robots)) {
		n++
		if from := s.snap.Compiled.Source(n); from != nil {
			place := diag.Place(from.File, from.Line)
			if nothing[place] {
				place += ": " + notThere(strings.HasPrefix(line, "Allow: "))
			}
			fmt.Fprintf(&b, "# %s\n", place)
		}
		b.WriteString(line)
	}
	return b.String()
}
