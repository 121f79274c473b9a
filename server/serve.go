package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/selector"
)

// begin serves a connection in a goroutine of its own, and reports whether there
// is room for it.
func (r *run) begin(c *conn, state connState, serve func(*conn)) bool {
	p, polled := c.Conn.(interface{ Block() error })
	switch why := r.admit(c, state); {
	case why == admitted:
	case polled:
		r.refuse(c, why)
		return false
	default:
		r.conns.Go(func() { r.refuse(c, why) }) // the client may keep it waiting
		return false
	}
	if polled && p.Block() != nil {
		c.close()
		c.slot.leave()
		return false
	}
	r.conns.Go(func() {
		defer func() {
			if !c.polled {
				c.close()
				c.slot.leave()
			}
		}()
		serve(c)
	})
	return true
}

// serve takes one request and answers it.
func (r *run) serve(c *conn) {
	line, err := r.readRequest(c)
	switch {
	case errors.Is(err, errRefused):
		return
	case errors.Is(err, errSilent):
		r.silent(c.remote, err)
		return
	}
	c.slot.turn(writing)
	ctx, cancel := context.WithCancel(r.hard)
	defer cancel()
	c.cancel.Store(&cancel)
	// From here on only the end of the drain cuts the connection off.
	stop := context.AfterFunc(r.hard, func() { c.cut(c.slot) })
	defer stop()
	http := r.proto == nil && isHTTP(line)
	if http && r.HTTP == nil {
		r.refuse(c, noHTTP)
		return
	}
	req := r.request(ctx, c)
	w := &reply{conn: c.talk(), stall: r.stallTimeout(), busy: r.isBusy, host: req.Host, port: req.Port}
	defer w.release()
	var refused error // which an answer of HTTP says
	told := false     // of each request on the connection
	if http {
		req.Selector = string(line) // for the log
		r.watch(c, w, req.Selector)
		h := r.newHTTPConn(c, w)
		stop := context.AfterFunc(r.soft, h.end)
		refused = r.protect(req, func() error { return r.HTTP(h, req) })
		stop()
		_ = h.Close()
		told = h.told.Load()
		err = w.err
	} else if err == nil {
		err = r.gopher(c, w, req, line)
	}
	unfinished := r.answer(w, err)
	if w.progress.end() {
		return // who gave it up has done the rest
	}
	if !errors.Is(err, w.err) {
		err = errors.Join(w.err, err)
	}
	if !told {
		r.logRequest(req.outcome(w.n, time.Since(c.accepted), errors.Join(refused, err)))
	}
	r.end(c, unfinished)
}

func (r *run) gopher(c *conn, w *reply, req *Request, line []byte) (err error) {
	if r.proto != nil {
		req.Protocol, req.Raw = r.proto.Name, string(line)
	} else if req.RequestLine, err = selector.Parse(line); err != nil {
		return &Error{Kind: BadRequest, Err: err}
	}
	r.watch(c, w, req.Selector)
	err = r.call(w, req)
	if limit.Reached(err) && !w.started() {
		return r.callAgain(w, req, err)
	}
	return err
}

// callAgain calls the handler again after it reached a limit, which is not the
// request's fault: it closes silent connections, or waits. It gives up after
// RequestTimeout.
func (r *run) callAgain(w *reply, req *Request, err error) error {
	var wait backoff
	for end := time.Now().Add(r.requestTimeout()); limit.Reached(err) && !w.started() && time.Now().Before(end); {
		if !r.spareFiles(err) {
			select {
			case <-time.After(wait.next()):
			case <-r.hard.Done():
				return err
			}
		}
		err = r.call(w, req)
	}
	return err
}

func (r *run) request(ctx context.Context, c *conn) *Request {
	local := c.local
	if !local.IsValid() {
		local = addrPort(c.LocalAddr())
	}
	req := &Request{Remote: c.remote, Local: local, TLS: c.tls != nil, ServerName: c.asks, ctx: ctx}
	if c.tls != nil {
		req.ServerName = c.tls.ConnectionState().ServerName
	}
	req.Host, req.Port = r.here(local)
	return req
}

