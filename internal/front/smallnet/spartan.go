package smallnet

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// Spartan: "host path length" and CRLF, then a block of that many bytes, which is the
// query. Without a block, what follows a question mark in the path is.

const maxBlock = 1024

var spartanFormat = gemtext("=:")

// Spartan returns the protocol of Spartan.
func (f *Protocols) Spartan() *server.Protocol {
	h := &handler{
		HandlerFunc: f.serveSpartan,
		path:        spartanPath,
		hosts:       f.Hosts,
		head:        "2 " + robotsType + "\r\n",
	}
	return &server.Protocol{
		Name:    "spartan",
		Length:  spartanLength,
		Robots:  h.isRobots,
		Error:   spartanError,
		Handler: h,
	}
}

// spartanLength is the length of a request, its block included.
func spartanLength(head []byte) int {
	n := lineLength(head, maxURL+300)
	if n == 0 {
		return 0
	}
	_, _, block, err := spartanLine(string(head[:n]))
	switch {
	case err != nil || block > maxBlock:
		return n
	case len(head) < n+block:
		return 0
	}
	return n + block
}

// spartanPath returns the host and the path of a request.
func spartanPath(raw string) (host, path string, err error) {
	line, _, _ := strings.Cut(raw, "\n")
	host, path, _, err = spartanLine(line + "\n")
	if name, _, splitErr := net.SplitHostPort(host); splitErr == nil {
		host = name
	}
	return strings.Trim(host, "[]"), path, err
}

// spartanLine parses the first line of a request.
func spartanLine(line string) (host, path string, block int, err error) {
	line, ok := strings.CutSuffix(line, "\r\n")
	words := strings.Split(line, " ")
	if !ok || len(words) != 3 || words[0] == "" || !strings.HasPrefix(words[1], "/") {
		return "", "", 0, badRequest("The request is not HOST PATH LENGTH")
	}
	block, err = strconv.Atoi(words[2])
	if err != nil || block < 0 {
		return "", "", 0, badRequest("The length is no number")
	}
	return words[0], words[1], block, nil
}

func (f *Protocols) serveSpartan(w server.ResponseWriter, r *server.Request) error {
	line, block, _ := strings.Cut(r.Raw, "\n")
	r.Selector = strings.TrimSpace(line)
	_, _, n, err := spartanLine(line + "\n")
	switch {
	case err != nil:
		return err
	case n > maxBlock:
		return badRequest("The block has more than 1024 bytes")
	case len(block) < n:
		return badRequest("The block is shorter than its length")
	}
	host, path, err := spartanPath(r.Raw)
	if err != nil {
		return err
	}
	query := block[:n]
	path, asked, _ := strings.Cut(path, "?") // as a redirect carries a query
	if query == "" {
		if query, err = url.PathUnescape(asked); err != nil {
			return badRequest("Bad query")
		}
	}
	if !utf8.ValidString(query) {
		query = menu.FromLatin1(query)
	}
	a, kind, err := f.ask(r, host, path, strings.TrimSpace(oneLine(query)), spartanFormat)
	if err != nil {
		return err
	}
	defer a.Close()
	switch a.Class {
	case answer.Question:
		return send(w, "2 "+kind,
			&answer.Value{Body: fmt.Appendf(nil, "=: %s %s\n", answer.Reference(a.Selector),
				oneLine(a.Prompt))})
	case answer.Moved:
		return send(w, "3 "+reference(r, a), nil)
	case answer.Redirect:
		if strings.HasPrefix(a.URL, "/") {
			return send(w, "3 "+a.URL, nil)
		}
		return send(w, "2 "+kind, leaving(a)) // a redirect of Spartan is a path
	case answer.Leaving:
		return send(w, "2 "+kind, leaving(a))
	}
	return send(w, "2 "+kind, a)
}

func spartanError(err error) []byte {
	status := 4
	if k := server.KindOf(err); k == server.Busy || k == server.Internal || k == server.Gone {
		status = 5
	}
	return fmt.Appendf(nil, "%d %s\r\n", status, server.ErrorMessage(err))
}

func isOtherHost(err error) bool { return errors.Is(err, errOtherHost) }

// Nex: a path and a line end; a directory is text with links, all else is sent as it
// is. There is no status, so an error is a line of text.

var nexFormat = &answer.Format{
	Paths: true,
	Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
		var b bytes.Buffer
		for _, it := range a.Items {
			label := oneLine(it.Text())
			switch t := q.Target(it); {
			case t.Asks && t.Path != "": // a Spartan client sends no query with a path
				b.WriteString(label + "\n")
			case t.Path != "":
				b.WriteString("=> " + answer.Reference(t.Path) + " " +
					strings.TrimSpace(label) + "\n")
			case t.URL != "":
				b.WriteString("=> " + oneLine(t.URL) + " " + strings.TrimSpace(label) + "\n")
			default:
				b.WriteString(strings.TrimRight(label, " ") + "\n")
			}
		}
		return b.Bytes(), nil
	},
}

// Nex returns the protocol of Nex.
func (f *Protocols) Nex() *server.Protocol {
	h := &handler{HandlerFunc: f.serveNex, path: nexPath, hosts: f.Hosts}
	return &server.Protocol{
		Name:    "nex",
		Error:   func(err error) []byte { return []byte(server.ErrorMessage(err) + "\n") },
		Handler: h,
		Robots:  h.isRobots,
		Length:  func(head []byte) int { return lineLength(head, maxURL) },
	}
}

// nexPath returns the path of a request, which names no host.
func nexPath(raw string) (host, path string, err error) {
	return "", "/" + strings.TrimLeft(strings.TrimRight(raw, "\r\n"), "/"), nil
}

func (f *Protocols) serveNex(w server.ResponseWriter, r *server.Request) error {
	r.Selector = strings.TrimSpace(r.Raw)
	host, path, _ := nexPath(r.Raw)
	a, _, err := f.ask(r, host, path, "", nexFormat)
	if err != nil {
		return err
	}
	defer a.Close()
	switch a.Class {
	case answer.Question:
		_, err = w.Write([]byte("This is a search, which Nex has no way to ask.\n"))
	case answer.Leaving, answer.Redirect:
		_, err = leaving(a).WriteTo(w)
	case answer.Moved:
		_, err = w.Write([]byte("=> " + answer.Reference(a.Selector) + "\n"))
	default:
		_, err = a.WriteTo(w)
	}
	return err
}
