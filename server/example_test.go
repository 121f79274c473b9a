package server_test

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

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

func Example() {
	var mux server.ServeMux
	mux.Handle("/hello", server.HandlerFunc(func(w server.ResponseWriter, r *server.Request) error {
		return w.WriteItem(menu.Info("Hello, " + r.Query))
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- (&server.Server{Handler: &mux}).Serve(ctx, l) }()
	for _, selector := range []string{"/hello\tGopher", "/nosuch"} {
		if err := ask(l.Addr(), selector); err != nil {
			fmt.Println(err)
		}
	}
	stop() // Serve returns when all connections have ended
	fmt.Println(<-ended)
	// Output:
	// "iHello, Gopher\t\terror.host\t1\r\n.\r\n"
	// "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"
	// <nil>
}
