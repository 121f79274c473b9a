package getcmd

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/selector"
)

// A protocol is another one than Gopher.
type protocol struct {
	tls     bool
	header  bool // a reply begins with a line: a status, a space, its meaning
	request func(u *url.URL, query string) string
}

var protocols = map[string]protocol{
	"gemini": {true, true, func(u *url.URL, _ string) string { return u.String() + "\r\n" }},
	"spartan": {false, true, func(u *url.URL, query string) string {
		return fmt.Sprintf("%s %s %d\r\n%s", u.Hostname(), u.EscapedPath(), len(query), query)
	}},
	"nex": {false, false, func(u *url.URL, _ string) string { return u.EscapedPath() + "\r\n" }},
	"finger": {false, false, func(u *url.URL, _ string) string {
		return strings.TrimPrefix(u.Path, "/") + "\r\n"
	}},
}

const (
	maxRedirects = 5
	maxHeader    = 4096 // bytes; Gemini's are at most 1,029
)

// follow fetches a URL, and follows redirects.
func (c *Get) follow(ctx context.Context, raw string) error {
	u, err := parseURL(raw)
	for n := 0; err == nil && u != nil; n++ {
		if n > maxRedirects {
			return fmt.Errorf("%s: more than %d redirects", raw, maxRedirects)
		}
		u, err = c.fetch(ctx, u)
	}
	return err
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	var query string
	if err == nil {
		query, err = url.PathUnescape(u.RawQuery)
	}
	switch {
	case err != nil:
	case u.Hostname() == "":
		err = errors.New("no host")
	case u.User != nil:
		err = errors.New("a user name is not allowed in it")
	case strings.ContainsFunc(u.Path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		err = errors.New("a control character in its path")
	case len(query) > 1024:
		err = errors.New("a query of more than 1024 bytes")
	}
	if err != nil {
		hint := "gophd get gemini://host/file.gmi"
		if strings.HasPrefix(strings.ToLower(raw), "finger:") {
			hint = "gophd get finger://host/user"
		}
		return nil, exit.Usagef(hint, "reading the URL %q: %w", raw, err)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// fetch prints what a URL leads to, or returns the URL that it redirects to.
func (c *Get) fetch(ctx context.Context, u *url.URL) (moved *url.URL, err error) {
	p := protocols[u.Scheme]
	addr := net.JoinHostPort(u.Hostname(), strconv.Itoa(selector.PortOf(u.Scheme)))
	if u.Port() != "" {
		addr = u.Host
	}
	var conf *tls.Config
	if p.tls {
		conf = &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // #nosec G402: trust on first use
			VerifyConnection: func(s tls.ConnectionState) error {
				return trust(addr, s.PeerCertificates[0], c.Insecure)
			},
		}
	}
	query, _ := url.PathUnescape(u.RawQuery) // parseURL has read it
	in, err := c.send(ctx, addr, conf, p.request(u, query))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	r := bufio.NewReaderSize(in, maxHeader)
	if p.header {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return nil, c.readError(u.Host, fmt.Errorf("the first line of the reply: %w", err))
		}
		status, meta, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		if c.Raw {
			_, err = c.Out.Write(line)
		} else if moved, err = outcome(u, status, meta); moved != nil {
			return moved, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, c.readError(u.Host, c.copyFile(r))
}

// outcome returns the URL that a reply redirects to, and an error if the reply is
// neither a redirect nor a body.
func outcome(u *url.URL, status, meta string) (moved *url.URL, err error) {
	hint := ""
	kind := status
	if u.Scheme == "gemini" && len(status) == 2 {
		kind = map[byte]string{'1': "ask", '2': "2", '3': "3"}[status[0]]
	}
	switch kind {
	case "2":
		return nil, nil
	case "3":
		to, err := u.Parse(meta)
		if err == nil && to.Scheme == u.Scheme {
			return parseURL(to.String())
		}
		hint = "that is another protocol, or no URL"
	case "ask":
		hint = "add your answer to the URL: " + u.String() + "?words"
	}
	return nil, &exit.CommandError{
		Status: exit.No,
		Err:    fmt.Errorf("%s answers: %s %q", u.Host, status, meta),
		Hint:   hint,
	}
}
