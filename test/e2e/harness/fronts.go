package harness

import (
	"cmp"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/selector"
)

// Fronts are the ways to ask one gophd: each protocol, and the address that speaks it.
type Fronts map[string]string

// AllFronts reserves the addresses of all fronts, and returns them with the flags that let
// gophd serve there. It makes its certificate in the directory keys.
func AllFronts(t testing.TB, keys string) (at Fronts, flags []string) {
	t.Helper()
	addrs := FreeAddrs(t, 5)
	at = Fronts{
		"gopher": addrs[0], "gophers": addrs[0], "http": addrs[0], "https": addrs[0],
		"gemini": addrs[1], "spartan": addrs[2], "nex": addrs[3], "finger": addrs[4],
	}
	return at, []string{
		"-listen", addrs[0], "-gemini", addrs[1], "-spartan", addrs[2], "-nex", addrs[3],
		"-finger", addrs[4],
		"-tls-self-signed", keys, "-http", "view",
	}
}

// Names returns the names of all fronts, in order.
func (at Fronts) Names() []string { return slices.Sorted(maps.Keys(at)) }

// Config returns the TLS client of a front, nil if it is plain.
func (Fronts) Config(front, host string) *tls.Config {
	if front == "gophers" || front == "https" || front == "gemini" {
		return AnyCert(host)
	}
	return nil
}

// Request returns what a client of a front sends for a selector, without the line end. The
// fronts whose requests are URLs escape it, unless it is raw.
func (Fronts) Request(front, host, sel string, raw bool) string {
	path := sel
	if !raw {
		path = selector.URIPath(sel)
	}
	path = "/" + strings.TrimPrefix(path, "/")

	switch front {
	case "http", "https":
		accept := "*/*"
		if strings.HasSuffix(path, "/") {
			accept = "text/html"
		}
		return "GET " + path + " HTTP/1.0\r\nHost: " + host + "\r\nAccept: " + accept + "\r\n"
	case "gemini":
		return "gemini://" + host + path
	case "spartan":
		return host + " " + path + " 0"
	case "nex":
		return path
	case "finger":
		return strings.TrimSuffix(strings.TrimPrefix(sel, "/~"), "/")
	}
	return sel
}

// A Reply is a front's answer.
type Reply struct {
	Served     bool
	Head, Body string // Gopher, Nex and Finger have no head
	To         string // the path of this host that it leads to
}

var location = regexp.MustCompile(`(?m)^(?:Location:|3[01]?) (?:gemini://[^/]*)?(/[^\r\n]*)`)

// Parse reads the reply of a front.
func (Fronts) Parse(front string, reply []byte) (r Reply) {
	r.Body = string(reply)
	switch front {
	case "http", "https":
		r.Head, r.Body, _ = strings.Cut(r.Body, "\r\n\r\n")
		r.Served = strings.HasPrefix(r.Head, "HTTP/1.0 200 ") ||
			strings.HasPrefix(r.Head, "HTTP/1.1 200 ") // robots.txt for one client too many
	case "gemini", "spartan":
		r.Head, r.Body, _ = strings.Cut(r.Body, "\r\n")
		r.Served = strings.HasPrefix(r.Head, "20 ") || strings.HasPrefix(r.Head, "2 ")
	case "nex", "finger":
		line, more := strings.CutSuffix(r.Body, "\n")
		_, message, _ := strings.Cut(line, ": ")
		r.Served = more && message != "nothing here has that name" &&
			!strings.HasPrefix(line, "no such user") && !strings.HasPrefix(line, "Finger ")
	default:
		_, failed := ask.IsError(reply)
		r.Served = !failed && len(reply) > 0
	}
	if to := location.FindStringSubmatch(r.Head); to != nil && !r.Served {
		r.To = to[1]
	}
	return r
}

// Get asks a front for a selector, and goes where it is sent.
func (at Fronts) Get(front, host, sel string, raw bool) (r Reply, err error) {
	for range 4 {
		var reply []byte
		reply, err = Exchange("", at[front], at.Request(front, host, sel, raw),
			at.Config(front, host))
		if r = at.Parse(front, reply); r.To == "" {
			break
		}
		if sel, err = url.PathUnescape(r.To); err != nil {
			break
		}
		raw = false
	}
	return r, err
}

// RobotsSelectors are the selectors of robots.txt.
var RobotsSelectors = []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"}

// Robots returns the robots.txt that all fronts serve, or an error if they differ.
func (at Fronts) Robots(host string) (file string, err error) {
	for _, front := range at.Names() {
		if front == "finger" {
			continue
		}
		for _, sel := range RobotsSelectors {
			r, failed := at.Get(front, host, sel, false)
			file = cmp.Or(file, r.Body)
			if failed != nil || r.Body != file || file == "" || r.To != "" {
				err = errors.Join(err, failed,
					errors.New(front+" has another robots.txt at "+sel+": "+r.Head+r.Body))
			}
		}
	}
	return file, err
}

// Port returns the port of an address.
func Port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
