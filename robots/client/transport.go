package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
)

// ErrDenied marks a request that a robots file forbids.
var ErrDenied = errors.New("robots.txt denies it")

// A DeniedError is a request that was not sent. It is [ErrDenied].
type DeniedError struct {
	URL      string
	Decision robots.Decision
}

// Error names the rule. The URL and the rule are cut if they are long.
func (e *DeniedError) Error() string {
	url := truncate(e.URL, maxErrorText/2)
	if e.Decision.Rule.Line == 0 {
		return fmt.Sprintf("%s: robots.txt denies it: %s", url, e.Decision.Reason)
	}
	return fmt.Sprintf("%s: robots.txt denies it: line %d, %q", url, e.Decision.Rule.Line, truncate(e.Decision.Rule.Pattern, maxErrorText/16))
}

// Is makes the error an ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// A Reply is the answer to one request. The caller closes its body.
type Reply struct {
	URL    *url.URL    // after redirects
	Status int         // of HTTP or Gemini; 0 on Gopher, which has none
	Meta   string      // the media type, or Gemini's text after the status
	Header http.Header // nil but for HTTP
	Body   io.ReadCloser
	Rules  *HostRules // of the host that answered
}

// redirect returns where the reply leads, or nil.
func (r *Reply) redirect() *url.URL {
	switch {
	case r.Header == nil && r.Status/10 == 3:
		return location(r.URL, r.Meta)
	case r.Header != nil && isRedirect(r.Status):
		return location(r.URL, r.Header.Get("Location"))
	}
	return nil
}

// location returns where a redirect from a URL leads; nil: nowhere. HTTP leads to HTTP
// and HTTPS, Gemini to Gemini. Without a URL it may be any of the web.
func location(from *url.URL, to string) *url.URL {
	if from == nil {
		from = &url.URL{Scheme: "http", Host: "host"}
	}
	if to == "" || len(to) > dial.MaxURL {
		return nil
	}
	next, err := from.Parse(to)
	if err != nil || len(next.String()) > dial.MaxURL {
		return nil
	}
	web := strings.HasPrefix(from.Scheme, "http")
	if next.Scheme != from.Scheme && !(web && (next.Scheme == "http" || next.Scheme == "https")) {
		return nil
	}
	return next
}

// slowDown is how long the reply asks to wait before the next request.
func (r *Reply) slowDown() time.Duration {
	if seconds, err := strconv.ParseUint(r.Meta, 10, 16); r.Status == 44 && err == nil {
		return time.Duration(seconds) * time.Second
	}
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		return retryAfter(r.Header, time.Now())
	}
	return 0
}

// admit asks the host of a URL and waits for the time of the next request.
func (c *Client) admit(ctx context.Context, rawURL string) (*HostRules, error) {
	u, o, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	a, err := c.get(ctx, o)
	if err != nil {
		return nil, err
	}
	if a.Access == Unreachable {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, a.Err)
	}
	if d := a.Decide(target(u)); !d.Allowed {
		return nil, &DeniedError{u.Redacted(), d}
	}
	return a, a.Pace.Wait(ctx)
}

// learn updates the pace from a reply: how long it took, and how long to wait.
func (a *HostRules) learn(r *Reply, took time.Duration) {
	a.Pace.Took(took)
	if wait := r.slowDown(); wait > 0 {
		a.Pace.Hold(time.Now().Add(wait))
	}
}

// Do gets a document over gopher, gophers, gemini, http or https, as a polite robot
// does: it asks the host's robots file, waits for the host's pace, and asks and waits
// again for each redirect. It follows at most five. The error is [ErrDenied] if the
// rules deny the request, and [ErrUnreachable] if the host's file cannot be fetched. A
// status other than success is no error.
func (c *Client) Do(ctx context.Context, rawURL string) (*Reply, error) {
	f := c.fetcher()
	h := f.hops()
	for range maxRedirects + 1 {
		a, err := c.admit(ctx, rawURL)
		if err != nil {
			return nil, err
		}
		u, _, err := parse(rawURL)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		r, err := f.open(ctx, u, h, validity{})
		if err != nil {
			return nil, bounded(fmt.Errorf("fetching %s: %w", u.Redacted(), err))
		}
		r.Rules = a
		a.learn(r, time.Since(start))
		next := r.redirect()
		if next == nil {
			return r, nil
		}
		_ = r.Body.Close()
		if f.Redirect != nil {
			if err := f.Redirect(ctx, u, next); err != nil {
				return nil, bounded(fmt.Errorf("fetching %s: %w", u.Redacted(), err))
			}
		}
		rawURL = next.String()
	}
	return nil, fmt.Errorf("fetching %s: more than %d redirects", truncate(rawURL, maxErrorText/2), maxRedirects)
}

// Transport makes any HTTP client a polite robot:
//
//	http.Client{Transport: &client.Transport{Client: &client.Client{Agent: "mybot"}}}
//	colly.NewCollector().WithTransport(&client.Transport{Client: bot})
//	resty.New().SetTransport(&client.Transport{Client: bot})
//
// It sends each request, also after a redirect, only if the host's robots file
// allows it, and when the host's pace does. If the file denies it, the error is
// [ErrDenied]. Replies 429 and 503 with Retry-After hold the host's pace.
type Transport struct {
	Client *Client           // must not be nil; its Fetcher gets the robots files
	Base   http.RoundTripper // sends the requests; if nil, http.DefaultTransport
}

// RoundTrip is part of [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	a, err := t.Client.admit(req.Context(), req.URL.String())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	if req.Header.Get("User-Agent") == "" && t.Client.Agent != "" {
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", t.Client.Agent)
	}
	start := time.Now()
	resp, err := base.RoundTrip(req)
	if err == nil {
		a.learn(&Reply{Status: resp.StatusCode, Header: resp.Header}, time.Since(start))
	}
	return resp, err
}
