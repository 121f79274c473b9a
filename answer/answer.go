// Package answer resolves selectors: [Host.Ask] returns what a selector of a site names,
// as a [Value]. A front (Gopher, the web, Gemini and others) sends the Value in its own
// protocol.
//
// To serve a directory tree on port 7070:
//
//	tree, err := site.Open("content", site.Config{})
//	if err != nil {
//		return err
//	}
//	go tree.Run(ctx)
//	front := &gopher.Front{Host: &answer.Host{Site: tree}}
//	return (&server.Server{Handler: front}).ListenAndServe(ctx, ":7070")
//
// A front passes a [Format], which draws menus and pages. Drawn replies are cached per
// Format. The steps of Host.Ask:
//
//	Host.Ask → robots.txt, URL:
//	         → Host.Before (programs, status)
//	         → Cache
//	         → Site → directory or page: made within the Limiter, drawn, cached
//	                → file: from memory or as a stream
//	                → no such name: Host.Beside (feeds, search), made and drawn likewise
//
// Host.Quick returns replies that are in memory, without blocking.
//
// Guarantees, for every front and host:
//
//   - A resource that is hidden or refused on one front is hidden or refused on all.
//   - Directories are read, and menus made, only within the bounds of one [Limiter].
//   - A cached reply is sent only while the stamp of its sources is valid.
//   - A Value never discloses why something failed. The error does; it is for the log.
package answer

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Class is the kind of a Value. A selector that resolves to nothing returns an error
// instead, which has a [server.Kind].
type Class int

// The classes.
const (
	Menu     Class = iota + 1 // Items
	File                      // Body, Stream or Open
	Question                  // the client must repeat the request with a query; Prompt or Items ask for it
	Moved                     // to Selector, which Items link
	Leaving                   // to URL, outside of the site; the client's selector contains the URL
	Redirect                  // to URL, absolute or a path, from the output of a program; Items link it
	Status                    // Prompt is a status line for a Gemini client, from the output of a program
)

// A Value is what a selector resolves to. It must not be modified, since several requests
// may share it.
type Value struct {
	Class Class

	// Selector is the canonical selector, which menus link: "/", "/phlog/".
	Selector string

	// Type is the item type: [menu.TypeMenu], [menu.TypeText].
	Type byte

	// Media is the media type of a File, or "" if it follows from Type and Selector.
	Media string

	// Charset is the character set of a text, as in media types, or "".
	Charset string

	// Items are the lines of a Menu. They are nil if Drawn is set.
	Items []menu.Item

	// Prompt is the text of a Question.
	Prompt string

	// URL is the target of Leaving and Redirect. Permanent applies to Redirect.
	URL       string
	Permanent bool

	// Body is the whole File or, if Drawn is set, the reply as the Format has drawn it.
	Body  []byte
	err   error // cached error for a missing name; next to Body, since Host.Quick reads both
	Drawn bool

	// Stream is a File that is not in memory. Size is its length in bytes, or -1 if
	// unknown: the reply ends with the Stream.
	Stream io.ReadCloser
	Size   int64

	// Open, if not nil, returns a Stream for one request: the File is generated while
	// it is sent. Open may call Limited for each piece, so that a slow client occupies
	// no place of the Limiter.
	Open func(*Asked) io.Reader

	// Resource is the file behind Stream, if Format.Seek is set.
	Resource *site.Resource

	// Head holds the HTTP header of Body, if the Format sets it. It must not be
	// modified.
	Head map[string][]string

	// Gemtext is the name of the index.gmi that a Menu was made from, or "".
	Gemtext string

	// Title is the title that a Source or a Format has set. For files and directories
	// of the site, see Asked.Title.
	Title string

	// HTML is the Body as safe HTML, or "".
	HTML string

	name  string        // the file or directory of the site; "" if it is none
	dir   bool          // name is a directory
	stamp *site.Stamp   // valid as long as the answer is; nil: not reusable
	held  *atomic.Int64 // counts Body while it is not cached; nil: nothing does

	// Keep permits to cache the answer: it depends only on what was read through
	// Asked.View. A Source may set it.
	Keep bool

	personal bool // the menu shows $REMOTE_ADDR: make it again with the client's address
	named    bool // the answer contains the server's name and port
}

// Name returns the name of the file or directory below the root of the site ("." for the
// root), or "" if the answer is neither.
func (a *Value) Name() (name string, dir bool) { return a.name, a.dir }

// Close closes the Stream, if any.
func (a *Value) Close() {
	if a.Stream != nil {
		_ = a.Stream.Close()
	}
}

// A Format draws the answers of a front. Drawn answers are cached and shared by all
// requests with the same selector and Format.
type Format struct {
	// Draw returns the reply for an answer. It runs within the bounds of the Limiter.
	// Of the request, it may use only how the client has reached the server: its name and
	// port, Request.TLS and Request.URLPort. If nil, Values keep their Items.
	Draw func(*Asked, *Value) ([]byte, error)

	// Draws reports whether Draw is called for a File, given its name, type and size.
	// If nil, Draw is called for menus and questions only.
	Draws func(*Value) bool

	// Strict answers every spelling of a resource but the canonical selector with
	// Moved. Otherwise only spellings that evade robots.txt are answered so.
	Strict bool

	// Paths means that selectors are paths of URLs. If the path begins with an item type
	// and names nothing, as in a gopher URL, the answer is Moved to what the rest names.
	Paths bool

	// Seek sets Value.Resource: files are neither read into memory nor converted to
	// UTF-8.
	Seek bool

	// Colors keeps the ANSI colors in labels of menus.
	Colors bool

	// Query makes menus depend on the query. Answers to requests with a query are not
	// cached.
	Query bool

	// Raw returns the output of programs as a File, even if it is a menu.
	Raw bool

	// Web makes Asked.URL return http and https URLs.
	Web bool

	// Index is the name of a file that is served in place of its directory, such as
	// "index.gmi". If "", each directory is a Menu.
	Index string
}

