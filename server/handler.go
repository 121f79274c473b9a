package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// A Handler answers a request.
//
// If it returns an error before it has written anything, the client gets an error item
// with a public text (see Error), and the log gets the error itself. If it has written
// something, the connection ends there.
type Handler interface {
	ServeGopher(w ResponseWriter, r *Request) error
}

// HandlerFunc lets a function be a Handler.
type HandlerFunc func(w ResponseWriter, r *Request) error

// ServeGopher calls f.
func (f HandlerFunc) ServeGopher(w ResponseWriter, r *Request) error { return f(w, r) }

// A ResponseWriter takes the reply. Bytes that are written go out as they are; a reply
// made of items is a menu, and the server adds its final ".". The server's own also
// implements [FileSender].
type ResponseWriter interface {
	io.Writer
	// WriteItem adds an item to a menu. An item without a host is on this server.
	WriteItem(menu.Item) error
}

// A Request is what a client asks for.
type Request struct {
	selector.RequestLine // Selector, Query, Plus

	// Host and Port are the name and port of this server in menus.
	Host string
	Port int

	// URLPort is the port of the URL that the client has asked for, where its request states
	// it (Gemini, HTTP's Host); zero if it does not.
	URLPort int

	// Remote is the client's address, Local the one it connected to. A trusted proxy's
	// header replaces both. They are invalid if they are not IP addresses.
	Remote, Local netip.AddrPort

	// TLS reports whether the connection is encrypted. ServerName is the name that the
	// client asked for by TLS (RFC 6066 section 3), or, if a trusted proxy ended TLS,
	// the name in its header (AUTHORITY); "" if none.
	TLS        bool
	ServerName string

	// Certificate is what the client has sent ([Protocol.ClientCert]), and has the key of;
	// nothing else in it was verified. It is nil if the client has sent none.
	Certificate *x509.Certificate

	// Protocol is the name of the Protocol of a request, and Raw the request as it was
	// sent. Both are "" for Gopher.
	Protocol, Raw string

	// Embedded reports that a browser loads the reply as a part of a page, such as an
	// image (Sec-Fetch-Dest), so that no person and no robot has asked for it.
	Embedded bool

	// Site is set by a handler that serves several sites to the name of the one that
	// answers, for Served.Host.
	Site string

	ctx    context.Context
	http   bool
	robots bool // it asks for robots.txt: no error but NotFound may answer it
}

// Context ends when the reply is no longer wanted: the connection was evicted or given
// up, or the server ends. It does not end when the client closes the connection, which
// looks like a client that only stops sending.
func (r *Request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// WithContext returns a copy of the request with another context.
func (r *Request) WithContext(ctx context.Context) *Request {
	c := *r
	c.ctx = ctx
	return &c
}

// Quick is implemented by handlers that have some replies in memory. The server
// asks them first, where the connection was accepted, so they must never block:
// memory only.
type Quick interface {
	// Quick returns the reply to a request if it is in memory; if not, ServeGopher
	// is asked. It must not keep r.
	Quick(r *Request) (a Answer, ok bool)
}

// An Answer is a whole reply, as it goes to the client.
type Answer struct {
	Body []byte // must not be changed
	Err  error  // why Body is an error item; nil if it is not

	// File, if not nil, is the reply in place of Body.
	File ReadyFile
}

// A ReadyFile is an open file that is a whole reply.
type ReadyFile interface {
	Fd() uintptr // a descriptor, which is open until Close
	Size() int64 // how many bytes of it are the reply, from the first on

	// Resident reports whether the kernel has all of the file in memory, so that to send
	// it cannot block.
	Resident() bool

	// Close is called once, when the server does not send it any more.
	Close()

	// OSFile makes a file of it that the caller closes in place of Close. For most
	// replies the two system calls that this costs are saved.
	OSFile() *os.File
}

// notFoundHandler answers everything with "Not found".
func notFoundHandler() Handler {
	return HandlerFunc(func(ResponseWriter, *Request) error { return ErrNotFound })
}

// A ServeMux hands a request to the handler whose pattern is the longest that fits its
// selector. A pattern that ends in a slash fits everything below it and the same
// without the slash; any other pattern fits one selector. The leading slash counts for
// nothing: "/a" and "a" are the same, and "/" fits everything. If a handler returns
// ErrDeclined before it has written anything, the mux tries the next longest pattern
// that fits. The mux is [Quick] where its handlers are. The zero value is ready to use.
type ServeMux struct {
	rules []muxRule // longest first
}

type muxRule struct {
	pattern string // without its leading slash
	handler Handler
}

// Handle adds a handler for a pattern, or replaces the one it has. It must not be called
// once the mux answers requests.
func (m *ServeMux) Handle(pattern string, h Handler) {
	pattern = strings.TrimPrefix(pattern, "/")
	rules := slices.DeleteFunc(m.rules, func(r muxRule) bool { return r.pattern == pattern })
	m.rules = append(rules, muxRule{pattern, h})
	slices.SortStableFunc(m.rules, func(a, b muxRule) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
}

// fitting returns the rules from the first on that fits a selector.
func fitting(rules []muxRule, selector string) []muxRule {
	sel := strings.TrimPrefix(selector, "/")
	for len(rules) > 0 && !rules[0].fits(sel) {
		rules = rules[1:]
	}
	return rules
}

func (r muxRule) fits(sel string) bool {
	dir, isDir := strings.CutSuffix(r.pattern, "/")
	switch {
	case r.pattern == "":
		return true
	case isDir:
		return sel == dir || strings.HasPrefix(sel, r.pattern)
	}
	return sel == r.pattern
}

// ServeGopher hands the request on.
func (m *ServeMux) ServeGopher(w ResponseWriter, r *Request) error {
	err := error(ErrNotFound)
	for rest := fitting(m.rules, r.Selector); len(rest) > 0; rest = fitting(rest[1:], r.Selector) {
		if err = rest[0].handler.ServeGopher(w, r); !errors.Is(err, ErrDeclined) {
			break
		}
	}
	return err
}

// Quick asks the handler for the request, if it is Quick, too.
func (m *ServeMux) Quick(r *Request) (a Answer, ok bool) {
	if rest := fitting(m.rules, r.Selector); len(rest) > 0 {
		if quick, is := rest[0].handler.(Quick); is {
			return quick.Quick(r)
		}
	}
	return Answer{}, false
}
