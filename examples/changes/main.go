// Command changes prints what has changed on a host since the last visit. It walks
// nothing: the host's sitemap lists the changes. gophd -sitemap answers that in three
// requests, however large the site is.
//
//	changes examplebot gopher://localhost:7070/ 2026-11-24T12:00:00Z
package main

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/gophd/gophd/robots/client"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: changes NAME URL LAST-VISIT")
	}
	since, err := time.Parse(time.RFC3339, os.Args[3])
	if err == nil {
		err = changes(context.Background(), &client.Client{Agent: os.Args[1]}, os.Args[2],
			since, os.Stdout)
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
func changes(ctx context.Context, c *client.Client, start string, since time.Time,
	out io.Writer) error {
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
		if n := len(s.URLs); recent && time.Since(since) < 23*time.Hour &&
			(n < 1000 || s.URLs[n-1].Changed.Before(since)) {
			break
		}
		todo = todo[1:]
	}
	_, err = fmt.Fprintf(out, "%d requests\n", requests)
	return err
}
