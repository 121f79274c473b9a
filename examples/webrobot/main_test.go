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

func TestWalk(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w,
				"User-agent: examplebot\nDisallow: /private/\nContent-Usage: train-ai=n\nCrawl-delay: 0.001\n")
		case "/":
			_, _ = io.WriteString(w,
				`<a href="a#top"><a href="/private/b"><a href="/moved"><a href="/left"><a href="gopher://example.org/">`)
		case "/moved":
			http.Redirect(w, r, "/private/a", http.StatusFound)
		case "/left":
			http.Redirect(w, r, "/c", http.StatusFound)
		default:
			w.Header().Set("X-Robots-Tag", "noindex")
			_, _ = io.WriteString(w, `<a href="/">`)
		}
	}))
	defer s.Close()
	var out strings.Builder
	walk(t.Context(), &client.Client{Agent: "examplebot", MinDelay: time.Millisecond},
		s.URL+"/", &out)
	want := "200 / [{train-ai n robots.txt:3: Content-Usage}]\n" +
		"200 /a [{search n X-Robots-Tag} {train-ai n robots.txt:3: Content-Usage}]\n" +
		"200 /c [{search n X-Robots-Tag} {train-ai n robots.txt:3: Content-Usage}]\n"
	if got := strings.ReplaceAll(out.String(), s.URL, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
