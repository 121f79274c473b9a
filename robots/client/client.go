// Package client makes robots polite: it fetches the robots.txt of each host, keeps it
// while it is valid, and waits as long as the host asks. A robot uses it in one of three
// ways:
//
//	bot := &client.Client{Agent: "mybot"} // for all hosts
//
//	// By URL, over gopher, gophers, gemini, http or https.
//	reply, err := bot.Do(ctx, "gopher://example.org/")
//
//	// With any HTTP client.
//	web := http.Client{Transport: &client.Transport{Client: bot, Patient: true}, Timeout: time.Minute}
//	resp, err := web.Get("https://example.org/")
//
//	// With its own requests for robots.txt, and its own schedule.
//	rules := client.FromResponse(robots.Robot{Names: []string{"mybot"}}, resp.StatusCode, resp.Header, resp.Body)
//	if rules.Allowed("/poems/") { ... }
//
// In the first two ways an error that is [ErrDenied] means that robots.txt forbids the URL.
// With [ErrUnreachable] the robot must not fetch anything from the host for now: its
// robots.txt could not be read. A host that sets no pace gets a request every ten
// seconds: see [Client.MinDelay].
//
// Whole robots are in https://github.com/gophd/gophd/tree/main/examples: robot (Gopher, whose
// menus package menu parses), geminirobot and webrobot.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
)

// The limits of a Client (G2, R12, R13).
const (
	maxAge       = 24 * time.Hour
	lapse        = 30 * 24 * time.Hour // after which a host's old file does not count
	fetchTimeout = 30 * time.Second
	retryTime    = 5 * time.Minute
	maxBytes     = 64 << 20
)

// A Client caches the robots files of many hosts for one robot. The zero Client
// works; its fields must not be changed once it is in use. It is safe for concurrent
// use: callers that need a file that is being fetched share that fetch.
type Client struct {
	Agent      string   // the robot's product token, not its User-Agent; if empty, it obeys the rules for `*`
	Fallback   []string // other tokens, such as mybot after mybot-news; if the file does not name Agent, the first that it names counts
	Categories []string // what the robot does; see [robots.Robot]

	Fetcher *Fetcher                                                     // gets robots files and documents; if nil, one with Agent as UserAgent
	Fetch   func(ctx context.Context, u *url.URL) (io.ReadCloser, error) // gets robots files instead of Fetcher; [Fetcher.Fetch] documents the errors
	Dialect func(scheme string) robots.Dialect                           // if nil, RFC9309 for http, https and gemini, and for gopher and gophers where the file uses Allow, a final $ or escapes, else Gopher

	// MinDelay is the least time between two requests to one host, from the start of
	// one to the start of the next. If zero, 1 s. A longer delay in the host's file
	// wins. If the file has none, the delay is MinDelay (if zero, 10 s), or twice the
	// duration of the last response if that is longer (C8): many hosts, above all of
	// Gopher, are one small machine that serves people, too.
	MinDelay time.Duration

	// MaxDelay is the longest Crawl-delay, or time between two requests by
	// Request-rate, that the client keeps: longer ones count as MaxDelay. If zero, 1 h.
	MaxDelay time.Duration

	Timeout time.Duration // for all fetches that one file takes; if zero, 30 s
	Limit   int64         // bytes read of a file; if zero, DefaultLimit
	MaxAge  time.Duration // how long a file is good; if zero or longer, 24 h
	Store   Store         // keeps hosts between runs; nil: none

	// MaxBytes limits the memory of hosts and files; if zero, 64 MiB. Above it the client
	// evicts the least recently used files, which it fetches again when they are needed,
	// and then hosts. Hosts that must not be requested yet are kept even above the limit,
	// each in less than 4 KiB, or 16 KiB if its rates depend on the time of day.
	MaxBytes int64

	cache hostCache
}

// Get returns the rules of a URL's host for this robot, and fetches them if needed.
// Another scheme or port is another host. The error is about the URL, the names of the
// robot or the context; HostRules.Access reports a host that cannot be reached.
func (c *Client) Get(ctx context.Context, rawURL string) (*HostRules, error) {
	_, o, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, o)
}

