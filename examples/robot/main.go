// Command robot walks a gopherhole politely: Client.Do asks robots.txt before every
// fetch and keeps the pace that the host asks for. It stays on that host, and prints
// the URL of each menu and text that it has fetched.
//
//	robot examplebot gopher://localhost:7070/
//
// With the time of its last visit it walks nothing: the host's sitemap lists what has
// changed since. gophd -sitemap answers that in three requests, however large the site is.
//
//	robot examplebot gopher://localhost:7070/ 2026-11-24T12:00:00Z
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/selector"
)

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		log.Fatal("usage: robot NAME URL [LAST-VISIT]")
	}
	c := &client.Client{Agent: os.Args[1]}
	if len(os.Args) == 3 {
		walk(context.Background(), c, os.Args[2], os.Stdout)
		return
	}
	since, err := time.Parse(time.RFC3339, os.Args[3])
	if err == nil {
		err = changes(context.Background(), c, os.Args[2], since, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// sitemap is a sitemap or an index of sitemaps (sitemaps.org).
type sitemap struct {
	Parts []sitemapEntry `xml:"sitemap"`
	URLs  []sitemapEntry `xml:"url"`
}

type sitemapEntry struct {
	URL     string    `xml:"loc"`
	Changed time.Time `xml:"lastmod"`
}

// changes prints the URLs that have changed since the last visit, and how many requests it
// took to know. If the part with the newest changes goes back far enough, it needs no
// other.
func changes(ctx context.Context, c *client.Client, start string, since time.Time, out io.Writer) error {
	rules, err := c.Get(ctx, start)
	if err != nil || rules.File == nil || len(rules.File.Sitemaps()) == 0 {
		return fmt.Errorf("%s names no sitemap: %w", start, cmp.Or(err, rules.Err))
	}
	todo, requests := rules.File.Sitemaps()[:1], 1
	for len(todo) > 0 {
		reply, err := c.Do(ctx, todo[0])
		if err != nil {
			return err
		}
		var s sitemap
		err = xml.NewDecoder(io.LimitReader(reply.Body, 50<<20)).Decode(&s)
		_ = reply.Body.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", todo[0], err)
		}
		for _, part := range s.Parts {
			todo = append(todo, part.URL)
		}
		requests++
		recent := strings.Contains(todo[0], "/sitemap-recent.")
		for _, e := range s.URLs {
			if !e.Changed.Before(since.Truncate(time.Second)) {
				_, _ = fmt.Fprintln(out, e.URL)
			}
		}
		if n := len(s.URLs); recent && time.Since(since) < 23*time.Hour && (n < 1000 || s.URLs[n-1].Changed.Before(since)) {
			break
		}
		todo = todo[1:]
	}
	_, err = fmt.Fprintf(out, "%d requests\n", requests)
	return err
}

// walk follows at most 1000 links, breadth first: a site may have no end.
func walk(ctx context.Context, c *client.Client, start string, out io.Writer) {
	todo := []string{start}
	for n := 0; n < min(len(todo), 1000); n++ {
		reply, err := c.Do(ctx, todo[n])
		if err != nil {
			log.Print(err)
			continue
		}
		_, _ = fmt.Fprintln(out, todo[n])
		for _, link := range links(todo[n], io.LimitReader(reply.Body, 1<<20)) {
			if !slices.Contains(todo, link) {
				todo = append(todo, link)
			}
		}
		_ = reply.Body.Close()
	}
}

// links returns the menus and texts of the same host that a menu links to. A text has
// none: your robot would read it here.
func links(from string, body io.Reader) (found []string) {
	here, err := selector.ParseURL(from)
	for lines := bufio.NewScanner(body); err == nil && here.Type == menu.TypeMenu && lines.Scan(); {
		it, bad := menu.ParseItem(lines.Text())
		if bad == nil && (it.Type == menu.TypeMenu || it.Type == menu.TypeText) && it.Host == here.Host && it.Port == here.Port {
			found = append(found, selector.URL{Host: it.Host, Port: it.Port, Type: it.Type, Selector: it.Selector}.String())
		}
	}
	return found
}
