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
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
)

// maxRedirects is how many redirects in a row are followed, across hosts (R11).
const maxRedirects = 5

// maxRetryAfter is the longest time for which a host that asks for it is left
// alone (R13).
const maxRetryAfter = 24 * time.Hour

// A Fetcher gets one document over gopher, gophers, http or https. The zero
// Fetcher works. It is for robots files: it sends no cookies and knows no cache.
type Fetcher struct {
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // for all schemes; if nil, that of net.Dialer; see DialPublic
	TLS       *tls.Config                                                          // for gophers and https; if nil, certificates must be valid
	Transport http.RoundTripper                                                    // for http and https, instead of Dial and TLS; if nil, http.DefaultTransport or one like it
	UserAgent string                                                               // for http and https; if empty, that of Go

	// Redirect is called before a redirect is followed. If it returns an error, the
	// fetch fails with that error. If nil, up to five redirects in a row are followed.
	// Without a Transport, a host with a public address may not redirect to one that
	// is not, whatever Redirect says; DialPublic refuses such addresses altogether.
	Redirect func(ctx context.Context, from, to *url.URL) error
}

// A StatusError is a status of HTTP other than 2xx. It is [fs.ErrNotExist] if the
// document is not there: 3xx and 4xx but 408, 425 and 429, by which the host says that
// it cannot answer now.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // what the host asks to be left alone, at most 24 h; 0: nothing
}

// Error names the status.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", again in %s", e.RetryAfter)
	}
	return strings.TrimSpace(text)
}

func (e *StatusError) absent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Status/100 == 3 || e.Status/100 == 4
}

// Is makes the error an fs.ErrNotExist.
func (e *StatusError) Is(target error) bool { return target == fs.ErrNotExist && e.absent() }

// statusError sorts a status by RFC 9309, section 2.3.1; nil is success. A status
// that is none is a failure. Retry-After is a number of seconds or a date (RFC
// 9110, section 10.2.3).
func statusError(status int, header http.Header, now time.Time) *StatusError {
	if status/100 == 2 {
		return nil
	}
	e := &StatusError{Status: status}
	after := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 32); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.RetryAfter = max(at.Sub(now), 0)
	}
	e.RetryAfter = min(e.RetryAfter, maxRetryAfter)
	return e
}

// Fetch gets the document of an URL. A document that is not there gives an
// error that is [fs.ErrNotExist]; any other error means that the host could not
// be reached, or could not answer (R12); one of HTTP is a [StatusError]. On
// Gopher, which has no status, only the document itself shows whether it exists:
// see [robots.File.Absent]. The context bounds the reading of the document too.
// The caller closes it.
func (f *Fetcher) Fetch(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	switch u.Scheme {
	case "gopher", "gophers":
		return f.gopher(ctx, u)
	case "http", "https":
		return f.http(ctx, u)
	}
	return nil, fmt.Errorf("fetching %s: scheme %q is not supported", u.Redacted(), u.Scheme)
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

// http follows redirects; what is beyond the last one is not there.
func (f *Fetcher) http(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if f.UserAgent != "" {
		req.Header.Set("User-Agent", f.UserAgent)
	}
	client := http.Client{Transport: f.transport(), CheckRedirect: f.checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if err := statusError(resp.StatusCode, resp.Header, time.Now()); err != nil {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("fetching %s: %w", u.Redacted(), err)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoded(encoding) {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("fetching %s: %w: it is in %.20q, which was not requested", u.Redacted(), robots.ErrUnreadable, encoding)
	}
	return resp.Body, nil
}

// encoded reports whether a body has a coding that was not requested: the transport
// asks for gzip, and takes it off.
func encoded(coding string) bool { return coding != "" && !strings.EqualFold(coding, "identity") }

// transport returns the one that is set, or one for a single fetch.
func (f *Fetcher) transport() http.RoundTripper {
	if f.Transport != nil {
		return f.Transport
	}
	h := &hops{dial: f.Dial}
	if h.dial == nil {
		h.dial = new(net.Dialer).DialContext
	}
	return &http.Transport{
		DialContext: h.connect, TLSClientConfig: f.TLS, Proxy: http.ProxyFromEnvironment,
		ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}
}

// checkRedirect ends a chain that is too long, or leaves the web, with the
// redirect itself as the answer.
func (f *Fetcher) checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	if f.Redirect != nil {
		return f.Redirect(next.Context(), via[len(via)-1].URL, next.URL)
	}
	return nil
}