// here returns the host and port that menus name as this server, for a client that
// connected to a local address; the host is "" if only a wildcard is known.
func (s *Server) here(local netip.AddrPort) (host string, port int) {
	host, port = s.Host, s.Port
	if host == "" && local.IsValid() && !local.Addr().IsUnspecified() {
		host = local.Addr().String()
	}
	if port == 0 {
		port = int(local.Port())
	}
	return host, port
}

// call asks the handler.
func (r *run) call(w ResponseWriter, req *Request) error {
	return r.protect(req, func() error { return r.handler().ServeGopher(w, req) })
}

// protect calls f, and turns a panic into an error of this request alone.
func (r *run) protect(req *Request, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.logger.Error("handler panicked", "selector", req.Selector, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}

// answer ends the reply, with an error item if there was an error and nothing
// was written. It returns why the reply is not whole, if it is not.
func (r *run) answer(w *reply, err error) error {
	switch {
	case err == nil:
		return w.finish()
	case !w.started():
		_, _ = w.Write(r.errorBody(err))
		return w.flush()
	}
	_ = w.flush() // it cannot be taken back
	return err
}

// end closes gently after a reply, and with a reset after one that failed: an orderly
// close would make a truncated reply look complete; a reset also frees the kernel's send
// buffer. A file that became shorter counts as complete.
func (r *run) end(c *conn, err error) {
	if err == nil || errors.Is(err, ErrShort) {
		r.linger(c)
	} else {
		c.reset()
	}
}

// linger closes gently: it shuts down the sending side and goes on reading, so that the
// kernel does not answer late bytes with a reset that would cost the client the reply.
func (r *run) linger(c *conn) {
	c.slot.turn(lingering)
	if c.tls != nil && c.tls.CloseWrite() != nil {
		return
	}
	p, ok := c.Conn.(interface{ Linger() bool })
	if !ok {
		c.drain(r.lingerTimeout())
		return
	}
	c.polled = true
	if !p.Linger() {
		c.slot.leave()
	}
}

// silent logs a connection that has ended without a request.
func (r *run) silent(remote netip.AddrPort, why error) {
	r.logger.Debug("no request", "remote", r.name(remote.Addr()), "reason", why)
}

// watch sets the alarm for the reply to a request.
func (r *run) watch(c *conn, w *reply, sel string) {
	p := &w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.under != nil {
		c.under.progress = p
	}
	p.last = time.Now()
	p.alarm = time.AfterFunc(w.stall, func() {
		if stuck, sending := p.stuck(w.stall); stuck {
			r.giveUp(c, w, sel, sending)
		}
	})
}

// giveUp ends a request whose handler is stuck. The handler cannot send any more. If it
// is just sending, the number of bytes sent is unknown.
func (r *run) giveUp(c *conn, w *reply, sel string, sending bool) {
	var n int64
	if !sending {
		n = w.n
	}
	stuck := func(n int64) Served {
		return Served{Host: w.host, Port: w.port, Selector: sel, Remote: c.remote, Bytes: n, Took: time.Since(c.accepted), Err: errStuck}
	}
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a request does not end", slog.String("selector", sel), slog.Int("times", times))
	}
	if sending || n > 0 || r.proto == nil && isHTTP([]byte(sel)) {
		c.unwanted()
		r.logRequest(stuck(n))
		c.abort()
	} else {
		body := r.errorBody(errStuck)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		sent, _ := c.talk().Write(body)
		c.unwanted() // not before: a handler that ends then closes the connection
		r.logRequest(stuck(int64(sent)))
		if c.tls == nil || c.tls.CloseWrite() == nil {
			c.drain(r.lingerTimeout())
		}
		c.close()
	}
	r.gaveUp.Do(func() { close(r.stuck) })
}

