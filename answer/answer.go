// Package answer finds the answer to a selector. No other package does: the fronts
// (Gopher, web and others) only draw a [Value].
//
//	front → Host.Ask → robots.txt, URL:
//	                 → sources that come first (programs, status)
//	                 → Cache
//	                 → look up → menu or page: Limiter.made → Format.Draw → Cache
//	                           → file: in memory, or a stream
//	                           → sources beside the site (feeds, search): Limiter.made → Format.Draw
//	                           → error
//
// A front has a [Format] for each way in which it draws answers, and asks with it. The
// results are cached by Format, so a front never sees the same menu twice. Host.Quick
// does the same for answers that need no waiting.
//
//	tree, err := site.Open("content", site.Config{})
//	...
//	go tree.Run(ctx)
//	front := &gopher.Front{Host: &answer.Host{Site: tree}}
//	err = (&server.Server{Handler: front}).ListenAndServe(ctx, ":7070")
//
// Guarantees, for every front and host:
//
//   - Whatever is denied, hidden or refused is so on each front.
//   - Menus are made and directories are read only within the bounds of one [Limiter].
//   - Replies are cached in one [Cache], with stamps of their sources.
//   - A Value never shows a stranger why something failed: its error does, and is for
//     the log.
package answer

import (
	"context"
	"io"
	"sync"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Class is a kind of answer. A selector without an answer yields an error, which has a
// [server.Kind].
type Class int

// The classes.
const (
	Menu     Class = iota + 1 // Items
	File                      // Body, Stream or Open
	Question                  // Prompt; asked with a query, the selector answers. Items say so to those who cannot be asked.
	Moved                     // to Selector; Items link it
	Leaving                   // to URL, which is not on this site and which the client wrote
	Redirect                  // to URL, an absolute URL or a path, as a program wants it; Items link it
	Status                    // Prompt is a status line of Gemini, which a program wrote for a client of Gemini
)

// A Value is the answer to a selector. It must not be changed: several requests may
// share it.
type Value struct {
	Class Class

	// Selector is the canonical one, the one that menus link: "/", "/phlog/".
	Selector string

	// Type is the item type: [menu.TypeMenu], [menu.TypeText].
	Type byte

	// Media is the media type of a File if its Type does not imply one; "" otherwise.
	Media string

	// Charset is the character set of a File that is a text, as media types name it; "" if it
	// has none.
	Charset string

	// Items are the lines of a Menu. They are nil in an answer from the cache, whose
	// Body the Format has already drawn.
	Items []menu.Item

	// Prompt is the text of a Question.
	Prompt string

	// URL is where Leaving and Redirect lead to. Permanent is of a Redirect.
	URL       string
	Permanent bool

	// Body is all of a File or, if Drawn is true, the answer as drawn by the Format. It
	// must not be changed.
	Body  []byte
	err   error // of a missing name; beside Body, since Host.Quick reads these two alone
	Drawn bool

	// Stream is a File that is not in memory. Size is the length of the answer in bytes,
	// or -1 if the whole Stream is the answer and its length is unknown.
	Stream io.ReadCloser
	Size   int64

	// Open returns the Stream of one request, if the File is made while it is sent. It may
	// call Limited for each piece, so that a slow client holds none of the Limiter's places.
	Open func(*Asked) io.Reader

	// Resource is Stream as a file of the site, if the Format seeks in it.
	Resource *site.Resource

	// Head holds the headers of HTTP that Body has, if the Format sets them. It must not
	// be changed.
	Head map[string][]string

	// Gemtext is the name of the index.gmi that a Menu was made of; "" of any other.
	Gemtext string

	// Title is the title of the answer. A Source may set it, or a Format; a file or
	// directory of the site has Asked.Title.
	Title string

	// HTML is the same as Body, as markup that is safe to show; "" if there is none.
	HTML string

	name  string      // of a file or directory of the site; "" if it is none
	dir   bool        // it is a directory
	stamp *site.Stamp // how long it holds; nil: it is made for each request

	// Keep reports that the answer depends only on reads through Asked.View. A Source
	// may set it.
	Keep bool

	personal bool // it would show the client's address, if it was asked for with it
	named    bool // it names the host
}

// Name returns the name of a file or directory of the site below its root, "." for
// the root; "" if the answer is none.
func (a *Value) Name() (name string, dir bool) { return a.name, a.dir }

// Close closes the Stream, if there is one.
func (a *Value) Close() {
	if a.Stream != nil {
		_ = a.Stream.Close()
	}
}

// A Format draws the answers of a front. The results are cached, and sent to all
// requests for the same selector in the same form.
type Format struct {
	// Draw writes an answer down. It runs within the bounds of the Limiter and must
	// depend on nothing but its arguments and, of the request, on the server's name,
	// port and, if TLS is true, on whether the connection is encrypted and on
	// the port of the client's URL. If nil, answers keep their Items.
	Draw func(*Asked, *Value) ([]byte, error)
	TLS  bool

	// Draws reports whether Draw is called for a File, by its name, type and size. If
	// nil, it is called for no File.
	Draws func(*Value) bool

	// Strict: each spelling of a resource but the canonical one is answered with
	// Moved. Otherwise only those are that robots.txt cannot deny.
	Strict bool

	// Paths: selectors are paths of URLs. That of a gopher URL, which has an item type in
	// front and names nothing, is answered with Moved to what the rest of it names.
	Paths bool

	// Seek: Files of the site are not read into memory, and not converted to UTF-8:
	// Resource is set.
	Seek bool

	// Colors: labels of menus have their ANSI colors, for Draw.
	Colors bool

	// Query: menus of the site depend on the query. Answers to requests with one are
	// neither shared nor cached.
	Query bool

	// Raw: replies of programs are Files, even where they are menus.
	Raw bool

	// Web: URLs are those for browsers.
	Web bool

	// Index is the name of the file that answers for its directory if it is there,
	// such as "index.gmi". If "", each directory is a Menu.
	Index string
}

// isCapsule reports whether users' trees are those for Gemini.
func (f *Format) isCapsule() bool { return f.Index != "" }

// view returns the tree as a request in a form sees it.
func (h *Host) view(ctx context.Context, f *Format) *site.View {
	v := h.Site.View(ctx)
	if f.isCapsule() {
		v.OfCapsules()
	}
	return v
}

// HostOptions are how a site is answered. They travel as one value from the flags to
// each host.
type HostOptions struct {
	menu.BuildOptions

	// Lang is the language of the content (BCP 47); "" if it is not known.
	Lang string

	// Version is sent in caps.txt.
	Version string

	// Hosts are the items of a line "%" in a gophermap. If nil, there are none.
	Hosts func() []menu.Item
}

// A Source answers selectors that are no files.
type Source interface {
	// Answers reports whether a selector may be the source's. It must not block.
	Answers(sel string) bool

	// Answer answers, or returns server.ErrDeclined if the selector is not the
	// source's. The answer is cached until something that it read through q.View
	// changes.
	Answer(q *Asked) (*Value, error)
}

// An Admission decides which requests of a host are answered, on every front.
type Admission interface {
	// Admit returns the error of a request that must not be answered. It may block
	// until the request's context ends, and is called once for a request.
	Admit(r *server.Request) error

	// AdmitNow reports whether a request may be answered without Admit. It must not
	// block.
	AdmitNow(r *server.Request) bool
}

// A Runner runs programs of the tree that make menus, or parts of them.
type Runner interface {
	// Runs reports whether it runs a program, by its real name below the root. It must
	// not block.
	Runs(name string) bool

	// Run returns what the program prints. Called is the name that it answers for: the
	// directory's, if it makes the menu.
	Run(q *Asked, name, called string) (string, error)
}

// A Host answers for one site, for all fronts. Its fields must not be changed after the
// first request.
type Host struct {
	Site *site.Site
	HostOptions

	// Names are the names of the site, in lower case and without a final dot: an item
	// that leads to one of them is the site's own, whichever the client asked for.
	Names []string

	// Fronts are the ports of the protocols that the server speaks, by the schemes of their
	// URLs: what such a URL leads to under one of the Names is the site's own.
	Fronts map[string]int

	// Before are asked before the site, each time. Their answers are neither shared nor
	// cached.
	Before []Source

	// Beside are asked for selectors that name nothing in the site.
	Beside []Source

	// Admission decides first about each request. If nil, all are answered.
	Admission Admission

	// Runner runs the programs of the tree that make menus. If nil, none is run.
	Runner Runner

	// Limiter and Cache belong to the process. If nil, the host has a Limiter of
	// its own, and keeps nothing.
	Limiter *Limiter
	Cache   *Cache

	once sync.Once
}

func (h *Host) open() {
	h.once.Do(func() {
		if h.Limiter == nil {
			h.Limiter = &Limiter{}
		}
	})
}

// Asked is a request on its way to its answer.
type Asked struct {
	Host    *Host
	Request *server.Request
	Format  *Format

	// View is the site as the request sees it.
	View *site.View

	name    string              // of the file or directory that is answered; "" if it is none
	dir     bool                // it is a directory
	client  string              // the address that a menu shows; "" if it is made for all
	printed map[string]printed  // by programs of the menu that is made
	wanted  []menuProgram       // programs that must print before it can be made
	names   map[string]mapNames // what maps call things, by their directories
	listed  int                 // titles of listed texts that were read
}

// Context ends when the answer is no longer wanted.
func (q *Asked) Context() context.Context { return q.View.Context() }

// Builder makes menus as the host's options say.
func (q *Asked) Builder() *menu.Builder {
	h := q.Host
	var run func(name, by string) (string, bool, error)
	if h.Runner != nil {
		run = q.run
	}
	return &menu.Builder{Run: run, FS: q.View, Host: q.Request.Host, Port: q.Request.Port, BuildOptions: h.BuildOptions, Colors: q.Format != nil && q.Format.Colors,
		Version: h.Version, Client: q.client, Users: users(q.View), Hosts: h.Hosts, Answers: h.Programs, Own: q.Own}
}
