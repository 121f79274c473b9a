// Command webrobot crawls a web site politely, with an ordinary http.Client: its transport checks
// robots.txt before each request and each redirect, and waits as long as the host requires. It
// prints the status and the URL of each page, and its usage preferences.
//
//	webrobot examplebot https://example.org/
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/gophd/gophd/robots/client"
)

var href = regexp.MustCompile(`href="([^"#]+)`) // your robot would parse HTML

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: webrobot NAME URL")
	}
	walk(context.Background(), &client.Client{Agent: os.Args[1]}, os.Args[2], os.Stdout)
}

// walk follows at most 1000 links of the same site, breadth first: a site may have no end.
func walk(ctx context.Context, c *client.Client, start string, out io.Writer) {
	web := http.Client{Transport: &client.Transport{Client: c, Patient: true}, Timeout: time.Minute}
	todo := []string{start}
	for n := 0; n < min(len(todo), 1000); n++ {
		resp, err := web.Get(todo[n])
		switch {
		case errors.Is(err, client.ErrDenied):
			continue
		case err != nil:
			log.Print(err)
			continue
		}
		page := resp.Request.URL // after redirects
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if rules, err := c.Get(ctx, page.String()); err == nil { // from memory
			_, _ = fmt.Fprintln(out, resp.StatusCode, page,
				rules.Preferences(page.String(), resp.Header))
		}
		for _, found := range href.FindAllSubmatch(text, -1) {
			link, err := page.Parse(string(found[1]))
			if err == nil && link.Scheme == page.Scheme && link.Host == page.Host &&
				!slices.Contains(todo, link.String()) {
				todo = append(todo, link.String())
			}
		}
	}
}
