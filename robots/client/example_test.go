package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/robots/readers"
)

// hole is a gopherhole in memory. A robot that goes out leaves Client.Fetch nil
// and takes the Fetch of a client.Fetcher for documents, too.
func hole(_ context.Context, u *url.URL) (io.ReadCloser, error) {
	documents := map[string]string{
		"/0robots.txt": "User-agent: *\nDisallow: /drafts/\nCrawl-delay: 0.01\nComment: write to root@example.org\n",
		"/0/about.txt": "All about us.\n",
	}
	text, ok := documents[u.Path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// A complete polite robot: it asks before it fetches, waits its turn, tells how
// long a fetch took, and logs what the host has to say to its author.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := client.Client{Agent: "examplebot", Fetch: hole}
	for _, link := range []string{
		"gopher://example.org/0/about.txt",
		"gopher://example.org/0/drafts/poem.txt",
		"gopher://example.org/0/gone.txt",
	} {
		if err := visit(ctx, &c, link); err != nil {
			fmt.Println(link, err)
		}
	}
	// Output:
	// comment: write to root@example.org
	// gopher://example.org/0/about.txt All about us.
	// gopher://example.org/0/drafts/poem.txt denied by line 2
	// gopher://example.org/0/gone.txt file does not exist
}

// visit fetches one document, if it may.
func visit(ctx context.Context, c *client.Client, link string) error {
	decision, err := c.Allowed(ctx, link)
	if err != nil {
		return err
	}
	if !decision.Allowed {
		return fmt.Errorf("denied by line %d", decision.Rule.Line)
	}
	host, err := c.Get(ctx, link) // from memory
	if err != nil {
		return err
	}
	if err := host.Pace.Wait(ctx); err != nil {
		return err
	}
	u, err := url.Parse(link)
	if err != nil {
		return err
	}
	start := time.Now()
	body, err := hole(ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, 1<<20))
	host.Pace.Took(time.Since(start))
	if err != nil {
		return err
	}
	for _, comment := range host.Comments() {
		fmt.Println("comment:", comment)
	}
	fmt.Println(link, strings.TrimSpace(string(text)))
	return nil
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
		answer := client.FromResponse(robots.Robot{Names: []string{name}}, resp.StatusCode, resp.Header, resp.Body)
		delay, _ := answer.CrawlDelay()
		fmt.Println(name, answer.Allowed("/search"), answer.Allowed("/foo/bar"), delay, answer.File.Sitemaps())
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
