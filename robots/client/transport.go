package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
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
	url := diag.Shorten(e.URL, maxErrorText/2)
	why := e.Decision.Reason.String()
	if rule := e.Decision.Rule; rule.Line > 0 {
		why = fmt.Sprintf("line %d, %q", rule.Line, diag.Shorten(rule.Pattern, maxErrorText/16))
	}
	return url + ": robots.txt denies it: " + why
}

// Is makes the error an ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// A Reply is the answer to one request.
type Reply struct {
	URL    *url.URL      // after redirects
	Status int           // of HTTP or Gemini; 0 on Gopher, which has none
	Meta   string        // HTTP's Content-Type; Gemini's text after the status; on Gopher empty, or the text of an error item
	Header http.Header   // nil but for HTTP
	Body   io.ReadCloser // of any length; the caller closes it
	Rules  *HostRules    // of the host that answered
}

// isRedirect reports whether the reply sends the client to another place.
func (r *Reply) isRedirect() bool {
	if r.Header == nil {
		return r.Status/10 == 3
	}
	return isRedirect(r.Status)
}

// redirect returns where the reply leads, or nil.
func (r *Reply) redirect() *url.URL {
	if !r.isRedirect() {
		return nil
	}
	to := r.Meta // of Gemini
	if r.Header != nil {
		to = r.Header.Get("Location")
	}
	return location(r.URL, to)
}

// location returns where a redirect from a URL leads; nil: nowhere. HTTP leads to HTTP
// and HTTPS, Gemini to Gemini. A nil URL is one of HTTP.
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

// slowDown returns how long to wait before the next request, by the reply.
func (r *Reply) slowDown() time.Duration {
	if r.Status == 44 && r.Header == nil {
		d, _ := seconds(r.Meta)
		return d
	}
	return retryAfter(r.Header, time.Now())
}

// admit checks the robots file of a URL's host, and waits until a request may start.
func (c *Client) admit(ctx context.Context, u *url.URL) (*HostRules, error) {
	a, d, err := c.decide(ctx, u.String())
	if err != nil {
		return nil, err
	}
	if !d.Allowed {
		return nil, &DeniedError{u.Redacted(), d}
	}
	return a, a.Pace.Wait(ctx)
}

// learn updates the pace from a reply: how long it took, and how long to wait.
func (a *HostRules) learn(r *Reply, took time.Duration) {
	a.Pace.Took(took)
	refused := refuses(r.Status) || r.Status == 0 && ask.IsBusy(r.Meta) // of Gopher
	if !refused {
		a.Pace.Answered()
	}
	a.Pace.heed(refused, r.slowDown())
}

// Do gets a document over gopher, gophers, gemini, http or https, as a polite robot
// does: it checks the host's robots file and waits for the host's pace, also before each
// redirect. It follows at most five. The error is [ErrDenied] if the
// rules deny the request, and [ErrUnreachable] if the host's file cannot be fetched. A
// status other than success is no error, nor is an error item of Gopher.
func (c *Client) Do(ctx context.Context, rawURL string) (*Reply, error) {
	u, _, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	r, err := c.fetcher().follow(ctx, u, validity{}, c.admit)
	if err == nil && r.redirect() != nil {
		_ = r.Body.Close()
		return nil, bounded(fmt.Errorf("fetching %s: more than %d redirects",
			u.Redacted(), maxRedirects))
	}
	return r, err
}

