package server

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// Browsers that were pointed at the port, and scanners, get one answer in their
// own protocol (RFC 9110, 9112), which tells where to find what they asked for.
// Of what they send only the request line is read: header and body are drained
// like everything else after a request.

// clientList is where people find a Gopher client.
const clientList = "https://en.wikipedia.org/wiki/Gopher_(protocol)#Client_software"

// httpLine takes apart a line such as "GET /path HTTP/1.1". Without a version
// (HTTP/0.9) it is a selector.
func httpLine(line []byte) (method, target string, ok bool) {
	parts := strings.Split(string(line), " ")
	if len(parts) < 3 || !isMethod(parts[0]) || !isVersion(parts[len(parts)-1]) {
		return "", "", false
	}
	return parts[0], strings.Join(parts[1:len(parts)-1], " "), true
}

func isMethod(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

func isVersion(s string) bool {
	number, ok := strings.CutPrefix(s, "HTTP/")
	return ok && number != "" && strings.Trim(number, "0123456789.") == ""
}

// httpReply is a whole answer.
type httpReply struct {
	status string
	header string // more header lines, each with its end
	typ    string // Content-Type
	body   []byte
	err    error // for the log: why it is not 200
}

// http answers a request of HTTP. It returns why the client does not get what it
// asked for, which the answer says, and why there is no answer.
func (r *run) http(w *reply, req *Request, method, target string, tls bool) (refused, err error) {
	a := r.httpReply(req, method, target, tls)
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Connection: close\r\nX-Content-Type-Options: nosniff\r\n%s\r\n",
		a.status, time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), a.typ, len(a.body), a.header)
	if method != "HEAD" {
		_, _ = w.Write(a.body)
	}
	return a.err, w.err
}

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

func (r *run) httpReply(req *Request, method, target string, tls bool) httpReply {
	if method != "GET" && method != "HEAD" {
		return httpReply{"405 Method Not Allowed", "Allow: GET, HEAD\r\n", plainText, []byte("This is a Gopher server.\n"), errMethod}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil || selector.HasControl(u.Path) {
		return httpReply{status: "400 Bad Request", typ: plainText, body: []byte("This is no path.\n"), err: errNoPath}
	}
	if u.Path == "/robots.txt" {
		return r.httpRobots(req)
	}
	g := selector.URL{Host: req.Host, Port: req.Port, Type: r.itemType(u.Path), Selector: u.Path, TLS: tls}
	if u.Path == "/" || u.Path == "" {
		g.Selector = ""
	}
	return httpReply{status: "200 OK", typ: htmlText, body: httpPage(g.String())}
}

var (
	errMethod = &Error{Message: ErrBadRequest.Message, Err: errors.New("a method of HTTP other than GET and HEAD")}
	errNoPath = &Error{Message: ErrBadRequest.Message, Err: errors.New("no path of HTTP")}
)

// httpRobots answers with what the handler has as robots.txt: to RFC 9309 it
// says the same as to Gopher robots.
func (r *run) httpRobots(req *Request) httpReply {
	asked := *req
	asked.Request = selector.Request{Selector: "/robots.txt"}
	var body bytes.Buffer
	err := r.call(&capture{&body}, &asked)
	switch {
	case err == nil:
		return httpReply{status: "200 OK", typ: plainText, body: body.Bytes()}
	case public(err) == ErrNotFound.Message:
		return httpReply{status: "404 Not Found", typ: plainText, body: []byte("Not found\n"), err: err}
	}
	return httpReply{status: "503 Service Unavailable", typ: plainText, body: []byte(public(err) + "\n"), err: err}
}

// capture is a ResponseWriter that keeps the reply.
type capture struct{ *bytes.Buffer }

// WriteItem adds an item.
func (c *capture) WriteItem(it menu.Item) error {
	_, _ = c.Write(it.AppendTo(nil))
	return nil
}

func httpPage(gopher string) []byte {
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

// typer is a handler that knows the item types of its selectors, or says 0.
type typer interface {
	ItemType(selector string) byte
}

func (r *run) itemType(sel string) byte {
	if t, ok := r.handler().(typer); ok {
		if typ := t.ItemType(sel); typ != 0 {
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

// ItemType returns the item type of a selector. Of what is not there it is a
// guess.
func (t *Tree) ItemType(sel string) byte {
	name, _, err := selector.Path(sel)
	if err != nil {
		return guessType(sel)
	}
	f, err := t.Site.Open(name)
	if err != nil {
		return guessType(sel)
	}
	defer func() { _ = f.Close() }()
	return fileType(f)
}
