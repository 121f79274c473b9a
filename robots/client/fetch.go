package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
)

// maxRedirects is how many redirects in a row are followed, across hosts (R11).
const maxRedirects = 5

// maxRetryAfter bounds Retry-After (R13).
const maxRetryAfter = 24 * time.Hour

// A Fetcher gets one document over gopher, gophers, gemini, http or https. The zero
// Fetcher works. It is for robots files: it sends no cookies and knows no cache.
type Fetcher struct {
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // for all schemes; if nil, net.Dialer's; see DialPublic
	TLS       *tls.Config                                                          // for gophers, https and gemini; if nil, certificates must be valid, but for gemini
	Transport http.RoundTripper                                                    // for http and https, instead of Dial and TLS; if nil, http.DefaultTransport or one like it
	UserAgent string                                                               // for http and https; if empty, Go's

	// Redirect is called before a redirect is followed. If it returns an error, the
	// fetch fails with that error. If nil, up to five redirects in a row are followed.
	// Without a Transport, a host with a public address may never redirect to one with
	// a private address; DialPublic refuses such addresses altogether.
	Redirect func(ctx context.Context, from, to *url.URL) error
}

// A StatusError is a status other than success, of HTTP or (two digits) of Gemini; 0 if
// there was no response. It matches [fs.ErrNotExist] if the document does not exist: on
// HTTP for 4xx except 408, 425 and 429, and for one redirect too many; on Gemini for all
// except 4x and redirects without a target. The exceptions, all other redirects, and 304
// to an unconditional request are failures: the document could not be read.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // how long the host wants no requests, at most 24 h; 0: not specified

	astray bool // a redirect that leads nowhere
}

// Error names the status.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Status == 0 {
		text = "no response"
	}
	if e.astray {
		text += ", without a location that can be followed"
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", again in %s", e.RetryAfter)
	}
	return strings.TrimSpace(text)
}

