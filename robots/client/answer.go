package client

import (
	"errors"
	"time"

	"github.com/gophd/gophd/robots"
)

// ErrUnreachable marks the denial of everything on a host that could not be
// reached, or could not answer (R12).
var ErrUnreachable = errors.New("robots file unreachable: everything is denied")

// Access is how the fetch of a robots file ended (RFC 9309, section 2.3.1).
type Access uint8

// What may be fetched: with Successful what the file allows, with Unavailable
// everything, with Unreachable nothing.
const (
	Unreachable Access = iota
	Unavailable
	Successful
)

// String gives unreachable, unavailable or successful.
func (a Access) String() string {
	switch a {
	case Successful:
		return "successful"
	case Unavailable:
		return "unavailable"
	}
	return "unreachable"
}

// An Answer is what a host says to the robot of a Client.
type Answer struct {
	Access  Access
	File    *robots.File // nil unless Successful
	URL     string       // where the file was found; empty without one
	Fetched time.Time    // when the fetch ended that reached the host; zero if none did
	Stale   bool         // older than it may be, used because the host is now unreachable (R13)
	Err     error        // why the last fetch failed; nil if it did not
	Pace    *Pace        // shared by all answers of this host; it leaves out the fetches of the Client

	agent string
}

// Decide holds a selector against the file, or the path and query of an URL
// against that of a web server.
func (a *Answer) Decide(selector string) robots.Decision {
	if a.Access == Unreachable {
		return robots.Decision{}
	}
	return a.File.Decide(a.agent, selector)
}

// Comments gives the Comment lines for the author of the robot (C9); a robot
// should log them.
func (a *Answer) Comments() []string {
	var comments []string
	for _, f := range a.File.Fields(a.agent) {
		if f.Name == "comment" {
			comments = append(comments, f.Value)
		}
	}
	return comments
}
