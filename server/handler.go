package server

import (
	"context"
	"io"
	"net/netip"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
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
// server's own also is an io.ReaderFrom, which sends an *os.File with
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

	// Remote is the client's address, invalid if it is not an IP address.
	Remote netip.AddrPort

	ctx context.Context
}

// Context ends when the reply is no longer wanted.
func (r *Request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// A Quick handler has some replies at hand. The server asks it first, where
// the connection was accepted, so it must never block: memory only.
type Quick interface {
	Handler
	// Quick returns the reply to a request line (without its line end), or
	// nil: then ServeGopher is asked. Host and port are what menus are to name
	// as this server. It must not keep line.
	Quick(line []byte, host string, port int) *Answer
}

// An Answer is a whole reply, as it goes to the client. It is not changed
// once it was returned.
type Answer = site.Answer

// NotFoundHandler answers everything with "Not found".
func NotFoundHandler() Handler {
	return HandlerFunc(func(ResponseWriter, *Request) error { return ErrNotFound })
}
