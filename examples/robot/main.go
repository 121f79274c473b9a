// Command robot crawls a gopherhole politely: Client.Do checks robots.txt before every fetch and
// waits as long as the host requires. It stays on that host, and prints the URL of each menu and
// text that it fetches.
//
//	robot examplebot gopher://localhost:7070/
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

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

// walk follows at most 1000 links, breadth first: a site may have no end.
func walk(ctx context.Context, c *client.Client, start string, out io.Writer) {
	todo := []string{start}
	for n := 0; n < min(len(todo), 1000); n++ {
		reply, err := c.Do(ctx, todo[n])
		if err != nil {
			log.Print(err)
			continue
		}
		_, _ = fmt.Fprintln(out, todo[n], reply.Meta) // of an error item, its text
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
		if bad == nil && (it.Type == menu.TypeMenu || it.Type == menu.TypeText) &&
			it.Host == here.Host && it.Port == here.Port {
			found = append(found, selector.URL{
				Host:     it.Host,
				Port:     it.Port,
				Type:     it.Type,
				Selector: it.Selector,
			}.String())
		}
	}
	return found
}
