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
// with a public text (see [Error]). If it returns an error later, the connection is reset.
// The server logs the error.
type Handler interface {
	ServeGopher(w ResponseWriter, r *Request) error
}

// HandlerFunc is a function that is a Handler.
type HandlerFunc func(w ResponseWriter, r *Request) error

// ServeGopher calls f.
func (f HandlerFunc) ServeGopher(w ResponseWriter, r *Request) error {
	return f(w, r)
}

// A ResponseWriter sends the reply. Write sends bytes unchanged; WriteItem sends a line of
// a menu, and the server adds the final ".". The server's ResponseWriter also implements
// [FileSender].
type ResponseWriter interface {
	io.Writer
	// WriteItem adds an item to a menu. If its Host is empty, it links to this server.
	WriteItem(menu.Item) error
}

// A Request is a request of a client.
type Request struct {
	selector.RequestLine // Selector, Query, Plus

	// Host and Port are the name and port of this server in menus.
	Host string
	Port int

	// URLPort is the port in the requested URL, if the protocol sends it (Gemini, the
	// Host field of HTTP), or zero.
	URLPort int

	// Remote is the client's address, Local the one it connected to. The header of a
	// trusted proxy sets both. They are invalid if they are not IP addresses.
	Remote, Local netip.AddrPort

	// TLS reports whether the connection is encrypted. ServerName is the name that the
	// client has sent by TLS (RFC 6066 section 3). If a trusted proxy terminates TLS, it
	// is the name in its PROXY header (AUTHORITY). It may be empty.
	TLS        bool
	ServerName string

	// Certificate is the client's certificate, or nil ([Protocol.ClientCert]). The client
	// has proved that it holds the key; nothing else in it was verified.
	Certificate *x509.Certificate

	// Protocol is the Name of the [Protocol] of the request, and Raw the request as it
	// was sent. Both are "" for Gopher.
	Protocol, Raw string

	// Embedded reports that a browser loads the reply as a part of a page, such as an
	// image (Sec-Fetch-Dest).
	Embedded bool

	// Site is the name of the site that answers. A handler of several sites sets it, for
	// Served.Host.
	Site string

	ctx    context.Context
	http   bool
	robots bool // a request for robots.txt: the only error reply it may get is NotFound
}

// Context returns the request's context. It ends when the connection is evicted or times
// out, and when the server stops. It does not end when the client closes the connection,
// since the server cannot tell that from a half-close.
func (r *Request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// WithContext returns a shallow copy of the request with another context.
func (r *Request) WithContext(ctx context.Context) *Request {
	c := *r
	c.ctx = ctx
	return &c
}

// Quick is implemented by handlers that have some replies in memory. The server calls it
// before ServeGopher, in the event loop, so it must not block: it must not read files, for
// example.
type Quick interface {
	// Quick returns the reply to a request if it is in memory. If ok is false, the
	// server calls ServeGopher. Quick must not retain r.
	Quick(r *Request) (a Answer, ok bool)
}

// An Answer is a whole reply, as it is sent to the client.
type Answer struct {
	Body []byte // must not be modified
	Err  error  // the error that Body reports to the client, or nil

	// File, if not nil, is sent instead of Body, and closed: its next Size bytes. The
	// kernel should have them in memory, so that sending them does not block.
	File *os.File
	Size int64
}

// A ServeMux calls the handler whose pattern is the longest that matches the selector. A
// pattern that ends in a slash ("/a/") matches every selector below it, and "/a"; any other
// pattern matches one selector. A leading slash is ignored: "/a" and "a" are the same, and
// "/" matches every selector. If a handler returns ErrDeclined before it has written
// anything, the mux tries the next longest pattern. The mux implements [Quick] and passes
// calls on to handlers that do. The zero value is ready to use.
type ServeMux struct {
	rules []muxRule // longest first
}

type muxRule struct {
	pattern string // without the leading slash
	handler Handler
}

// Handle sets the handler for a pattern. It must not be called while the mux serves requests.
func (m *ServeMux) Handle(pattern string, h Handler) {
	pattern = strings.TrimPrefix(pattern, "/")
	rules := slices.DeleteFunc(m.rules, func(r muxRule) bool { return r.pattern == pattern })
	m.rules = append(rules, muxRule{pattern, h})
	slices.SortStableFunc(m.rules, func(a, b muxRule) int {
		return cmp.Compare(len(b.pattern), len(a.pattern))
	})
}

func (r muxRule) matches(selector string) bool {
	sel := strings.TrimPrefix(selector, "/")
	dir, isDir := strings.CutSuffix(r.pattern, "/")
	return r.pattern == "" || sel == r.pattern ||
		isDir && (sel == dir || strings.HasPrefix(sel, r.pattern))
}

// ServeGopher calls the handler for the request.
func (m *ServeMux) ServeGopher(w ResponseWriter, r *Request) error {
	err := error(ErrNotFound)
	for _, rule := range m.rules {
		if !rule.matches(r.Selector) {
			continue
		}
		if err = rule.handler.ServeGopher(w, r); !errors.Is(err, ErrDeclined) {
			break
		}
	}
	return err
}

// Quick calls the handler for the request, if it is Quick.
func (m *ServeMux) Quick(r *Request) (a Answer, ok bool) {
	i := slices.IndexFunc(m.rules, func(rule muxRule) bool { return rule.matches(r.Selector) })
	if i >= 0 {
		if quick, is := m.rules[i].handler.(Quick); is {
			return quick.Quick(r)
		}
	}
	return Answer{}, false
}