// Transport makes any HTTP client a polite robot:
//
//	http.Client{Transport: &client.Transport{Client: &client.Client{Agent: "mybot"}}}
//	resty.New().SetTransport(&client.Transport{Client: bot})
//
// It sends each request, also after a redirect, only if the host's robots file
// allows it, and when the host's pace does. If the file denies it, the error is
// [ErrDenied]. Replies 429 and 5xx, and Retry-After, slow the host's pace down. All requests
// have one User-Agent: that of the caller's request if Client.Agent is a part of it, or
// else Client.Agent.
//
// A pace is seconds, and clients have timeouts: colly's is ten seconds. A request that may
// not start before the end of its context fails at once with a [TooSoon], unless Patient is
// set:
//
//	c := colly.NewCollector()
//	c.WithTransport(&client.Transport{Client: bot, Patient: true})
//	c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 1})
//
// In place of Patient, colly can keep the pace itself:
//
//	rules, err := bot.Get(ctx, "https://example.org/")
//	// ...
//	delay, asked := rules.CrawlDelay()
//	if !asked {
//		delay = 10 * time.Second
//	}
//	c.Limit(&colly.LimitRule{DomainGlob: "example.org", Parallelism: 1, Delay: delay})
//
// Colly's SetProxy replaces the transport of its client, so after WithTransport it turns
// politeness off: set the proxy in Base instead.
type Transport struct {
	Client *Client // must not be nil

	// Base sends the requests, and those for robots files if Client has no Fetcher with a
	// Transport, Dial or TLS of its own. If nil, requests go by http.DefaultTransport.
	Base http.RoundTripper

	// Patient makes a request wait for the host's pace however long that takes. Its time
	// then counts from the end of the wait; once it would have been over without Patient,
	// nothing cancels the wait.
	Patient bool
}

// The errors of a Transport that cannot work.
var (
	errNoClient = errors.New("the Transport has no Client")
	errLoop     = errors.New("the base of the Transport is the Transport itself")
)

// base returns what sends the requests.
func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// carried is what a Transport passes in a context to its requests for robots files, and to
// those after a redirect.
type carried struct {
	transport *Transport
	agent     string        // the User-Agent
	time      time.Duration // of a Patient request, after its wait
}

type carriedKey struct{}

// RoundTrip is part of [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.roundTrip(req)
	if err != nil && req.Body != nil {
		_ = req.Body.Close()
	}
	return resp, err
}

func (t *Transport) roundTrip(req *http.Request) (*http.Response, error) {
	switch from, _ := req.Context().Value(carriedKey{}).(carried); {
	case t.Client == nil:
		return nil, errNoClient
	case from.transport == t:
		return nil, errLoop
	case req.URL == nil:
		return nil, errors.New("the request has no URL")
	}

	// Use one name for robots.txt and pages: the request's, if it contains the agent's.
	agent := req.Header.Get("User-Agent")
	if t.Client.Agent != "" &&
		!strings.Contains(strings.ToLower(agent), strings.ToLower(t.Client.Agent)) {
		agent = t.Client.Agent
	}
	ctx, cancel := req.Context(), func() {}
	end, limited := ctx.Deadline()
	left := time.Until(end)
	patient := limited && t.Patient
	if patient {
		if before := req.Response; before != nil && before.Request != nil {
			if from, ok := before.Request.Context().Value(carriedKey{}).(carried); ok {
				left = from.time // a redirect
			}
		}
		ctx, cancel = detached(ctx, end)
	}
	ctx = context.WithValue(ctx, carriedKey{}, carried{t, agent, left})
	a, err := t.Client.admit(ctx, req.URL)
	if err != nil {
		cancel()
		return nil, err
	}
	if patient {
		var stop func()
		release := cancel
		ctx, stop = context.WithTimeout(ctx, left)
		cancel = func() { stop(); release() }
	}

	req = req.Clone(ctx)
	if patient {
		//lint:ignore SA1019 http.Client closes it when its Timeout ends
		req.Cancel = nil //nolint:staticcheck // as above
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if agent != "" {
		req.Header.Set("User-Agent", agent)
	}
	start := time.Now()
	resp, err := t.base().RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	a.learn(&Reply{Status: resp.StatusCode, Header: resp.Header}, time.Since(start))
	if patient {
		resp.Body = &cancelingBody{resp.Body, cancel}
	}
	return resp, nil
}

// detached returns a context without the deadline of another one. It ends if that is
// canceled before its deadline.
func detached(ctx context.Context, end time.Time) (context.Context, func()) {
	free, stop := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() {
		if time.Now().Before(end) {
			stop()
		}
	})
	return free, func() { release(); stop() }
}

// cancelingBody releases the context of a response.
type cancelingBody struct {
	io.ReadCloser
	cancel func()
}

// Close is part of [io.Closer].
func (b *cancelingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// CloseIdleConnections closes those of Base.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok &&
		t.base() != http.RoundTripper(t) {
		base.CloseIdleConnections()
	}
}