func (e *StatusError) absent() bool {
	switch {
	case e.astray:
		return false
	case e.Status >= 10 && e.Status < 70: // of Gemini
		return e.Status/10 != 4
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return isRedirect(e.Status) || e.Status/100 == 4
}

// isRedirect reports whether a status of HTTP sends the client to another place (RFC
// 9110, section 15.4): 300 leaves the choice open, 304 is no redirect.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Is makes the error an fs.ErrNotExist.
func (e *StatusError) Is(target error) bool {
	return target == fs.ErrNotExist && e.absent()
}

// refuses reports whether a status of HTTP or Gemini means too many requests.
func refuses(status int) bool {
	return status == http.StatusTooManyRequests || status/100 == 5 || status/10 == 4
}

// retryAfter returns the delay in a Retry-After header, at most a day: a number of
// seconds, or a date (RFC 9110, section 10.2.3).
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if d, ok := seconds(value); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// seconds parses a number of seconds. It limits the result, also of numbers that overflow,
// to a day.
func seconds(text string) (d time.Duration, ok bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	n = min(n, uint64(maxRetryAfter/time.Second))
	return time.Duration(n) * time.Second, err == nil || errors.Is(err, strconv.ErrRange)
}

// Fetch returns the document of a URL. The error matches [fs.ErrNotExist] if there is no
// such document; any other error means that the host is unreachable or has failed (R12);
// a status of HTTP or Gemini is a [StatusError]. Gopher has no status: whether the
// document exists must be seen from its content (see [robots.File.Absent]). The context
// also bounds reading. The caller must close the document.
func (f *Fetcher) Fetch(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	body, _, err := f.fetch(ctx, u, validity{})
	return body, err
}

// errNotModified is the answer if the document is still the one that is known.
var errNotModified = errors.New("not modified")

// fetch is Fetch for a document whose validity may be known.
func (f *Fetcher) fetch(ctx context.Context, u *url.URL, known validity) (io.ReadCloser,
	validity, error) {
	r, err := f.follow(ctx, u, known, nil)
	if err != nil {
		return nil, validity{}, err
	}
	if err := r.asRobotsFile(known); err != nil {
		_ = r.Body.Close()
		return nil, known.after(r.Header), bounded(fmt.Errorf("fetching %s: %w", u.Redacted(), err))
	}
	return r.Body, validity{}.after(r.Header), nil
}

// follow requests a document and follows at most maxRedirects redirects; one more is
// returned as the reply. Before each request it calls admit, unless that is nil, for the
// rules of the host.
func (f *Fetcher) follow(ctx context.Context, u *url.URL, known validity,
	admit func(context.Context, *url.URL) (*HostRules, error)) (*Reply, error) {
	first, h := u, &hops{dial: f.Dial}
	for redirects := 0; ; redirects++ {
		var rules *HostRules
		if admit != nil {
			var err error
			if rules, err = admit(ctx, u); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		r, err := f.open(ctx, u, h, known)
		if err != nil {
			return nil, bounded(fmt.Errorf("fetching %s: %w", first.Redacted(), err))
		}
		if rules != nil {
			r.Rules = rules
			rules.learn(r, time.Since(start))
		}
		next := r.redirect()
		if next == nil || redirects == maxRedirects {
			return r, nil
		}
		_ = r.Body.Close()
		if f.Redirect != nil {
			if err := f.Redirect(ctx, u, next); err != nil {
				return nil, bounded(fmt.Errorf("fetching %s: %w", first.Redacted(), err))
			}
		}
		u = next
	}
}

// maxValidator bounds the validators that are kept. Longer ones are dropped: the
// document is then fetched in full.
const maxValidator = 256

// after returns the validity of a document after a response with this header.
func (v validity) after(header http.Header) validity {
	next := validity{
		retry:    retryAfter(header, time.Now()),
		ETag:     cmp.Or(header.Get("ETag"), v.ETag),
		Modified: cmp.Or(header.Get("Last-Modified"), v.Modified),
	}
	if len(next.ETag) > maxValidator {
		next.ETag = ""
	}
	if len(next.Modified) > maxValidator {
		next.Modified = ""
	}
	age, _ := seconds(header.Get("Age"))
	control := strings.Join(header.Values("Cache-Control"), ",")
	if control == "" {
		next.Good = v.Good
	}
	for directive := range strings.SplitSeq(control, ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch most, ok := seconds(strings.Trim(value, `"`)); {
		case name == "no-cache" || name == "no-store":
			next.Good = 1
		case name == "max-age" && ok && next.Good != 1:
			next.Good = max(most-age, 1)
		}
	}
	return next
}

// asRobotsFile returns why a reply has no robots file, or nil. It classifies the status by
// RFC 9309, section 2.3.1.
func (r *Reply) asRobotsFile(known validity) error {
	isFile := r.Status/10 == 2 || r.Status == 0 // of Gemini or Gopher
	status := r.Status
	if r.Header != nil {
		isFile = status/100 == 2
		if status < 100 { // no status of HTTP, so there was no response
			status = 0
		}
	}
	coding := r.Header.Get("Content-Encoding")
	var header strings.Builder
	_ = r.Header.Write(&header)
	switch {
	case header.Len() > maxHeader: // a client of the caller's reads more than ours
		return fmt.Errorf("the header of the response has more than %d bytes", maxHeader)
	case status == http.StatusNotModified && (known.ETag != "" || known.Modified != ""):
		return errNotModified
	case !isFile:
		return &StatusError{
			Status:     status,
			RetryAfter: r.slowDown(),
			astray:     r.isRedirect() && r.redirect() == nil,
		}
	case encoded(coding):
		return fmt.Errorf("%w: it is in %.20q, which was not requested",
			robots.ErrUnreadable, coding)
	}
	return nil
}

// encoded reports whether a body has a coding that was not requested. The transport
// requests gzip itself, and decodes it. What is no coding (utf-8, none) changes nothing.
func encoded(coding string) bool {
	for word := range strings.SplitSeq(strings.ToLower(coding), ",") {
		switch strings.TrimPrefix(strings.TrimSpace(word), "x-") {
		case "gzip", "compress", "deflate", "br", "zstd", "dcb", "dcz", "exi",
			"pack200-gzip", "aes128gcm":
			return true
		}
	}
	return false
}

// open sends one request, and follows no redirect.
func (f *Fetcher) open(ctx context.Context, u *url.URL, h *hops, known validity) (*Reply, error) {
	switch u.Scheme {
	case "gopher", "gophers":
		return f.gopher(ctx, u, h)
	case "gemini":
		return f.gemini(ctx, u, h)
	case "http", "https":
		return f.http(ctx, u, h, known)
	}
	return nil, fmt.Errorf("scheme %q is not supported", u.Scheme)
}

// send connects and sends one line.
func (f *Fetcher) send(ctx context.Context, u *url.URL, h *hops, config *tls.Config,
	line string) (*ask.Reply, error) {
	o, err := dial.OriginOf(u, dial.FilePorts)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(line, "\r\n\x00") {
		return nil, errors.New("line end in the selector")
	}
	return ask.Dialer{
		Dial: h.connect,
		TLS:  config,
	}.Send(ctx, o.Address(), u.Scheme != "gopher", line+"\r\n", math.MaxInt64)
}

// peeked is a body of which the beginning is read already.
type peeked struct {
	*bufio.Reader
	io.Closer
}

// gopher requests the selector in the URL; the reply ends when the server closes the
// connection.
func (f *Fetcher) gopher(ctx context.Context, u *url.URL, h *hops) (*Reply, error) {
	conn, err := f.send(ctx, u, h, f.TLS, gopherRequest(u))
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(conn, maxErrorText)
	r := &Reply{URL: u, Body: peeked{in, conn}}
	if first, _ := in.Peek(1); string(first) == "3" {
		item, _ := in.Peek(maxErrorText)
		r.Meta, _ = ask.IsError(item)
	}
	return r, nil
}

// The header of a Gemini response: two digits, a space, at most 1024 bytes, CRLF.
const maxGeminiHeader = 2 + 1 + 1024 + 2

// gemini sends the URL and reads the header of the response. Certificates are hardly
// ever signed by an authority there: without a TLS configuration any is accepted.
func (f *Fetcher) gemini(ctx context.Context, u *url.URL, h *hops) (*Reply, error) {
	config := f.TLS
	if config == nil {
		config = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} // #nosec G402: trust on first use is for VerifyConnection
	}
	host := url.URL{Scheme: u.Scheme, Host: u.Host}
	conn, err := f.send(ctx, u, h, config, host.String()+u.RequestURI())
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(conn, maxGeminiHeader)
	line, err := in.ReadSlice('\n')
	status, meta, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	number, bad := strconv.ParseUint(status, 10, 7)
	if err != nil || bad != nil || number < 10 || number > 69 {
		_ = conn.Close()
		return nil, fmt.Errorf("reading the header of the response %.40q: %w", line,
			cmp.Or(err, errors.New("no status")))
	}
	return &Reply{
		URL:    u,
		Status: int(number),
		Meta:   meta,
		Body:   peeked{in, conn},
	}, nil
}

// http sends one request.
func (f *Fetcher) http(ctx context.Context, u *url.URL, h *hops, known validity) (*Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	from, _ := ctx.Value(carriedKey{}).(carried)
	for field, value := range map[string]string{
		"User-Agent":        cmp.Or(from.agent, f.UserAgent),
		"If-None-Match":     known.ETag,
		"If-Modified-Since": known.Modified,
	} {
		if value != "" {
			req.Header.Set(field, value)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}

	// Not by http.Client: its errors repeat a Location that does not parse.
	resp, err := f.transport(h, from.transport).RoundTrip(req) //nolint:bodyclose // the caller closes Reply.Body
	if bad, ok := errors.AsType[tls.RecordHeaderError](err); ok &&
		string(bad.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch // the error of http.Client
	}
	if err != nil {
		return nil, err
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	return &Reply{
		URL:    u,
		Status: resp.StatusCode,
		Meta:   resp.Header.Get("Content-Type"),
		Header: resp.Header,
		Body:   resp.Body,
	}, nil
}

// transport returns f.Transport or, if nil, the Base of the calling Transport, or a transport
// for a single request.
func (f *Fetcher) transport(h *hops, asking *Transport) http.RoundTripper {
	if f.Transport != nil {
		return f.Transport
	}
	if asking != nil && asking.Base != nil && f.Dial == nil && f.TLS == nil {
		return asking.Base
	}
	return &http.Transport{
		DialContext:            h.connect,
		TLSClientConfig:        f.TLS,
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// maxHeader bounds the header of a response.
const maxHeader = 64 << 10
