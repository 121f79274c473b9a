package client

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
	"github.com/gophd/gophd/selector"
)

// robotsURLs returns the URLs of the robots file in the order to try (G1). In a
// gopher URL the item type 0 comes before the selector. The usual port is left
// out: some web servers do not accept a Host with it.
func robotsURLs(o dial.Origin) []*url.URL {
	paths := []string{"/robots.txt"}
	if o.Gopher() {
		paths = []string{"/0robots.txt", "/00/robots.txt"}
	}
	host := strings.TrimSuffix(o.Address(), ":"+dial.FilePorts[o.Scheme])
	var places []*url.URL
	for _, path := range paths {
		places = append(places, &url.URL{
			Scheme: o.Scheme,
			Host:   host,
			Path:   path,
		})
	}
	return places
}

// parse parses a URL from any page: a "%" that begins no escape is literal.
func parse(rawURL string) (*url.URL, dial.Origin, error) {
	if len(rawURL) <= dial.MaxURL {
		rawURL = mendURL(rawURL)
	}
	u, o, err := dial.ParseURL(rawURL, dial.FilePorts)
	return u, o, bounded(err)
}

// percents finds escapes, and the "%" that begin none.
var percents = regexp.MustCompile(`%([0-9A-Fa-f]{2})?`)

// mendURL escapes the "%" that begin no escape, after the host.
func mendURL(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "://")
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		return rawURL
	}
	at += len(rawURL) - len(rest)
	return rawURL[:at] + percents.ReplaceAllStringFunc(rawURL[at:], func(s string) string {
		if s == "%" {
			return "%25"
		}
		return s
	})
}

// target returns the part of a URL that rules match. For the web this is the path and
// query, with dot segments resolved as the server would (RFC 3986, section 5.2.4). For
// gopher it is the selector without the search words, byte for byte.
func target(u *url.URL) string {
	if strings.HasPrefix(u.Scheme, "gopher") {
		sel, _, _ := strings.Cut(gopherRequest(u), "\t")
		return sel
	}
	bare := url.URL{Path: u.Path, RawPath: escapedDots.Replace(u.EscapedPath()), Host: u.Host}
	path := cmp.Or(bare.ResolveReference(&bare).EscapedPath(), "/")
	if u.ForceQuery || u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// escapedDots decodes the dots of a path.
var escapedDots = strings.NewReplacer("%2e", ".", "%2E", ".")

// Reread returns the file of a gopher host in the dialect in which it is best read. A file that
// uses Allow, a final "$" or escapes, which Gopher's own text does not know, was written for
// readers after RFC 9309; unless rules stand before its groups, which those ignore.
func Reread(f *robots.File) *robots.File {
	web := false
	for _, g := range f.Groups() {
		for _, r := range g.Rules {
			if len(g.Agents) == 0 {
				return f
			}
			web = web || r.Allow || strings.HasSuffix(r.Pattern, "$") ||
				selector.Decoded(r.Pattern) != r.Pattern
		}
	}
	if !web || f.Dialect() != robots.Gopher {
		return f
	}
	return robots.Parser{
		Dialect:   robots.RFC9309,
		Truncated: f.Truncated(),
	}.Parse(f.AppendTo(nil))
}

// gopherRequest returns the selector of a gopher URL: its path, decoded and without the item
// type. A question mark is part of it.
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
