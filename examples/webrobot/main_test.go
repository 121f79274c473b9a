package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots/client"
)

func TestGet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: examplebot\nDisallow: /private/\nCrawl-delay: 0.001\n")
		case "/moved":
			http.Redirect(w, r, "/private/a", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "hello")
		}
	}))
	defer s.Close()
	var out strings.Builder
	get(&client.Client{Agent: "examplebot", MinDelay: time.Millisecond}, []string{s.URL + "/a", s.URL + "/private/b", s.URL + "/moved"}, &out)
	want := "/a: 200 OK, 5 bytes, <nil>\n/private/b: not allowed\n/moved: not allowed\n"
	if got := strings.ReplaceAll(out.String(), s.URL, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
