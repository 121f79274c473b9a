package client

import (
	"net/url"
	"strings"

	"github.com/gophd/gophd/robots/internal/dial"
)

// robotsURLs returns the places of the robots file in the order to ask (G1). In a
// gopher URL the item type 0 comes before the selector. The usual port is left
// out: some web servers do not know their name with it.
func robotsURLs(o dial.Origin) []*url.URL {
	paths := []string{"/robots.txt"}
	if o.Gopher() {
		paths = []string{"/0robots.txt", "/00/robots.txt"}
	}
	host := strings.TrimSuffix(o.Address(), ":"+dial.FilePorts[o.Scheme])
	var places []*url.URL
	for _, path := range paths {
		places = append(places, &url.URL{Scheme: o.Scheme, Host: host, Path: path})
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
// decoded and without the item type. A question mark is a byte of it.
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
