// Command embed serves a hole that is part of the program: menus, robots.txt, feeds.
package main

import (
	"context"
	"embed"
	"io/fs"
	"log"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

//go:embed all:hole
var files embed.FS

// handler answers from the embedded directory.
func handler(ctx context.Context) (server.Handler, error) {
	hole, err := fs.Sub(files, "hole")
	if err != nil {
		return nil, err
	}
	tree := site.FS(hole, site.Config{})
	go func() { _ = tree.Run(ctx) }() // makes robots.txt
	return &gopher.Front{Host: &answer.Host{
		Site:   tree,
		Beside: []answer.Source{&feed.Feeds{}},
	}}, nil
}

func main() {
	ctx := context.Background()
	h, err := handler(ctx)
	if err == nil {
		err = (&server.Server{Handler: h}).ListenAndServe(ctx, ":7070")
	}
	log.Fatal(err)
}
