// Command beside serves a directory, and beside it a guest book that is a
// handler of its own:
//
//	beside ./content
//
// Whatever begins with /guests is the guest book's, everything else, robots.txt
// included, is the directory's.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: beside DIR")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// robots.txt denies the guest book to robots.
	tree, err := site.Open(os.Args[1], site.Config{Programs: []string{"/guests"}})
	if err != nil {
		log.Fatal(err)
	}
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.Go(func() error { return tree.Run(ctx) }) // keeps robots.txt right
	tasks.Go(func() error {
		return (&server.Server{Handler: handler(tree)}).ListenAndServe(ctx, ":7070")
	})
	if err := tasks.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// handler puts the guest book beside the tree.
func handler(tree *site.Site) server.Handler {
	var mux server.ServeMux
	mux.Handle("/", &gopher.Front{Host: &answer.Host{Site: tree}})
	mux.Handle("/guests/", &guestBook{})
	return &mux
}

// guestBook is a search item: a visitor enters a name for the book.
type guestBook struct {
	mu    sync.Mutex
	names []string
}

// maxGuests bounds the names in the book; the oldest are dropped.
const maxGuests = 100

// ServeGopher signs the book, if there is a name, and shows it.
func (g *guestBook) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if err := w.WriteItem(menu.Item{
		Type:     '7',
		Label:    "Sign the guest book",
		Selector: "/guests/",
	}); err != nil {
		return err
	}
	for _, name := range g.sign(r.Query) {
		if err := w.WriteItem(menu.Info(name)); err != nil {
			return err
		}
	}
	return nil
}

// sign returns all names, the new one included. Slices that were returned
// before are not changed.
func (g *guestBook) sign(name string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if name != "" {
		old := g.names[max(0, len(g.names)+1-maxGuests):]
		g.names = append(old[:len(old):len(old)], name)
	}
	return g.names
}
