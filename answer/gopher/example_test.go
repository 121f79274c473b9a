package gopher_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func Example() {
	dir, err := os.MkdirTemp("", "gopher")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{"about.txt": "Hello.\n", ".robots": "Disallow: /\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- tree.Run(ctx) }()
	go func() {
		s := &server.Server{Handler: &gopher.Front{Host: &answer.Host{Site: tree}},
			Host: "gopher.example.org", Port: 70}
		ended <- s.Serve(ctx, l)
	}()
	for _, selector := range []string{"/", "/about.txt", "/.robots"} {
		if err := ask(l.Addr(), selector); err != nil {
			fmt.Println(err)
		}
	}
	stop()
	fmt.Println(<-ended, <-ended)
	// Output:
	// "0about.txt\t/about.txt\tgopher.example.org\t70\r\n.\r\n"
	// "Hello.\n"
	// "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"
	// <nil> <nil>
}

// ask sends a selector to a server and prints the reply.
func ask(addr net.Addr, selector string) error {
	c, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, selector+"\r\n"); err != nil {
		return err
	}
	reply, err := io.ReadAll(c)
	fmt.Printf("%q\n", reply)
	return err
}
