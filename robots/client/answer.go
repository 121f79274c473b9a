package client

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/gophd/gophd/robots/internal/dial"
	"github.com/gophd/gophd/selector"

	"github.com/gophd/gophd/robots"
)

// ErrUnreachable marks the denial of everything on a host that could not be
// reached, or could not answer (R12).
var ErrUnreachable = errors.New("robots file unreachable: everything is denied")

// Access is the fetch status: how the fetch of a robots file ended (RFC 9309,
// section 2.3.1).
type Access uint8

// Successful: the robot may fetch the selectors that the file allows. Unavailable: it
// may fetch everything. Unreachable: it must fetch nothing.
const (
	Unreachable Access = iota
	Unavailable
	Successful
)

// String returns unreachable, unavailable or successful.
func (a Access) String() string {
	switch a {
	case Successful:
		return "successful"
	case Unavailable:
		return "unavailable"
	}
	return "unreachable"
}

// HostRules are a host's rules for one robot.
type HostRules struct {
	Access  Access
	File    *robots.File // nil unless Successful
	URL     string       // where the file was found; empty without one
	Fetched time.Time    // when the fetch ended that reached the host; zero if none did
	Stale   bool         // older than it may be, used because the host is now unreachable (R13)
	Err     error        // why the last fetch failed; nil if it did not
	Instead error        // what came instead of a file, such as a StatusError or an ErrorItem; nil unless Unavailable
	Until   time.Time    // when the file should be fetched again
	Pace    *Pace        // shared by all answers of this host; it leaves out the fetches of the Client

	origin dial.Origin // the host; zero if it is not known
	robot  robots.Robot
	rules  robots.RuleSets // for the robot
}

// FromResponse returns the rules in a web server's response to a request for its
// robots file, for robots with an HTTP client of their own. That client must follow
// at least five redirects (R11), and decode the body or delete Content-Encoding.
// FromResponse reads at most [robots.DefaultLimit] bytes of the body and does not close
// it; a nil body is an empty one. If the body ends in an error, the host is unreachable.
// HostRules.Pace follows the file and Retry-After, HostRules.Until Cache-Control, too.
//
// If the request failed and there is no response, pass the status 0: the host is
// unreachable. A status 304 confirms earlier rules: call [HostRules.NotModified] on
// those. Here it makes the host unreachable. A robot with a name that no group can
// have may fetch nothing: HostRules.Err names it.
func FromResponse(robot robots.Robot, status int, header http.Header, body io.Reader) *HostRules {
	if header == nil {
		header = http.Header{}
	}
	var a *HostRules
	err := robot.Validate()
	if err == nil {
		err = (&Reply{Status: status, Header: header}).asRobotsFile(validity{})
	}
	if err == nil {
		a = &HostRules{Access: Successful}
		a.File, err = readFile(robots.RFC9309, body, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		a = &HostRules{Access: Unavailable, Instead: err}
		err = nil
	}
	c := &Client{Categories: robot.Categories}
	if len(robot.Names) > 0 {
		c.Agent, c.Fallback = robot.Names[0], robot.Names[1:]
	}
	h := &host{}
	c.settle(h, a, validity{}.after(header), err)
	return c.answer(h)
}

// NotModified returns the same rules as of now, with the same Pace. It is for robots with
// an HTTP client of their own, whose conditional request (If-None-Match,
// If-Modified-Since) was answered 304, with this header. Without Cache-Control they are good
// for as long as before.
func (a *HostRules) NotModified(header http.Header) *HostRules {
	valid := validity{Good: a.Until.Sub(a.Fetched)}.after(header)
	a.Pace.heed(false, valid.retry)
	now := *a
	now.Fetched = time.Now()
	now.Until = now.Fetched.Add(new(Client).goodFor(valid))
	now.Stale = false
	now.Err = nil
	return &now
}

// bind finds the rules of the robot.
func (a *HostRules) bind(robot robots.Robot) {
	a.robot, a.rules = robot, a.File.For(robot)
}

// Allowed reports whether the robot may fetch a selector, or a URL of the host.
func (a *HostRules) Allowed(selector string) bool {
	return a.Decide(selector).Allowed
}

// Decide matches a selector with the file, or the part of a URL of the host that a
// request names. It never allows a URL of another host, if the host is known: the rules of
// [FromResponse] are of any.
func (a *HostRules) Decide(selector string) robots.Decision {
	if a.Access == Unreachable {
		return robots.Decision{}
	}
	form, here := a.compared(selector)
	if !here {
		return robots.Decision{Reason: robots.OtherHost}
	}
	return a.rules.Decide(form)
}

// compared returns the form of a selector that the rules match: it replaces a URL by its
// target, and escapes a Gopher selector as a path for RFC 9309. It returns false for a URL of
// another host.
func (a *HostRules) compared(sel string) (form string, here bool) {
	gopher := strings.HasPrefix(a.URL, "gopher")
	scheme, _, _ := strings.Cut(sel, "://")
	if _, isURL := dial.FilePorts[strings.ToLower(scheme)]; isURL && scheme != sel {
		u, o, err := parse(sel)
		if a.origin != (dial.Origin{}) && (err != nil || o != a.origin) {
			return "", false
		}
		if err == nil && o.Gopher() == gopher {
			sel = target(u)
		}
	}
	if gopher && a.File.Dialect() == robots.RFC9309 {
		sel = string(selector.AppendURI(nil, sel))
	}
	return sel, true
}

// Usage returns the host's preferences for the use of a path; nil if it is unreachable.
func (a *HostRules) Usage(path string) robots.Statement {
	form, here := a.compared(path)
	if a.Access == Unreachable || !here {
		return nil
	}
	return a.rules.Usage(form)
}

// CrawlDelay returns the interval between two requests that the host's file requires of
// the robot; ok is false if it requires none.
func (a *HostRules) CrawlDelay() (delay time.Duration, ok bool) {
	return a.rules.CrawlDelay()
}

// Comments returns the Comment lines for the author of the robot (C9); a robot
// should log them.
func (a *HostRules) Comments() []string {
	var comments []string
	for _, f := range a.rules.Fields() {
		if f.Name == "comment" {
			comments = append(comments, f.Value)
		}
	}
	return comments
}
