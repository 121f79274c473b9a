package webview

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gophd/gophd/server"
)

// TestPage: every path gets the gopher URL of what it names, /robots.txt what the
// handler has.
func TestPage(t *testing.T) {
	say := server.HandlerFunc(func(w server.ResponseWriter, r *server.Request) error {
		_, err := io.WriteString(w, "says "+r.Selector)
		return err
	})
	typ := func(r *server.Request) byte {
		if r.Selector == "/README" {
			return '0'
		}
		return 0
	}
	s := start(t, func(srv *server.Server) { srv.HTTP = serving(&AddressPage{Handler: say, Type: typ}) })
	for path, want := range map[string]string{
		"/":                             "<a href=\"gopher://gopher.example/\">",
		"/q":                            "gopher://gopher.example/1/q",
		"/a.txt":                        "gopher://gopher.example/0/a.txt",
		"/README":                       "gopher://gopher.example/0/README",
		`/%22%3E%3Cscript%3Ealert(1)`:   "gopher.example/1/%22%3E%3Cscript%3Ealert(1)",
		"/" + strings.Repeat("x", 3000): "gopher.example/1/xxx",
		"/robots.txt":                   "says /robots.txt",
		"/a%0d%0aX:y":                   "This is no path",
	} {
		res, body := s.get(path)
		if !strings.Contains(body, want) || strings.Contains(body, "<script") || strings.Contains(body, "says /q") {
			t.Errorf("%.60s: %d, no %q in\n%s", path, res.StatusCode, want, body)
		}
	}
}

// A robots.txt that is not there is not found, and one that cannot be had now is
// denied: robots take an error of the server for a no.
func TestRobotsTxtFails(t *testing.T) {
	for err, want := range map[error]int{
		server.ErrNotFound: http.StatusNotFound, error(&server.Error{Kind: server.Busy}): http.StatusServiceUnavailable,
		errors.New("/srv/secret"): http.StatusInternalServerError,
	} {
		none := server.HandlerFunc(func(server.ResponseWriter, *server.Request) error { return err })
		s := start(t, func(srv *server.Server) { srv.HTTP = serving(&AddressPage{Handler: none}) })
		if res, body := s.get("/robots.txt"); res.StatusCode != want || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s", err, res.StatusCode, body)
		}
	}
}