// stuckKey stands for requests that do not end among the addresses that the
// log names.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// An Observer gets each request when its reply has ended. Observe may be called
// concurrently and on the accepting goroutine, so it must not block.
type Observer interface {
	Observe(Served)
}

// Served describes a request and its outcome.
type Served struct {
	Protocol string         // "gopher", "http", or a Protocol's name
	Host     string         // of the site that answered: Request.Site, or else Request.Host
	Port     int            // of the server in menus
	Selector string         // "" if the request was none
	Remote   netip.AddrPort // invalid if it is not known
	Bytes    int64          // of the reply, as far as they were sent
	Took     time.Duration  // since the connection was accepted
	Err      error          // nil, or why the client did not get what it asked for

	Status         int    // of an HTTP reply; 0: Kind's
	Agent, Referer string // of an HTTP request
}

// HTTPStatus returns the status of the reply, as HTTP has them.
func (s Served) HTTPStatus() int { return cmp.Or(s.Status, s.Kind().Status()) }

// outcome returns how a request ended.
func (r *Request) outcome(n int64, took time.Duration, err error) Served {
	return Served{Host: cmp.Or(r.Site, r.Host), Port: r.Port, Selector: r.Selector, Remote: r.Remote, Bytes: n, Took: took, Err: err}
}

// Status returns the HTTP status for each outcome of a request. 499 is nginx's for a
// client that went away.
func (k Kind) Status() int { return statuses[k] }

var statuses = [Kinds]int{
	OK: 200, NotFound: 404, BadRequest: 400, TooMany: 429, Forbidden: 403, Busy: 503, Gone: 499, Internal: 500,
}

// Kind returns how the request ended.
func (s Served) Kind() Kind { return KindOf(s.Err) }

// logRequest passes a request to the observer, and to the log in one line.
func (r *run) logRequest(s Served) {
	s.Protocol = r.protocol(s.Selector)
	if r.Observer != nil {
		r.Observer.Observe(s)
	}
	level, msg := slog.LevelInfo, diag.EventRequest
	kind := s.Kind()
	if kind == Busy || kind == Internal {
		level = slog.LevelWarn
	}
	if !r.logger.Enabled(r.hard, level) {
		return
	}
	attrs := [6]slog.Attr{
		slog.String("remote", r.name(s.Remote.Addr())), slog.String("selector", s.Selector), slog.Int64("bytes", s.Bytes),
		slog.Duration("took", s.Took), slog.Int("status", s.HTTPStatus()),
	}
	list := attrs[:5]
	if s.Err != nil {
		list = append(list, slog.String("error", s.Err.Error()))
	}
	// Logger.LogAttrs would look up where it was called from, which costs as
	// much as all the rest and is always here.
	rec := slog.NewRecord(time.Now(), level, msg, 0)
	rec.AddAttrs(list...)
	_ = r.hostLog(s.Host, s.Protocol).Handle(r.hard, rec)
}

// hostLog returns the log's handler for requests to a host. It keeps the last one: a
// record has room for five attributes, and more would be allocated each time.
func (r *run) hostLog(host, protocol string) slog.Handler {
	if last := r.lastHost.Load(); last != nil && last.host == host && last.protocol == protocol {
		return last.Handler
	}
	h := r.logger.Handler().WithAttrs([]slog.Attr{slog.String("host", host), slog.String("protocol", protocol)})
	r.lastHost.Store(&hostHandler{h, host, protocol})
	return h
}

// show returns an address in the form for logs.
func (s *Server) show(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "-"
	case s.ShowIP != nil:
		return s.ShowIP(a)
	}
	return a.String()
}

// name is show with a cache of the last address.
func (r *run) name(a netip.Addr) string {
	if last := r.last.Load(); last != nil && last.addr == a {
		return last.text
	}
	text := r.show(a)
	r.last.Store(&named{a, text})
	return text
}