// Allowed decides about one URL. If it cannot learn the rules, it returns a denial
// and an error; the error is [ErrUnreachable] if the host is to blame.
func (c *Client) Allowed(ctx context.Context, rawURL string) (robots.Decision, error) {
	_, d, err := c.decide(ctx, rawURL)
	return d, err
}

// decide returns the rules of a URL's host, and their decision about the URL.
func (c *Client) decide(ctx context.Context, rawURL string) (*HostRules, robots.Decision, error) {
	u, o, err := parse(rawURL)
	if err != nil {
		return nil, robots.Decision{}, err
	}
	a, err := c.get(ctx, o)
	if err != nil {
		return nil, robots.Decision{}, err
	}
	if a.Access == Unreachable {
		return nil, robots.Decision{}, fmt.Errorf("%w: %w", ErrUnreachable, a.Err)
	}
	return a, a.Decide(target(u)), nil
}

func (c *Client) robot() robots.Robot {
	return robots.Robot{Names: append([]string{c.Agent}, c.Fallback...), Categories: c.Categories}
}

// read fetches the robots file of a host. The error is errNotModified if the file has not
// changed since it was last read. If the host fails at any place, it is unreachable:
// its file may be just there.
//
// Gopher has no status. A busy server sends an error item, or closes the connection
// without a byte; so do servers for what does not exist. A host that had a file is
// unreachable then, and so is one that sends nothing for the first time.
func (c *Client) read(ctx context.Context, o dial.Origin, before memory, wasEmpty bool) (*HostRules,
	validity, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, fetchTimeout))
	defer cancel()
	var valid validity
	var instead error
	for _, u := range robotsURLs(o) {
		var f *robots.File
		f, valid, instead = c.readAt(ctx, u, before.validity)
		switch {
		case instead == nil:
			return &HostRules{
				Access: Successful,
				File:   f,
				URL:    u.String(),
			}, valid, nil
		case !errors.Is(instead, fs.ErrNotExist):
			return nil, valid, instead
		}
	}
	_, item := errors.AsType[*ErrorItem](instead)
	empty := errors.Is(instead, errEmpty)
	hadFile := before.Had && (before.Failing.IsZero() || time.Since(before.Failing) < lapse)
	switch {
	case hadFile && (item || empty):
		return nil, valid, fmt.Errorf("the host had a robots file, and now %v", instead) //nolint:errorlint // what wraps fs.ErrNotExist counts as no file
	case empty && !wasEmpty:
		return nil, valid, errEmpty
	}
	return &HostRules{Access: Unavailable, Instead: instead}, valid, nil
}

// readAt fetches and parses the document at one place.
func (c *Client) readAt(ctx context.Context, u *url.URL, known validity) (*robots.File,
	validity, error) {
	var body io.ReadCloser
	var valid validity
	var err error
	if c.Fetch != nil {
		body, err = c.Fetch(ctx, u)
	} else {
		body, valid, err = c.fetcher().fetch(ctx, u, known)
	}
	if err != nil {
		return nil, valid, bounded(err)
	}
	defer func() { _ = body.Close() }()
	f, err := readFile(c.dialect(u.Scheme), body, c.Limit)
	if err != nil {
		return nil, valid, bounded(fmt.Errorf("reading %s: %w", u, err))
	}
	if strings.HasPrefix(u.Scheme, "gopher") && f.Absent() {
		return nil, valid, insteadOf(f)
	}
	if c.Dialect == nil {
		f = Reread(f)
	}
	return f, valid, nil
}

// readFile reads a document that is a robots file.
func readFile(d robots.Dialect, body io.Reader, limit int64) (*robots.File, error) {
	f, err := robots.ParseReader(d, body, limit)
	if err == nil {
		err = f.Readable()
	}
	return f, err
}

func (c *Client) fetcher() *Fetcher {
	if c.Fetcher == nil {
		return &Fetcher{UserAgent: c.Agent}
	}
	f := *c.Fetcher
	f.UserAgent = cmp.Or(f.UserAgent, c.Agent)
	return &f
}

func (c *Client) dialect(scheme string) robots.Dialect {
	switch {
	case c.Dialect != nil:
		return c.Dialect(scheme)
	case strings.HasPrefix(scheme, "gopher"):
		return robots.Gopher
	}
	return robots.RFC9309
}