// isCapsule reports whether users have the directories for Gemini (-users gemini=PATTERN).
func (f *Format) isCapsule() bool { return f.Index != "" }

// view returns the site's tree for a request with a Format.
func (h *Host) view(ctx context.Context, f *Format) *site.View {
	v := h.Site.View(ctx)
	if f.isCapsule() {
		v.OfCapsules()
	}
	return v
}

// asked returns a request in progress.
func (h *Host) asked(r *server.Request, f *Format) *Asked {
	return &Asked{
		Host:    h,
		Request: r,
		Format:  f,
		View:    h.view(r.Context(), f),
	}
}

// HostOptions are the options of a Host that come from the command line.
type HostOptions struct {
	menu.BuildOptions

	// Lang is the language of the content (BCP 47), or "" if unknown.
	Lang string

	// Version is the server's version in caps.txt.
	Version string

	// Hosts returns the items for a line "%" in a gophermap. It may be nil.
	Hosts func() []menu.Item
}

// A Source answers selectors that name no file, such as programs or searches.
type Source interface {
	// Answers reports whether the source may answer a selector. It must not block.
	Answers(sel string) bool

	// Answer returns the answer, or server.ErrDeclined if the source has none. If
	// Value.Keep is set, the answer is cached until something changes that was read
	// through q.View.
	Answer(q *Asked) (*Value, error)
}

// An Admission decides which requests of a host are answered, on every front.
type Admission interface {
	// Admit returns an error if a request must not be answered. It is called once per
	// request, and may block until the request's context ends.
	Admit(r *server.Request) error

	// AdmitNow reports whether a request may be answered without a call of Admit. It
	// must not block.
	AdmitNow(r *server.Request) bool
}

// A Runner runs programs of the tree that print gophermaps or parts of them.
type Runner interface {
	// Runs reports whether it would run the program name, a real name below the root.
	// It must not block.
	Runs(name string) bool

	// Run runs the program name and returns its output. called is the name that it
	// answers for: the directory, if it prints the whole map.
	Run(q *Asked, name, called string) (string, error)
}

// A Host resolves the selectors of one site, for all fronts. Its fields must not be
// changed after the first request.
type Host struct {
	Site *site.Site
	HostOptions

	// Names are all names of the site, in lower case and without a final dot. An item
	// with one of them as its host is a link to this site.
	Names []string

	// Fronts are the ports of the fronts, by URL scheme. A URL with such a scheme and
	// port and one of the Names is a link to this site.
	Fronts map[string]int

	// Before are the sources that are tried before the site. Their answers are not
	// cached.
	Before []Source

	// Beside are the sources that are tried for selectors that name nothing in the site.
	Beside []Source

	// Admission is consulted first about each request. If nil, all are admitted.
	Admission Admission

	// Runner runs the programs of the tree that print gophermaps. If nil, none is run.
	Runner Runner

	// Limiter and Cache are usually shared by all hosts of a process. If Limiter is
	// nil, the host has its own; if Cache is nil, nothing is cached.
	Limiter *Limiter
	Cache   *Cache

	once   sync.Once
	beside []Source // Beside, after the server's own documents
}

// open sets the defaults. Everything that uses them calls it first.
func (h *Host) open() {
	h.once.Do(func() {
		if h.Limiter == nil {
			h.Limiter = &Limiter{}
		}
		if h.Cache == nil {
			h.Cache = NewCache(0)
		}
		h.beside = append([]Source{documents{}}, h.Beside...)
	})
}

// Asked is a request in progress, as sources and formats see it.
type Asked struct {
	Host    *Host
	Request *server.Request
	Format  *Format

	// View gives access to the site's tree. It records what is read.
	View *site.View

	name    string              // the file or directory of the answer; "" if it is neither
	dir     bool                // name is a directory
	client  string              // the value of $REMOTE_ADDR in menus; "" in shared answers
	printed map[string]printed  // the output of programs, by name
	wanted  []menuProgram       // programs whose output the menu needs
	names   map[string]mapNames // cached titles and labels of maps, by directory
	listed  int                 // calls of ListedTitle that have read a text
}

// Context returns a context that ends when no client waits for the answer any more.
func (q *Asked) Context() context.Context { return q.View.Context() }

// Builder returns a menu builder with the host's options.
func (q *Asked) Builder() *menu.Builder {
	h := q.Host
	var run func(name, by string) (string, bool, error)
	if h.Runner != nil {
		run = q.run
	}
	return &menu.Builder{
		Run:          run,
		FS:           q.View,
		Host:         q.Request.Host,
		Port:         q.Request.Port,
		BuildOptions: h.BuildOptions,
		Colors:       q.Format != nil && q.Format.Colors,
		Version:      h.Version,
		Client:       q.client,
		Users:        users(q.View),
		Hosts:        h.Hosts,
		Answers:      h.Programs,
		Own:          q.Own,
	}
}
