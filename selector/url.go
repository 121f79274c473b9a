package selector

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// DefaultPort is the port of a gopher or gophers URL that names none (RFC 4266,
// section 2.1).
const DefaultPort = 70

// ports has the usual port of each scheme.
var ports = map[string]int{
	"gopher":  DefaultPort,
	"gophers": DefaultPort,
	"finger":  79,
	"gemini":  1965,
	"spartan": 300,
	"nex":     1900,
	"http":    80,
	"https":   443,
}

// PortOf returns the port of a URL that names none, by its scheme: finger (RFC 1288,
// section 2.1), gemini, gopher, gophers, http, https, nex or spartan; 0 for any other.
func PortOf(scheme string) int { return ports[scheme] }

// URL is a gopher URL (RFC 4266), taken apart and decoded.
type URL struct {
	Host     string // a name or an address, without brackets
	Port     int    // 1 to 65535; if zero, 70
	Type     byte   // the item type; if zero, '1'
	Selector string // what to send; empty for the root
	Query    string // what to search for; empty for nothing
	TLS      bool   // gophers, Gopher inside TLS
}

// ParseURL reads a URL of scheme gopher or gophers, in any case, with or without
// a path: gopher://host:port/Tselector%09query. The scheme may be left out if
// there is no other. A Gopher+ string after a second %09 is dropped, a fragment
// too. The error is a [*RefusedError] for another scheme, no host, user information, a
// port outside 1 to 65535, a malformed escape, or a control byte anywhere.
func ParseURL(s string) (URL, error) {
	var u URL
	if reason := u.parse(s); reason != "" {
		return URL{}, fmt.Errorf("reading a gopher URL: %w", &RefusedError{reason})
	}
	return u, nil
}

func (u *URL) parse(s string) Cause {
	if HasControl(s) {
		return Control
	}
	if scheme, rest, found := strings.Cut(s, "://"); found {
		u.TLS = strings.EqualFold(scheme, "gophers")
		if !u.TLS && !strings.EqualFold(scheme, "gopher") {
			return Scheme
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, "#")
	authority, path, _ := strings.Cut(s, "/")

	// The host, in brackets if it is an address of IPv6, and the port.
	u.Host, u.Port = authority, DefaultPort
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		port, err := strconv.ParseUint(authority[i+1:], 10, 16)
		if err != nil || port == 0 {
			return Port
		}
		u.Host, u.Port = authority[:i], int(port)
	}
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(strings.TrimSuffix(u.Host[1:], "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(u.Host, "]") {
			return Host
		}
		u.Host = u.Host[1 : len(u.Host)-1]
	} else if u.Host == "" || strings.ContainsAny(u.Host, "[]:@%?\\ \"<>^`{|}/#") {
		return Host
	}

	// A TAB is the only control byte in a URL, and only as a delimiter.
	parts := strings.SplitN(path, "%09", 3)
	sel, ok := unescape(parts[0], false)
	if ok && len(parts) > 1 {
		u.Query, ok = unescape(parts[1], false)
	}
	if !ok {
		return Escape
	}
	u.Type = '1'
	if sel != "" {
		u.Type, u.Selector = sel[0], sel[1:]
	}
	if u.Type <= ' ' || u.Type > '~' {
		return Type
	}
	return ""
}

// String prints the URL so that [ParseURL] reads it again. The path of the root
// menu is "/".
func (u URL) String() string {
	b := []byte("gopher://")
	if u.TLS {
		b = []byte("gophers://")
	}
	b = append(b, u.authority()...)
	b = append(b, '/')
	typ := u.Type
	if typ == 0 {
		typ = '1'
	}
	if typ != '1' || u.Selector != "" || u.Query != "" {
		b = AppendURI(b, string(typ)+u.Selector)
	}
	if u.Query != "" {
		b = append(b, "%09"...)
		b = AppendURI(b, u.Query)
	}
	return string(b)
}

func (u URL) authority() string {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port != 0 && u.Port != DefaultPort {
		return host + ":" + strconv.Itoa(u.Port)
	}
	return host
}
