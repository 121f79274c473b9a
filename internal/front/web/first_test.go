package web

import (
	"net/http"
	"testing"
	"time"
)

// TestFirstPages: pages, and files that begin like programs, wait for the first scan,
// and are then as they will be later.
func TestFirstPages(t *testing.T) {
	s := unread(t, nil)
	s.write(".robots", "User-agent: *\nContent-Usage: train-ai=n\n")
	s.write("shebang.txt", "#!/bin/sh begins it\n")
	first := make(chan *http.Response, 3)
	for _, path := range []string{"/a.txt", "/no/secret.txt", "/shebang.txt"} {
		go func() {
			for {
				res, _ := s.get(path)
				if res.StatusCode != http.StatusServiceUnavailable ||
					res.Header.Get("Retry-After") == "" {
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
	s.read()
	for range 3 {
		res := <-first
		path, want, usage := res.Request.URL.Path, "", "train-ai=n"
		if path == "/no/secret.txt" {
			want, usage = "noindex", ""
		}
		if got := res.Header.Get("X-Robots-Tag"); res.StatusCode != http.StatusOK || got != want ||
			res.Header.Get("Content-Usage") != usage {
			t.Errorf("%s: %d, X-Robots-Tag %q, Content-Usage %q", path, res.StatusCode, got,
				res.Header.Get("Content-Usage"))
		}
	}
}
