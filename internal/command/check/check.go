// Package check reports what a tree would lose if gophd served it: things that other
// servers showed and gophd will not, links that lead nowhere, names that no client can
// request, files that the server cannot read.
//
//	site ──→ answer.Host in this process, which runs no program
//	disk ──→ all entries (tree.go): what is hidden, unreadable, a program, out of the tree
//	           each directory, map and page → its menu → links with their lines (crawl.go)
//	             → each link is requested: an error is a dead link, and why
//	             → what nothing links
package check

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// The codes of findings; packages menu and policy have more. They never change.
const (
	CodeName    = "CHECK-NAME"    // no menu can list it, or no client request it
	CodeRead    = "CHECK-READ"    // the server cannot read it
	CodeOutside = "CHECK-OUTSIDE" // a link that leads out of the tree
	CodeNowhere = "CHECK-NOWHERE" // a link that leads nowhere
	CodeSearch  = "CHECK-SEARCH"  // a search that nothing answers
	CodeHost    = "CHECK-HOST"    // a host that is none, or this one by another name
	CodeSource  = "CHECK-SOURCE"  // a file that some servers run, and that is sent as it is
	CodeUMN     = "CHECK-UMN"     // pygopherd shows more than gophd
	CodeOwner   = "CHECK-OWNER"   // whose files are not served as a user's
	CodeForm    = "CHECK-FORM"    // a link that is answered in another form
	CodeKey     = "CHECK-KEY"     // a private key that everybody can fetch
	CodeStub    = "CHECK-STUB"    // a link to an empty file
	CodeCharset = "CHECK-CHARSET" // a text in a character set that nothing tells

	CodeUnlinked = "CHECK-UNLINKED" // what no menu and no page links
)

// files makes calls that open nothing. What is read is read through site.View.
var files = disk.Caller(disk.Direct)

// Options are how the tree is to be served.
type Options struct {
	Progress io.Writer // a terminal that is shown how far it is; anything else is shown nothing

	// Host is the name of the server in menus. If empty, check guesses it:
	// most links to that host in the maps name something in this tree.
	Host string
	// Site has the other trees and the programs of the site.
	Site site.Config
	// Programs answer selectors that the tree need not hold.
	Programs []programs.Mapping
	// Charset is that of texts that are not UTF-8.
	Charset menu.Charset
	// Search reports whether the server answers /search.
	Search bool

	// User is the serving user. If nil, the user of this process.
	User *sandbox.Identity
	// Named reports whether the command line named User; otherwise it is a guess.
	Named bool
}

// An Outcome holds the findings and counts of a check.
type Outcome struct {
	Findings    []diag.Diagnostic `json:"findings"` // the worst first
	Directories int               `json:"directories"`
	Files       int               `json:"files"`
	Menus       int               `json:"menus"`       // files that make one
	Lost        int               `json:"lost"`        // findings that are errors
	Annotations int               `json:"annotations"` // .robots files, and the root's robots.txt
	RobotsBytes int               `json:"robots_bytes"`
	Host        string            `json:"host,omitempty"` // as which the maps name this server
	Parts       []*Part           `json:"parts"`
	Asked       int               `json:"asked,omitempty"`   // selectors that were compared with a running server
	Silent      int               `json:"silent,omitempty"`  // those that the server has not answered
	Classes     []Difference      `json:"classes,omitempty"` // what differs from that server
}

// A Part is what one owner has in one tree.
type Part struct {
	Tree        string `json:"tree"` // ".", a mount, "~ann", or a virtual host
	Owner       string `json:"owner"`
	Directories int    `json:"directories"`
	Files       int    `json:"files"`
	Menus       int    `json:"menus"`
	Lost        int    `json:"lost"`
	Warnings    int    `json:"warnings"`
}

// checking is a tree while it is checked.
type checking struct {
	Options
	ctx     context.Context
	checked atomic.Int64      // directories
	tops    map[string]string // the directories of all trees, without links, by their names; the root's is "."
	site    *site.Site
	snap    *site.Snapshot
	result  Outcome
	seen    map[diag.Diagnostic]bool

	host     *answer.Host
	programs *programs.Programs
	replies  map[string]reply // to selectors
	links    []menu.Link      // of all menus and pages
	linked   map[string]bool  // real names that something links
	listed   map[string]bool  // what has a menu

	parts map[Part]*Part // by tree and owner
	users map[int]string // names of owners

	umnTold bool
}

// begin reads a tree, and makes a host of it that answers in this process. The caller
// calls stop at the end.
func begin(ctx context.Context, dir string, o Options, progress func(c *checking) string) (c *checking, stop func() error, err error) {
	o.Site.Watch = site.WatchOff
	o.Site.Files = true
	c = &checking{Options: o, ctx: ctx, tops: map[string]string{}, seen: map[diag.Diagnostic]bool{}, parts: map[Part]*Part{}, users: map[int]string{}, replies: map[string]reply{}, linked: map[string]bool{}, listed: map[string]bool{}}
	if c.site, err = site.Open(dir, o.Site); err != nil {
		return nil, nil, err
	}
	shown := terminal.Progress(o.Progress, func() string { return progress(c) })
	snap, end, err := c.site.Read(ctx)
	if err != nil {
		shown()
		return nil, nil, err
	}
	c.snap = snap
	c.programs = &programs.Programs{Rules: o.Programs}
	c.host = &answer.Host{Site: c.site, Beside: []answer.Source{&feed.Feeds{}}}
	if len(o.Programs) > 0 {
		c.host.Before = []answer.Source{c.programs}
		c.host.Runner = c.programs
	}

	// Note where the trees of the site are.
	if c.tops["."], err = files.RealPath(dir); err != nil {
		shown()
		return nil, nil, errors.Join(err, end())
	}
	view := c.site.View(ctx)
	for _, name := range view.Trees() {
		if real, err := files.RealPath(view.Path(name)); err == nil {
			c.tops[name] = real
		}
	}
	return c, func() error { shown(); return end() }, nil
}

// request is one of a client in this process.
func (c *checking) request(sel string) *server.Request {
	r := &server.Request{RequestLine: selector.RequestLine{Selector: sel}, Host: ourHost, Port: selector.DefaultPort}
	return r.WithContext(c.ctx)
}

func (c *checking) add(d diag.Diagnostic) {
	switch d.Code {
	case menu.CodeProgram, menu.CodeRead, menu.CodeLimit:
		d.Severity = diag.Error
	}
	if !c.seen[d] {
		c.seen[d] = true
		c.result.Findings = append(c.result.Findings, d)
	}
}

func (c *checking) find(severity diag.Severity, code, file string, line int, hint, format string, args ...any) {
	c.add(diag.Diagnostic{Code: code, Severity: severity, File: file, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *checking) done() *Outcome {
	slices.SortStableFunc(c.result.Findings, diag.Compare)
	for _, d := range c.result.Findings {
		part := c.part(d.File)
		switch d.Severity {
		case diag.Error:
			c.result.Lost++
			part.Lost++
		case diag.Warning:
			part.Warnings++
		}
	}
	c.result.Parts = slices.SortedFunc(maps.Values(c.parts), func(a, b *Part) int {
		return cmp.Or(strings.Compare(a.Tree, b.Tree), strings.Compare(a.Owner, b.Owner))
	})
	return &c.result
}

// names share one finding.
type names []string

func (s names) String() string {
	if len(s) == 1 {
		return s[0]
	}
	return fmt.Sprintf("%s and %d more", s[0], len(s)-1)
}
