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

	text := string(snap.Robots)
	var lost []diag.Diagnostic
	switch {
	case c.Annotate:
		text = annotated(snap)
	case format == network:
		out, problems := c.token(snap)
		text, lost = out, sourced(snap, problems)
	case format != readers.Gopher.String():
		dialect, _ := readers.ParseDialect(format)
		out, problems := convert.File(robots.Parse(readers.RFC9309, snap.Robots), dialect)
		text, lost = string(out), sourced(snap, problems)
	}
	return c.printFile(text, format, lost)
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

// sourced returns each problem once, even if several groups of the file have it, with its line
// in an annotation if one caused it.
func sourced(snap *site.Snapshot, problems []diag.Diagnostic) []diag.Diagnostic {
	lines := strings.Split(string(snap.Robots), "\n")
	seen := map[diag.Diagnostic]bool{}
	var list []diag.Diagnostic
	for _, d := range problems {
		if d.Line > 0 && isDefault(lines[d.Line-1]) {
			continue
		}
		d.File = "robots.txt"
		if from := snap.Compiled.Source(d.Line); from != nil {
			d.File, d.Line = from.File, from.Line
		}
		if once := (diag.Diagnostic{File: d.File, Message: d.Message}); !seen[once] {
			seen[once] = true
			list = append(list, d)
		}
	}
	return list
}

// isDefault reports whether a line of a compiled robots.txt denies and allows nothing that a
// file without it would not: gophd adds it.
func isDefault(line string) bool { return line == "Allow: /" || line == "Disallow: /.robots" }

// token returns the CRAWLER token for the fields Index and Cooldown, and what it cannot express.
// Without Index, rules that deny everything make a denying token; only Index makes a permitting
// one.
func (c *Command) token(snap *site.Snapshot) (text string, lost []diag.Diagnostic) {
	var list diag.List
	closed := false
	file := robots.Parse(readers.RFC9309, snap.Robots)
	for _, g := range file.Groups() {
		for _, r := range g.Rules {
			if g.IsForAll() && !r.Allow && (r.Pattern == "/" || r.Pattern == "*") {
				closed = true
				continue
			}
			list.Warn(r.Line, "PATTERN", "%s: %q: a network is indexed or not",
				map[bool]string{true: "Allow", false: "Disallow"}[r.Allow], r.Pattern)
		}
	}
	for l := range file.Lines() {
		name := strings.ToLower(l.Field)
		if l.Kind == readers.KindField && name != "index" && name != "cooldown" {
			list.Warn(l.Number, "FIELD", "the field %q", name)
		}
	}

	token := snap.Compiled.Fields().Crawler()
	if token.Index == readers.IndexUnspecified && closed {
		token.Index = readers.IndexDeny
	}
	if token.Index == readers.IndexUnspecified {
		exit.Say(c.Err, "no CRAWLER token: the policy states nothing about indexing",
			"put Index: allow or Index: deny into the root's .robots")
		return "", list.All()
	}
	return token.String() + "\n", list.All()
}

// annotated returns the file with the place that each line comes from above it, as a
// comment. It marks rules that match nothing now.
func annotated(snap *site.Snapshot) string {
	nothing := map[string]bool{}
	for _, r := range nomatch.Reports(snap) {
		if r.Code == policy.CodeNoMatch {
			nothing[diag.Place(r.File, r.Line)] = true
		}
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(snap.Robots)) {
		n++
		if from := snap.Compiled.Source(n); from != nil {
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
