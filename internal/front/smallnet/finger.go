package smallnet

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Finger (RFC 1288): a user's tree in a few lines. An account without a tree is no user.

const (
	maxPlan = 16 << 10 // bytes of plan.txt and of project.txt
	newest  = 3        // dated texts
)

// Finger returns the protocol of Finger.
func (f *Protocols) Finger() *server.Protocol {
	return &server.Protocol{
		Name:    "finger",
		Error:   func(err error) []byte { return []byte(server.ErrorMessage(err) + "\r\n") },
		Handler: server.HandlerFunc(f.serveFinger),
		Length:  func(head []byte) int { return lineLength(head, maxURL) },
	}
}

var errNoUser = &server.Error{Kind: server.NotFound, Message: "no such user"}

func (f *Protocols) serveFinger(w server.ResponseWriter, r *server.Request) error {
	name := strings.TrimSpace(r.Raw)
	r.Selector = name
	if rest, ok := strings.CutPrefix(name, "/W"); ok {
		name = strings.TrimSpace(rest)
	}
	switch {
	case strings.Contains(name, "@"):
		return &server.Error{Kind: server.Forbidden, Message: "Finger forwarding is not offered"} // RFC 1288 section 3.2.1
	case name == "":
		return f.write(w, r, "/", siteFormat)
	case strings.ContainsAny(name, "/ \t"):
		return errNoUser
	}
	err := f.write(w, r, "/~"+name+"/", userFormat)
	if k := server.KindOf(err); k == server.NotFound || k == server.BadRequest {
		return errNoUser
	}
	return err
}

func (f *Protocols) write(w server.ResponseWriter, r *server.Request, sel string,
	form *answer.Format) error {
	a, _, err := f.ask(r, request{path: selector.URIPath(sel)}, form)
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Class != answer.Menu {
		return errNoUser
	}
	_, err = a.WriteTo(w)
	return err
}

var siteFormat = &answer.Format{Draw: func(q *answer.Asked, _ *answer.Value) ([]byte, error) {
	var b bytes.Buffer
	line(&b, q.Title(".", true))
	addresses(&b, q, "/")
	if q.Host.Hosts != nil {
		for _, it := range q.Host.Hosts() { // this one is among them, perhaps without a name
			if it.Host != "" && it.Host != q.Request.Host {
				line(&b, selector.URL{
					Host: it.Host,
					Port: cmp.Or(it.Port, q.Request.Port),
				}.String())
			}
		}
	}
	if q.View.HasUsers() {
		line(&b, fmt.Sprintf("Users with a place here: %d", len(q.View.Users())))
	}
	return b.Bytes(), nil
}}

var userFormat = &answer.Format{Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
	name, _, err := selector.Path(a.Selector)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	line(&b, q.Title(name, true))
	for _, file := range []string{"project.txt", "plan.txt"} {
		text, _, _ := q.Read(selector.Join(name, file), maxPlan)
		for l := range strings.Lines(text) {
			line(&b, strings.TrimRight(oneLine(l), " "))
		}
	}
	list, err := answer.NewestTexts(q.View, name, true, newest)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		line(&b, t.Day.Format(time.DateOnly)+" "+q.Title(t.Name, false))
	}
	addresses(&b, q, a.Selector)
	return b.Bytes(), nil
}}

// addresses writes the URLs of a directory on all enabled fronts.
func addresses(b *bytes.Buffer, q *answer.Asked, sel string) {
	line(b, answer.GopherURL(q.Request, menu.TypeMenu, sel))
	r := *q.Request
	if port, on := q.Host.Fronts["gemini"]; on {
		r.Protocol, r.URLPort = "gemini", port
		line(b, (&answer.Asked{Request: &r}).URL(menu.TypeMenu, sel))
	}
	if port, on := q.Host.Fronts["http"]; on {
		_, r.TLS = q.Host.Fronts["https"]
		r.URLPort = port
		line(b, answer.WebURL(&r, sel))
	}
}

// line writes a line in the form of RFC 1288 section 2.2.
func line(b *bytes.Buffer, s string) { b.WriteString(oneLine(s) + "\r\n") }
