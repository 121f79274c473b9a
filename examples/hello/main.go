// Command hello is a Gopher server in 20 lines. It says hello on port 7070.
package main

import (
	"context"
	"log"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

func main() {
	s := &server.Server{Handler: server.HandlerFunc(hello)}
	log.Fatal(s.ListenAndServe(context.Background(), ":7070"))
}

func hello(w server.ResponseWriter, r *server.Request) error {
	return w.WriteItem(menu.Info("Hello, " + r.Remote.Addr().String()))
}
