// Command robot walks a gopherhole politely: it asks robots.txt before every
// fetch, keeps the pace that the host asks for, stays on that host, and prints
// the URL of each menu and text that it has fetched.
//
//	robot examplebot gopher://localhost:7070/
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/selector"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: robot NAME URL")
	}
	walk(context.Background(), &client.Client{Agent: os.Args[1]}, os.Args[2], os.Stdout)
}

// limit is how many URLs one walk follows, since a site may have no end.
const limit = 1000

// walk goes through a site from one URL on, breadth first.
func walk(ctx context.Context, rules *client.Client, start string, out io.Writer) {
	todo := []string{start}
	for n := 0; n < len(todo); n++ {
		links, err := visit(ctx, rules, todo[n])
		if err != nil {
			log.Printf("%s: %v", todo[n], err)
			continue
		}
		_, _ = fmt.Fprintln(out, todo[n])
		for _, link := range links {
			if len(todo) < limit && !slices.Contains(todo, link) {
				todo = append(todo, link)
			}
		}
	}
}

// visit fetches one document, if it may, and returns the links in it.
func visit(ctx context.Context, rules *client.Client, link string) ([]string, error) {
	if may, err := rules.Allowed(ctx, link); err != nil {
		return nil, err
	} else if !may.Allowed {
		return nil, fmt.Errorf("denied by line %d of robots.txt", may.Rule.Line)
	}
	host, err := rules.Get(ctx, link) // from memory
	if err != nil {
		return nil, err
	}
	if err := host.Pace.Wait(ctx); err != nil {
		return nil, err
	}
	defer func(start time.Time) { host.Pace.Took(time.Since(start)) }(time.Now())
	return fetch(ctx, link)
}

func fetch(ctx context.Context, link string) ([]string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	body, err := (&client.Fetcher{}).Fetch(ctx, u)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	return links(link, bufio.NewScanner(io.LimitReader(body, 1<<20)))
}

// links returns what a menu links to on its own host. Of a text there are none:
// a robot of yours would read it here.
func links(link string, lines *bufio.Scanner) ([]string, error) {
	var found []string
	here, err := selector.ParseURL(link)
	for err == nil && here.Type == menu.TypeMenu && lines.Scan() {
		it, bad := menu.ParseItem(lines.Text())
		to := selector.URL{Host: it.Host, Port: it.Port, Type: it.Type, Selector: it.Selector}
		wanted := it.Type == menu.TypeMenu || it.Type == menu.TypeText
		if bad == nil && wanted && to.Host == here.Host && to.Port == here.Port {
			found = append(found, to.String())
		}
	}
	return found, errors.Join(err, lines.Err())
}
