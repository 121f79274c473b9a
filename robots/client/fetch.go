package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophd/gophd/robots/internal/dial"
)

// maxRedirects is how many redirects in a row are followed, across hosts (R11).
const maxRedirects = 5

// A Fetcher gets one document over gopher, gophers, http or https. The zero
// Fetcher works. It is for robots files: it sends no cookies and knows no cache.
type Fetcher struct {
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // for gopher and gophers; if nil, that of net.Dialer
	TLS       *tls.Config                                                          // for gophers; if nil, certificates must be valid, which few there are
	Transport http.RoundTripper                                                    // for http and https; if nil, http.DefaultTransport
	UserAgent string                                                               // for http and https; if empty, that of Go
}

// Fetch gets the document of an URL. A document that is not there gives an
// error that is [fs.ErrNotExist]; any other error means that the host could not
// be reached, or could not answer (R12). On Gopher, which has no status, only
// the document itself tells whether it is there: see [File.Absent]. The context
// bounds the reading of the document too. The caller closes it.
func (f *Fetcher) Fetch(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	switch u.Scheme {
	case "gopher", "gophers":
		return f.gopher(ctx, u)
	case "http", "https":
		return f.http(ctx, u)
	}
	return nil, fmt.Errorf("fetching %s: no way to fetch over %q", u.Redacted(), u.Scheme)
}

// gopher asks for the selector in the URL; the answer ends when the server
// closes the connection.
func (f *Fetcher) gopher(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	o, err := dial.OriginOf(u, dial.FilePorts)
	if err != nil {
		return nil, err
	}
	request := gopherRequest(u)
	if strings.ContainsAny(request, "\r\n\x00") {
		return nil, fmt.Errorf("fetching %s: line end in the selector", u.Redacted())
	}
	conn, err := dial.Dialer{Dial: f.Dial, TLS: f.TLS}.Connect(ctx, o.Address(), u.Scheme == "gophers")
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("asking %s: %w", o.Address(), err)
	}
	return conn, nil
}

// http follows redirects and sorts the status by RFC 9309, section 2.3.1: what
// is beyond the last redirect is not there. A status that is none is a failure.
func (f *Fetcher) http(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if f.UserAgent != "" {
		req.Header.Set("User-Agent", f.UserAgent)
	}
	client := http.Client{Transport: f.Transport, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if resp.StatusCode/100 == 2 {
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	err = fmt.Errorf("fetching %s: %s", u.Redacted(), resp.Status)
	if resp.StatusCode/100 == 3 || resp.StatusCode/100 == 4 {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return nil, err
}

// checkRedirect ends a chain that is too long, or leaves the web, with the
// redirect itself as the answer.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}
