// Package web answers those who ask a Gopher server in HTTP: browsers that were
// pointed at the port, and scanners. They get one answer in their own protocol
// (RFC 9110, 9112), which tells where to find what they asked for, and the
// robots.txt. Of what they send only the request line is read.
package web

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// clientList is where people find a Gopher client.
const clientList = "https://en.wikipedia.org/wiki/Gopher_(protocol)#Client_software"

// Page answers every request with a page that names the gopher URL of what was
// asked for, and /robots.txt with that of Handler.
type Page struct {
	Handler server.Handler

	// Type returns the item type of what a request asks for, or 0 if it does not
	// know. If nil, the type is guessed by the selector's name.
	Type func(*server.Request) byte
}

// Serve answers the request of a connection. It is a server.Server's HTTP.
func (p *Page) Serve(c net.Conn, r *server.Request) error {
	method, target := requestLine(r.Selector)
	a := p.answer(r, method, target)
	b := fmt.Appendf(nil, "HTTP/1.1 %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Connection: close\r\nX-Content-Type-Options: nosniff\r\n%s\r\n",
		a.status, time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), a.typ, len(a.body), a.header)
	if method != "HEAD" {
		b = append(b, a.body...)
	}
	_, err := c.Write(b)
	return errors.Join(err, a.err)
}

// requestLine takes a line such as "GET /path HTTP/1.1" apart.
func requestLine(line string) (method, target string) {
	method, rest, _ := strings.Cut(line, " ")
	return method, rest[:max(strings.LastIndexByte(rest, ' '), 0)]
}

// reply is a whole answer.
type reply struct {
	status string
	header string // more header lines, each with its end
	typ    string // Content-Type
	body   []byte
	err    error // for the log: why it is not 200
}

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

func (p *Page) answer(r *server.Request, method, target string) reply {
	if method != "GET" && method != "HEAD" {
		return reply{"405 Method Not Allowed", "Allow: GET, HEAD\r\n", plainText, []byte("This is a Gopher server.\n"), errMethod}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil || selector.HasControl(u.Path) {
		return reply{status: "400 Bad Request", typ: plainText, body: []byte("This is no path.\n"), err: errNoPath}
	}
	if u.Path == "/robots.txt" {
		return p.robots(r)
	}
	g := selector.URL{Host: r.Host, Port: r.Port, Type: p.itemType(r, u.Path), Selector: u.Path, TLS: r.TLS}
	if u.Path == "/" || u.Path == "" {
		g.Selector = ""
	}
	return reply{status: "200 OK", typ: htmlText, body: page(g.String())}
}

var (
	errMethod = &server.Error{Kind: server.BadRequest, Err: errors.New("a method of HTTP other than GET and HEAD")}
	errNoPath = &server.Error{Kind: server.BadRequest, Err: errors.New("no path of HTTP")}
)

// robots answers with what the handler has as robots.txt: to RFC 9309 it says the
// same as to Gopher robots.
func (p *Page) robots(r *server.Request) reply {
	var body capture
	err := p.Handler.ServeGopher(&body, ask(r, "/robots.txt"))
	switch server.KindOf(err) {
	case server.OK:
		return reply{status: "200 OK", typ: plainText, body: body.Bytes()}
	case server.NotFound:
		return reply{status: "404 Not Found", typ: plainText, body: []byte("Not found\n"), err: err}
	}
	return reply{status: "503 Service Unavailable", typ: plainText, body: []byte(server.ErrorMessage(err) + "\n"), err: err}
}

// ask is the same request in Gopher.
func ask(r *server.Request, sel string) *server.Request {
	asked := *r
	asked.Request = selector.Request{Selector: sel}
	return &asked
}

// capture is a ResponseWriter that keeps the reply.
type capture struct{ bytes.Buffer }

// WriteItem adds an item.
func (c *capture) WriteItem(it menu.Item) error {
	_, _ = c.Write(it.AppendTo(nil))
	return nil
}

func page(gopher string) []byte {
	u := html.EscapeString(gopher)
	return []byte(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This is a Gopher server</title>
</head>
<body>
<h1>This is a Gopher server</h1>
<p>What you asked for is at <a href="` + u + `">` + u + `</a>.</p>
<p>Your browser asked over HTTP. <a href="` + clientList + `">These programs</a> speak Gopher.</p>
</body>
</html>
`)
}

func (p *Page) itemType(r *server.Request, sel string) byte {
	if p.Type != nil {
		if typ := p.Type(ask(r, sel)); typ != 0 {
			return typ
		}
	}
	return guessType(sel)
}

// guessType goes by the name alone; one without an extension is a menu.
func guessType(sel string) byte {
	if strings.HasSuffix(sel, "/") || !strings.Contains(sel[strings.LastIndexByte(sel, '/')+1:], ".") {
		return menu.TypeMenu
	}
	t, _ := menu.TypeOf(sel)
	return t
}
