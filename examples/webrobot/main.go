// Command webrobot gets pages of the web politely, with any HTTP client: its transport
// asks robots.txt before each request and each redirect, and keeps the pace of hosts.
//
//	webrobot examplebot https://example.org/ https://example.org/about
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/gophd/gophd/robots/client"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: webrobot NAME URL...")
	}
	get(&client.Client{Agent: os.Args[1]}, os.Args[2:], os.Stdout)
}

func get(c *client.Client, urls []string, out io.Writer) {
	web := http.Client{Transport: &client.Transport{Client: c}}
	for _, u := range urls {
		resp, err := web.Get(u)
		switch {
		case errors.Is(err, client.ErrDenied):
			_, _ = fmt.Fprintf(out, "%s: not allowed\n", u)
			continue
		case err != nil:
			_, _ = fmt.Fprintln(out, err)
			continue
		}
		n, err := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		_, _ = fmt.Fprintf(out, "%s: %s, %d bytes, %v\n", resp.Request.URL, resp.Status, n, err)
	}
}
