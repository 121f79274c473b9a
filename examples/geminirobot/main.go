// Command geminirobot walks a capsule of Gemini politely, as a robot that makes an index,
// and prints the status, the URL and the type of each document.
//
//	geminirobot examplebot gemini://localhost/
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/client"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: geminirobot NAME URL")
	}
	walk(context.Background(), &client.Client{
		Agent:      os.Args[1],
		Categories: []string{"indexer"},
	}, os.Args[2], os.Stdout)
}

// walk follows at most 1000 links, breadth first: a capsule may have no end.
func walk(ctx context.Context, c *client.Client, start string, out io.Writer) {
	todo := []string{start}
	for n := 0; n < min(len(todo), 1000); n++ {
		reply, err := c.Do(ctx, todo[n])
		if err != nil {
			log.Print(err)
			continue
		}
		_, _ = fmt.Fprintln(out, reply.Status, reply.URL, reply.Meta)
		lines := bufio.NewScanner(io.LimitReader(reply.Body, 1<<20))
		for strings.HasPrefix(reply.Meta, "text/gemini") && lines.Scan() {
			if link := linkOf(reply.URL, lines.Text()); link != "" && !slices.Contains(todo, link) {
				todo = append(todo, link)
			}
		}
		_ = reply.Body.Close()
	}
}

// linkOf returns the URL on the same host that a line of gemtext links to, or "".
func linkOf(page *url.URL, line string) string {
	words := strings.Fields(strings.TrimPrefix(line, "=>"))
	if !strings.HasPrefix(line, "=>") || len(words) == 0 {
		return ""
	}
	link, err := page.Parse(words[0])
	if err != nil || link.Scheme != page.Scheme || link.Host != page.Host {
		return ""
	}
	return link.String()
}
