package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// TestFirstPages: pages, and files that begin like programs, wait for the first scan,
// and are then as they will be later.
func TestFirstPages(t *testing.T) {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{
		".robots": "User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n", "a.txt": "a\n", "private/b.txt": "b\n", "shebang.txt": "#!/bin/sh begins it\n",
	})
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		t.Fatal(err)
	}
	host := &answer.Host{Site: tree}
	srv := &server.Server{Handler: &gopher.Front{Host: host}, HTTP: serving(&Pages{Host: host})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	defer func() { stop(); <-ended; <-ended }()
	go func() { ended <- srv.Serve(ctx, l) }()

	first := make(chan *http.Response, 3)
	for _, path := range []string{"/a.txt", "/private/b.txt", "/shebang.txt"} {
		go func() {
			for {
				req, _ := http.NewRequest(http.MethodGet, "http://"+l.Addr().String()+path, nil)
				req.Header.Set("Accept", "text/html")
				res, err := browser.Do(req)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					first <- nil
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
					first <- res
					return
				}
			}
		}()
	}
	select {
	case res := <-first:
		t.Errorf("answered before the tree was read: %v", res)
		first <- res
	case <-time.After(100 * time.Millisecond):
	}
	go func() { ended <- tree.Run(ctx) }()
	for range 3 {
		res := <-first
		if res == nil {
			continue
		}
		path, want, usage := res.Request.URL.Path, "", "train-ai=n"
		if path == "/private/b.txt" {
			want, usage = "noindex", ""
		}
		if got := res.Header.Get("X-Robots-Tag"); res.StatusCode != http.StatusOK || got != want || res.Header.Get("Content-Usage") != usage {
			t.Errorf("%s: %d, X-Robots-Tag %q, Content-Usage %q", path, res.StatusCode, got, res.Header.Get("Content-Usage"))
		}
	}
}
