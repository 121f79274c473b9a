package smallnet

import (
	"bytes"
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
		Protocols: f,
		parse:     parseSpartan,
		format:    spartanFormat,
		reply:     replySpartan,
		head:      "2 " + robotsType + "\r\n",
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

func parseSpartan(r *server.Request) (q request, err error) {
	line, block, _ := strings.Cut(r.Raw, "\n")
	host, path, n, err := spartanLine(line + "\n")
	if err != nil {
		return q, err
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	path, asked, _ := strings.Cut(path, "?") // as a redirect carries a query
	q = request{host: strings.Trim(host, "[]"), path: path}
	switch {
	case n > maxBlock:
		return q, badRequest("The block has more than 1024 bytes")
	case len(block) < n:
		return q, badRequest("The block is shorter than its length")
	case n > 0:
		asked = block[:n]
	default:
		if asked, err = url.PathUnescape(asked); err != nil {
			return q, badRequest("Bad query")
		}
	}
	if !utf8.ValidString(asked) {
		asked = menu.FromLatin1(asked)
	}
	q.query = strings.TrimSpace(oneLine(asked))
	return q, nil
}

func replySpartan(w server.ResponseWriter, r *server.Request, _ request, a *answer.Value,
	kind string) error {
	switch a.Class {
	case answer.Question:
		link := fmt.Sprintf("=: %s %s\n", answer.Reference(a.Selector), oneLine(a.Prompt))
		a = &answer.Value{Body: []byte(link)}
	case answer.Moved, answer.Redirect, answer.Leaving:
		to := target(r, a)
		if strings.HasPrefix(to, "/") { // only a path can be a redirect of Spartan
			return send(w, "3 "+to, nil)
		}
		a = linked(to)
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

// Nex: a path and a line end; a directory is text with links, all else is sent as it
// is. There is no status, so an error is a line of text.

var nexFormat = &answer.Format{
	Paths: true,
	Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
		var b bytes.Buffer
		for _, it := range a.Items {
			drawLink(&b, q, it, "", oneLine(it.Text()))
		}
		return b.Bytes(), nil
	},
}

// Nex returns the protocol of Nex.
func (f *Protocols) Nex() *server.Protocol {
	h := &handler{Protocols: f, parse: parseNex, format: nexFormat, reply: replyNex}
	return &server.Protocol{
		Name:    "nex",
		Error:   func(err error) []byte { return []byte(server.ErrorMessage(err) + "\n") },
		Handler: h,
		Robots:  h.isRobots,
		Length:  func(head []byte) int { return lineLength(head, maxURL) },
	}
}

func parseNex(r *server.Request) (request, error) {
	return request{path: "/" + strings.TrimLeft(strings.TrimRight(r.Raw, "\r\n"), "/")}, nil
}

func replyNex(w server.ResponseWriter, r *server.Request, _ request, a *answer.Value,
	_ string) error {
	switch a.Class {
	case answer.Question:
		a = &answer.Value{Body: []byte("This is a search, which Nex has no way to ask.\n")}
	case answer.Moved, answer.Redirect, answer.Leaving:
		a = linked(target(r, a))
	}
	_, err := a.WriteTo(w)
	return err
}
