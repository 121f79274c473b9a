package irc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gophd/gophd/robots/irc"
	"github.com/gophd/gophd/robots/readers"
)

// network is an IRC server in memory.
func network(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		_, _ = io.WriteString(server,
			":irc.example.com 005 bob CRAWLER=index:deny,cooldown:86400 :are supported\r\n"+
				":irc.example.com 422 bob :no message of the day\r\n")
	}()
	go func() {
		lines := bufio.NewScanner(server)
		for lines.Scan() && lines.Text() != "QUIT" {
			continue
		}
		_ = server.Close()
	}()
	return client, nil
}

// A crawler that asks a network before it looks at its channels, and knows when
// to ask again. One that goes out leaves Dial nil.
func ExampleVisitor() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := irc.Visitor{Dial: network}
	preference, problems, err := client.Crawler(ctx, "irc://irc.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range problems {
		fmt.Println("the network's token:", p.Message)
	}
	if preference.Index != readers.IndexAllow {
		fmt.Println(preference.Index, "again in", preference.Cooldown)
	}
	// Output:
	// deny again in 24h0m0s
}
