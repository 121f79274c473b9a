package server

import (
	"context"
	"io"
	"net/netip"
	"os"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// A Handler answers a request.
//
// If it returns an error before it has written anything, the client gets an
// error item: what it says is for strangers (see Error), the error itself goes
// to the log. If something was written already the connection ends there.
type Handler interface {
	ServeGopher(w ResponseWriter, r *Request) error
}

// HandlerFunc lets a function be a Handler.
type HandlerFunc func(w ResponseWriter, r *Request) error

// ServeGopher calls f.
func (f HandlerFunc) ServeGopher(w ResponseWriter, r *Request) error { return f(w, r) }

// A ResponseWriter takes the reply. Bytes that are written go out as they are;
// a reply made of items is a menu, and the server adds its final ".". The
// server's own also is an io.ReaderFrom, which sends an *os.File, or what has a
// method OSFile() *os.File, or an io.LimitedReader of one of these, with
// sendfile(2).
type ResponseWriter interface {
	io.Writer
	// WriteItem adds an item to a menu. An item without a host is on this server.
	WriteItem(menu.Item) error
}

// A Request is what a client asks for.
type Request struct {
	selector.Request // Selector, Query, Plus

	// Host and Port are what menus are to name as this server.
	Host string
	Port int

	// Remote is the client's address, and Local the one that it has reached; a
	// trusted proxy tells both. They are invalid if they are no IP addresses.
	Remote, Local netip.AddrPort

	// TLS says that the connection is encrypted; ServerName is the name that
	// the client has asked for then (RFC 6066 section 3), "" if none.
	TLS        bool
	ServerName string

	ctx context.Context
}

// Context ends when the reply is no longer wanted: the connection had to make room
// or was given up, or the server ends. That a client has closed its connection
// cannot be told from one that only sends no more.
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

// Quick is implemented by handlers that have some replies at hand. The server
// asks them first, where the connection was accepted, so they must never block:
// memory only.
type Quick interface {
	// Quick returns the reply to a request if it is at hand; if not, ServeGopher
	// is asked. It must not keep r.
	Quick(r *Request) (a Answer, ok bool)
}

// An Answer is a whole reply, as it goes to the client.
type Answer struct {
	Body []byte // must not be changed
	Err  error  // why Body is an error item; nil if it is not

	// File, if not nil, is the reply, Size bytes of it, and Body is nil. The
	// server closes it when it was sent.
	File     *os.File
	Size     int64
	Resident bool // the kernel has all of File in memory: to send it cannot block
}

// close closes the file of the answer, if it has one.
func (a Answer) close() {
	if a.File != nil {
		_ = a.File.Close()
	}
}

// NotFoundHandler answers everything with "Not found".
func NotFoundHandler() Handler {
	return HandlerFunc(func(ResponseWriter, *Request) error { return ErrNotFound })
}
