// Package dial reads URLs of hosts.
package dial

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
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/gophd/gophd/selector"
)

// The schemes that this package speaks, with their ports: for robots files, and for
// IRC networks.
var (
	FilePorts = portsOf("gopher", "gophers", "gemini", "http", "https")
	IRCPorts  = map[string]string{"irc": "6667", "ircs": "6697"}
)

func portsOf(schemes ...string) map[string]string {
	ports := make(map[string]string, len(schemes))
	for _, scheme := range schemes {
		ports[scheme] = strconv.Itoa(selector.PortOf(scheme))
	}
	return ports
}

// The longest URL and the longest host name that are read: strangers write both.
const (
	MaxURL  = 8 << 10
	MaxHost = 255
)

// An Origin is what one robots file speaks for: a scheme, a host and a port.
type Origin struct {
	Scheme, Host, Port string
}

// ParseURL reads an URL of one of the schemes, and its origin.
func ParseURL(raw string, ports map[string]string) (*url.URL, Origin, error) {
	if len(raw) > MaxURL {
		return nil, Origin{}, fmt.Errorf("reading URL: it has more than %d bytes", MaxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, Origin{}, fmt.Errorf("reading URL: %w", err)
	}
	o, err := OriginOf(u, ports)
	return u, o, err
}

// OriginOf returns the origin of an URL, with the port always filled in.
func OriginOf(u *url.URL, ports map[string]string) (Origin, error) {
	port, known := ports[u.Scheme]
	if !known {
		schemes := slices.Sorted(maps.Keys(ports))
		return Origin{}, fmt.Errorf("reading URL %q: scheme is none of %s", u.Redacted(),
			strings.Join(schemes, ", "))
	}
	host, err := canonical(u.Hostname())
	if err != nil {
		return Origin{}, fmt.Errorf("reading URL %q: %w", u.Redacted(), err)
	}
	number, err := strconv.ParseUint(cmp.Or(u.Port(), port), 10, 16)
	if err != nil || number == 0 {
		return Origin{}, fmt.Errorf("reading URL %q: port %q is not from 1 to 65535",
			u.Redacted(), u.Port())
	}
	return Origin{u.Scheme, host, strconv.FormatUint(number, 10)}, nil
}

// canonical writes the spellings of a host in one way: in lower case, without a final
// dot, and in the ASCII form if it is international (RFC 5891). A host with a colon is an
// IPv6 address, whose zone has only unreserved bytes (RFC 6874, section 2).
func canonical(host string) (string, error) {
	isForeign := func(r rune) bool { return r >= utf8.RuneSelf }
	if len(host) <= MaxHost && strings.ContainsFunc(host, isForeign) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", fmt.Errorf("host %q: %w", host, err)
		}
		host = ascii
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch address, err := netip.ParseAddr(host); {
	case host == "":
		return "", errors.New("no host")
	case len(host) > MaxHost:
		return "", fmt.Errorf("the host has more than %d bytes", MaxHost)
	case err == nil && url.PathEscape(address.Zone()) == address.Zone():
		return address.String(), nil // which can be written in several ways
	case strings.Contains(host, ":"):
		return "", fmt.Errorf("host %q is neither a name nor an address", host)
	}
	return host, nil
}

// Address is host and port.
func (o Origin) Address() string { return net.JoinHostPort(o.Host, o.Port) }

// String returns the origin as a URL without a path, with its port.
func (o Origin) String() string { return o.Scheme + "://" + o.Address() }

// Web reports whether the scheme is http or https.
func (o Origin) Web() bool { return strings.HasPrefix(o.Scheme, "http") }

// Gopher reports whether the scheme is gopher or gophers.
func (o Origin) Gopher() bool { return strings.HasPrefix(o.Scheme, "gopher") }
