package robots

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The schemes this package speaks, with their ports: those of robots files, and
// those of networks.
var (
	filePorts = map[string]string{"gopher": "70", "gophers": "70", "http": "80", "https": "443"}
	ircPorts  = map[string]string{"irc": "6667", "ircs": "6697"}
)

// errNoHost is the answer to an URL that names none.
var errNoHost = errors.New("no host")

// An origin is what one robots file speaks for: a scheme, a host and a port.
type origin struct {
	scheme, host, port string
}

// parseURL reads an URL of one of the schemes, and its origin.
func parseURL(raw string, ports map[string]string) (*url.URL, origin, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, origin{}, fmt.Errorf("reading URL: %w", err)
	}
	o, err := originOf(u, ports)
	return u, o, err
}

// originOf gives the origin of an URL, with the port always filled in.
func originOf(u *url.URL, ports map[string]string) (origin, error) {
	port, known := ports[u.Scheme]
	if !known {
		schemes := slices.Sorted(maps.Keys(ports))
		return origin{}, fmt.Errorf("reading URL %q: scheme is none of %s", u.Redacted(), strings.Join(schemes, ", "))
	}
	if u.Hostname() == "" {
		return origin{}, fmt.Errorf("reading URL %q: %w", u.Redacted(), errNoHost)
	}
	if !hostname(u.Hostname()) {
		return origin{}, fmt.Errorf("reading URL %q: host %q is neither a name nor an address", u.Redacted(), u.Hostname())
	}
	number, err := strconv.ParseUint(cmp.Or(u.Port(), port), 10, 16)
	if err != nil || number == 0 {
		return origin{}, fmt.Errorf("reading URL %q: port %q is none of 1 to 65535", u.Redacted(), u.Port())
	}
	return origin{u.Scheme, strings.ToLower(u.Hostname()), strconv.FormatUint(number, 10)}, nil
}

// hostname says whether host is a name, or an address that an URL can hold: one
// with a colon is of IPv6, and its zone has unreserved octets only (RFC 6874,
// section 2).
func hostname(host string) bool {
	if !strings.Contains(host, ":") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && !strings.ContainsFunc(address.Zone(), func(r rune) bool {
		return !strings.ContainsRune("-._~", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

func (o origin) address() string { return net.JoinHostPort(o.host, o.port) }

func (o origin) gopher() bool { return strings.HasPrefix(o.scheme, "gopher") }

// robots gives the places of the robots file in the order to ask (G1). In a
// gopher URL the item type 0 comes before the selector. The usual port is left
// out: some web servers do not know their name with it.
func (o origin) robots() []*url.URL {
	paths := []string{"/robots.txt"}
	if o.gopher() {
		paths = []string{"/0robots.txt", "/00/robots.txt"}
	}
	host := strings.TrimSuffix(o.address(), ":"+filePorts[o.scheme])
	var places []*url.URL
	for _, path := range paths {
		places = append(places, &url.URL{Scheme: o.scheme, Host: host, Path: path})
	}
	return places
}

// selectorOf gives what the rules of a file are held against: the selector of a
// gopher URL without the search words, or the path and query of any other.
func selectorOf(u *url.URL) string {
	if !strings.HasPrefix(u.Scheme, "gopher") {
		return u.RequestURI()
	}
	selector, _, _ := strings.Cut(gopherRequest(u), "\t")
	return selector
}

// gopherRequest gives what a gopher URL stands for on the wire: its path,
// decoded and without the item type. A question mark is an octet of it.
func gopherRequest(u *url.URL) string {
	path := strings.TrimPrefix(u.Path, "/")
	if path == "" {
		return ""
	}
	if u.RawQuery == "" && !u.ForceQuery {
		return path[1:]
	}
	query, err := url.PathUnescape(u.RawQuery)
	if err != nil {
		query = u.RawQuery
	}
	return path[1:] + "?" + query
}
