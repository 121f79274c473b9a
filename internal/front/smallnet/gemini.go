package smallnet

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Gemini (specification 0.24): over TLS, one URL of at most 1,024 bytes and CRLF.

const maxURL = 1024

var geminiFormat = gemtext("=>")

// Gemini returns the protocol of Gemini.
func (f *Protocols) Gemini() *server.Protocol {
	h := &handler{
		Protocols: f,
		parse:     parseGemini,
		format:    geminiFormat,
		reply:     replyGemini,
		head:      "20 " + robotsType + "\r\n",
	}
	return &server.Protocol{
		Name:       "gemini",
		TLS:        true,
		ClientCert: f.ClientCert,
		Error:      geminiError,
		Handler:    h,
		Robots:     h.isRobots,
		Length:     func(head []byte) int { return lineLength(head, maxURL+1) },
	}
}

func parseGemini(r *server.Request) (q request, err error) {
	u, err := geminiURL(r.Raw)
	if err != nil {
		return q, err
	}
	q = request{host: u.Hostname(), path: u.EscapedPath(), authority: u.Host}
	r.URLPort = selector.PortOf("gemini")
	if port, err := strconv.Atoi(u.Port()); err == nil {
		r.URLPort = port
	}
	if u.Scheme != "gemini" ||
		r.URLPort != int(r.Local.Port()) && r.URLPort != selector.PortOf("gemini") {
		return q, errOtherHost
	}
	q.query, err = url.PathUnescape(u.RawQuery)
	if err != nil {
		return q, badRequest("Bad query")
	}
	return q, nil
}

func replyGemini(w server.ResponseWriter, r *server.Request, q request, a *answer.Value,
	kind string) error {
	switch a.Class {
	case answer.Question:
		return send(w, "10 "+oneLine(a.Prompt), nil)
	case answer.Moved, answer.Redirect:
		to, status := target(r, a), "30 "
		if strings.HasPrefix(to, "/") {
			to = "gemini://" + q.authority + to
		}
		if len(to) > maxURL {
			return badRequest("The URL has more than 1024 bytes, escaped")
		}
		if a.Permanent || a.Class == answer.Moved {
			status = "31 "
		}
		return send(w, status+to, nil)
	case answer.Status:
		return send(w, a.Prompt, nil)
	case answer.Leaving: // a redirect would lend the site's name to whatever a stranger writes behind it
		a = linked(target(r, a))
	}
	return send(w, "20 "+kind, a)
}

// geminiURL parses a request.
func geminiURL(raw string) (*url.URL, error) {
	line, ok := strings.CutSuffix(raw, "\r\n")
	switch {
	case len(line) > maxURL:
		return nil, badRequest("The URL has more than 1024 bytes")
	case !ok:
		return nil, badRequest("The request does not end in CR LF")
	case strings.ContainsFunc(line, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, badRequest("The URL has characters that must be escaped")
	}
	u, err := url.Parse(line)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Opaque != "" {
		return nil, badRequest("The request is no absolute URL")
	}
	if u.User != nil || strings.Contains(line, "#") {
		return nil, badRequest("The URL has a user or a fragment")
	}
	return u, nil
}

// geminiError is the reply to a request that failed.
func geminiError(err error) []byte {
	status := map[server.Kind]string{
		server.NotFound:   "51",
		server.BadRequest: "59",
		server.TooMany:    "44",
		server.Forbidden:  "50",
		server.Busy:       "40",
		server.Gone:       "40",
	}[server.KindOf(err)]
	meta := server.ErrorMessage(err)
	switch {
	case errors.Is(err, errOtherHost):
		status = "53"
	case status == "44":
		meta = strconv.Itoa(server.RetryAfter)
	case status == "":
		status = "50"
	}
	return fmt.Appendf(nil, "%s %s\r\n", status, meta)
}
