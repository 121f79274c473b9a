package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots/client"
)

func TestWalk(t *testing.T) {
	documents := map[string]string{
		"/robots.txt":  "20 text/plain\r\nUser-agent: *\nDisallow: /private/\n\nUser-agent: indexer\nDisallow: /today/\nCrawl-delay: 0.001\n",
		"/":            "20 text/gemini; lang=en\r\n# Home\n=>about.txt\tAbout\n=>/private/ Mine\n=> /today/\n=> gemini://elsewhere/\n=> /moved/\n=>\n",
		"/about.txt":   "20 text/plain\r\n=> /hidden.txt\n",
		"/moved/":      "31 /moved/here/\r\n",
		"/moved/here/": "20 text/gemini\r\n=> ../../gone\n=> /\n",
	}
	certificates := httptest.NewTLSServer(nil)
	defer certificates.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: certificates.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			request, _ := bufio.NewReader(conn).ReadString('\n')
			reply, ok := documents[strings.TrimPrefix(strings.TrimSpace(request),
				"gemini://capsule")]
			if !ok {
				reply = "51 not here\r\n"
			}
			_, _ = io.WriteString(conn, reply)
			_ = conn.Close()
		}
	}()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}

	var out strings.Builder
	c := &client.Client{Agent: "examplebot", Categories: []string{"indexer"},
		MinDelay: time.Nanosecond, Fetcher: &client.Fetcher{Dial: dial}}
	walk(t.Context(), c, "gemini://capsule/", &out)
	want := "20 gemini://capsule/ text/gemini; lang=en\n20 gemini://capsule/about.txt text/plain\n" +
		"20 gemini://capsule/moved/here/ text/gemini\n51 gemini://capsule/gone not here\n"
	if out.String() != want {
		t.Errorf("walked\n%swant\n%s", out.String(), want)
	}
}
