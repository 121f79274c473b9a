// Package check reports what a tree would lose if gophd served it: things that other
// servers showed and gophd will not, links that lead nowhere, names that no client can
// request, files that the server cannot read.
//
//	site ──→ answer.Host in this process, which runs no program
//	disk ──→ all entries (tree.go): what is hidden, unreadable, a program, out of the tree
//	           each directory, map and page → its menu → links with their lines (crawl.go)
//	             → each link is requested as a client of the front that shows it (front.go):
//	               an error is a dead link, and why
//	             → what nothing links
package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/sitemap"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/site"
)

// The codes of findings; packages menu and policy have more. They never change.
const (
	codeName    = "CHECK-NAME"    // no menu can list it, or no client request it
	CodeRead    = "CHECK-READ"    // the server cannot read it
	codeOutside = "CHECK-OUTSIDE" // a link that leads out of the tree
	codeNowhere = "CHECK-NOWHERE" // a link that leads nowhere
	codeSearch  = "CHECK-SEARCH"  // a search that nothing answers
	codeHost    = "CHECK-HOST"    // an invalid host, or this server under another name
	codeSource  = "CHECK-SOURCE"  // a file that some servers run and gophd sends as text
	codeUMN     = "CHECK-UMN"     // pygopherd shows more than gophd
	codeOwner   = "CHECK-OWNER"   // not served because of its owner
	codeForm    = "CHECK-FORM"    // a link whose type or form differs from the reply
	CodeKey     = "CHECK-KEY"     // a private key that everybody can fetch
	codeStub    = "CHECK-STUB"    // a link to an empty file
	codeCharset = "CHECK-CHARSET" // a text whose character set is unknown

	codeUnlinked = "CHECK-UNLINKED" // no menu or page links it
)

// files looks at names and lists directories. Contents are read through site.View.
var files = disk.Caller(disk.Direct)

// Options are how the tree is to be served.
type Options struct {
	Progress io.Writer // shows the progress if it is a terminal

	// Host is the name of the server in menus. If empty, check guesses it:
	// most links to that host in the maps name something in this tree.
	Host string
	// Serve are the flags of the server: the other trees, the programs, the character set of texts
	// that are not UTF-8, whether it answers /search.
	Serve daemon.Flags

	// User is the serving user. If nil, the user of this process.
	User *sandbox.Identity
	// Named reports whether the command line named User; otherwise it is a guess.
	Named bool
	// RootHomes also reports closed homes that root owns: a user's directory may be below them.
	RootHomes bool
}

// Amounts count what was checked, and the losses.
type Amounts struct {
	Directories int `json:"directories"`
	Files       int `json:"files"`
	Menus       int `json:"menus"` // files that make one
	Lost        int `json:"lost"`  // findings that are errors
}

func (a *Amounts) add(b Amounts) {
	a.Directories += b.Directories
	a.Files += b.Files
	a.Menus += b.Menus
	a.Lost += b.Lost
}

// String returns the counts of what was checked.
func (a Amounts) String() string {
	return diag.Count(a.Directories, "directory", "directories") + ", " +
		diag.Count(a.Files, "file", "files") + ", " + diag.Count(a.Menus, "menu", "menus")
}

// An Outcome is the result of a check.
type Outcome struct {
	Findings []diag.Diagnostic `json:"findings"` // the worst first
	Amounts
	Annotations int          `json:"annotations"` // .robots files, and the root's robots.txt
	RobotsBytes int          `json:"robots_bytes"`
	Host        string       `json:"host,omitempty"` // as which the maps name this server
	Parts       []*Part      `json:"parts"`
	Asked       int          `json:"asked,omitempty"`   // selectors that were compared with a running server
	Silent      int          `json:"silent,omitempty"`  // those that the server has not answered
	Classes     []Difference `json:"classes,omitempty"` // what differs from that server
}

// A Part is what one owner has in one tree.
type Part struct {
	Tree  string `json:"tree"` // ".", a mount, "~ann", or a virtual host
	Owner string `json:"owner"`
	Amounts
	Warnings int `json:"warnings"`

	codes map[string]int // of findings
}

// checking is the state of one check.
type checking struct {
	Options
	ctx      context.Context
	checked  atomic.Int64 // directories
	site     *site.Site
	host     *answer.Host
	programs *programs.Programs
	mounts   map[string]string // directories by their names

	gopher, gemini, web *front

	links  []link          // of all menus and pages
	linked map[string]bool // what something links, by its label
	listed map[string]bool // directories that have a menu, by their labels

	result Outcome
	groups map[string]*group
	parts  map[[2]string]*Part // by tree and owner
	users  map[int]string      // names of owners
}

