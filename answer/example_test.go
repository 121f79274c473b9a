package answer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func Example() {
	dir, err := os.MkdirTemp("", "answer")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "about.txt"), []byte("Hello.\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- tree.Run(ctx) }()

	host := &answer.Host{Site: tree}
	for _, sel := range []string{"/", "/about.txt", "/nosuch"} {
		r := &server.Request{RequestLine: selector.RequestLine{Selector: sel},
			Host: "gopher.example.org", Port: 70}
		a, err := host.Ask(r, &answer.Format{})
		if err != nil {
			fmt.Println(sel, "error:", server.ErrorMessage(err))
			continue
		}
		switch a.Class {
		case answer.Menu:
			fmt.Println(sel, "menu:", len(a.Items), "item, first", a.Items[0].Selector)
		case answer.File:
			fmt.Printf("%s %s: %q\n", sel, a.MediaType(), a.Body)
		}
		a.Close()
	}
	stop()
	fmt.Println(<-ended)
	// Output:
	// / menu: 1 item, first /about.txt
	// /about.txt text/plain; charset=utf-8: "Hello.\n"
	// /nosuch error: Not found: nothing here has that name
	// <nil>
}
