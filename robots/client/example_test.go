package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/robots/readers"
)

// A complete polite robot: Do asks robots.txt, and waits its turn.
func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /drafts/\nCrawl-delay: 0.01\n")
		case "/old":
			http.Redirect(w, r, "/drafts/poem", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "All about us.")
		}
	}))
	defer site.Close()
	bot := &client.Client{Agent: "examplebot", MinDelay: time.Millisecond}
	for _, path := range []string{"/about", "/drafts/poem", "/old"} {
		reply, err := bot.Do(context.Background(), site.URL+path)
		switch {
		case errors.Is(err, client.ErrDenied):
			fmt.Println(path, "must not be fetched")
			continue
		case err != nil:
			fmt.Println(err)
			continue
		}
		text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
		_ = reply.Body.Close()
		fmt.Println(path, reply.Status, string(text), err)
	}
	// Output:
	// /about 200 All about us. <nil>
	// /drafts/poem must not be fetched
	// /old must not be fetched
}

// A host that cannot be reached denies everything until it can be.
func ExampleClient_Allowed() {
	c := client.Client{Fetch: func(context.Context, *url.URL) (io.ReadCloser, error) {
		return nil, fmt.Errorf("connection refused")
	}}
	decision, err := c.Allowed(context.Background(), "https://example.org/")
	fmt.Println(decision.Allowed, err)
	// Output:
	// false robots file unreachable: everything is denied: connection refused
}

// Without a client: the pace of one host, from the fields of a file.
func ExamplePace() {
	file := robots.Parse(readers.Extended, []byte(
		"User-agent: *\nRobot-version: 2.0\nVisit-time: 0600-0845\nDisallow: /cgi/*\n"))
	var pace client.Pace
	pace.Follow(file.Fields("examplebot"))
	noon := time.Date(2002, 11, 5, 12, 0, 0, 0, time.UTC)
	fmt.Println(pace.Next(noon))
	// Output:
	// 2002-11-06 06:00:00 +0000 UTC
}

// The program of temoto/robotstxt's README: a robot that fetches by itself asks
// about what it got.
func ExampleFromResponse() {
	resp := &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(
		"User-agent: *\nDisallow: /search\n\nUser-agent: BarBot\nDisallow: /foo/\nCrawl-delay: 5\n\nSitemap: https://example.org/map.xml\n"))}
	for _, name := range []string{"FooBot", "BarBot"} {
		answer := client.FromResponse(robots.Robot{Names: []string{name}}, resp.StatusCode,
			resp.Header, resp.Body)
		delay, _ := answer.CrawlDelay()
		fmt.Println(name, answer.Allowed("/search"), answer.Allowed("/foo/bar"), delay,
			answer.File.Sitemaps())
		resp.Body = io.NopCloser(bytes.NewReader(answer.File.AppendTo(nil))) // for the second robot
	}
	// Output:
	// FooBot false true 0s [https://example.org/map.xml]
	// BarBot true false 5s [https://example.org/map.xml]
}

// What may be done with a page: the most restrictive of what the site's file and the
// page's own header state.
func ExampleHostRules_Preferences() {
	file := strings.NewReader("User-agent: *\nAllow: /\nContent-Usage: search=y\nContent-Signal: ai-train=no\n")
	rules := client.FromResponse(robots.Robot{Names: []string{"examplebot"}}, 200, nil, file)
	for _, p := range rules.Preferences("/poem.html", http.Header{"X-Robots-Tag": {"noindex"}}) {
		fmt.Println(p.Key, p.Value, p.Origin)
	}
	// Output:
	// search n X-Robots-Tag
	// train-ai n robots.txt:4: Content-Signal
}