// A group is findings of which only the first is printed.
type group struct {
	diag.Diagnostic
	more   int
	closed []string // files to open
}

// begin reads a tree, and makes a host that answers for it in this process. The caller must
// call stop.
func begin(ctx context.Context, dir, what string, o Options) (c *checking,
	stop func() error, err error) {
	conf, rules, err := o.Serve.Parts()
	if err != nil {
		return nil, nil, err
	}
	conf.Watch = site.WatchOff
	conf.Files = true
	c = &checking{
		Options: o,
		ctx:     ctx,
		mounts:  conf.Mounts,
		linked:  map[string]bool{},
		listed:  map[string]bool{},
		groups:  map[string]*group{},
		parts:   map[[2]string]*Part{},
		users:   map[int]string{},
	}
	if c.site, err = site.Open(dir, conf); err != nil {
		return nil, nil, err
	}
	shown := terminal.Progress(o.Progress, func() string {
		return fmt.Sprintf("%s: %s read, %d checked", what,
			diag.Count(int(c.site.Scanned()), "directory", "directories"), c.checked.Load())
	})
	_, end, err := c.site.Read(ctx)
	if err != nil {
		shown()
		return nil, nil, err
	}
	c.programs = &programs.Programs{Rules: rules}
	c.host = &answer.Host{Site: c.site, Beside: []answer.Source{&feed.Feeds{}}}
	c.host.Charset = o.Serve.Charset
	if o.Serve.Sitemap {
		c.host.Beside = append(c.host.Beside, &sitemap.Sitemaps{Site: c.site})
	}
	if len(rules) > 0 {
		c.host.Before = []answer.Source{c.programs}
		c.host.Runner = c.programs
	}
	c.gopher = c.front("Gopher", &answer.Format{Seek: true})
	c.gemini = c.front("Gemini", &answer.Format{
		Seek:   true,
		Strict: true,
		Paths:  true,
		Index:  "index.gmi",
	})
	c.web = c.front("the web", &answer.Format{
		Seek:   true,
		Strict: true,
		Paths:  true,
		Web:    true,
	})
	return c, func() error { shown(); return end() }, nil
}

// add notes a finding. Of several findings in one scope, the first is printed, and counts the
// others; a scope that is "" has but one.
func (c *checking) add(scope string, d diag.Diagnostic) *group {
	switch d.Code {
	case menu.CodeProgram, menu.CodeRead, menu.CodeLimit:
		d.Severity = diag.Error
	}
	key := cmp.Or(scope, d.String()+d.Hint)
	g := c.groups[key]
	if g == nil {
		g = &group{Diagnostic: d}
		c.groups[key] = g
	} else if scope != "" {
		g.more++
	}
	return g
}

// find notes a finding on a file that this front has.
func (f *front) find(severity diag.Severity, code, name string, line int, hint,
	format string, args ...any) {
	f.checking.find("", severity, code, f.label(name), line, hint, format, args...)
}

// several notes a finding that many things in a scope may have, such as a directory.
func (f *front) several(scope string, severity diag.Severity, code, name string, line int,
	hint, format string, args ...any) *group {
	return f.checking.find(f.label(scope)+" "+code+" "+format, severity, code, f.label(name), line,
		hint, format, args...)
}

func (c *checking) find(scope string, severity diag.Severity, code, file string, line int, hint,
	format string, args ...any) *group {
	return c.add(scope, diag.Diagnostic{
		Code:     code,
		Severity: severity,
		File:     file,
		Line:     line,
		Message:  fmt.Sprintf(format, args...),
		Hint:     hint,
	})
}

func (c *checking) done() *Outcome {
	for _, g := range c.groups {
		if g.more > 0 {
			g.Message += fmt.Sprintf(" and %d more", g.more)
		}
		if g.closed != nil {
			g.Hint = diag.Command(append([]string{"chmod", "o+r", "--"}, g.closed...)...)
		}
		c.result.Findings = append(c.result.Findings, g.Diagnostic)
	}
	slices.SortStableFunc(c.result.Findings, diag.Compare)
	for _, d := range c.result.Findings {
		part := c.part(d.File)
		part.codes[d.Code]++
		switch d.Severity {
		case diag.Error:
			part.Lost++
		case diag.Warning:
			part.Warnings++
		}
	}
	c.result.Parts = slices.SortedFunc(maps.Values(c.parts), func(a, b *Part) int {
		return cmp.Or(strings.Compare(a.Tree, b.Tree), strings.Compare(a.Owner, b.Owner))
	})
	for _, p := range c.result.Parts {
		c.result.add(p.Amounts)
	}
	return &c.result
}
