package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// A page that was made is kept for all, HEAD included, until what it shows changes:
// the text, the map that names it, or the policy.
func TestPageIsKept(t *testing.T) {
	s := start(t, nil)
	_, first := s.get("/a.txt")
	res, again := s.get("/a.txt")
	tag := res.Header.Get("ETag")
	if first != again || tag == "" {
		t.Errorf("tag %q", tag)
	}
	if res, _ := s.get("/a.txt", "If-None-Match", tag); res.StatusCode != http.StatusNotModified {
		t.Errorf("status %d for the same page", res.StatusCode)
	}
	for name, text := range map[string]string{"gophermap": "0Another label\ta.txt\n",
		"a.txt": "Another text\n", ".robots": "Disallow: /a.txt\n"} {
		s.write(name, text)
		changed := func() bool {
			res, body := s.get("/a.txt", "If-None-Match", tag)
			was := tag
			tag = res.Header.Get("ETag")
			return res.StatusCode == http.StatusOK && tag != was && body != first
		}
		if !treetest.Eventually(changed) {
			t.Errorf("%s: the page is the same", name)
		}
	}
}

// An older file of the same size that takes the place of a newer one is another file, to
// browsers that remember the newer one, too.
func TestOlderFileIsSent(t *testing.T) {
	s := start(t, nil)
	s.write("pic.png", "newer", "old.png", "older")
	older := filepath.Join(s.dir, "old.png")
	treetest.Must(t, os.Chtimes(older, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	res, body := s.get("/pic.png?raw")
	tag, at := res.Header.Get("ETag"), res.Header.Get("Last-Modified")
	if res, _ := s.get("/pic.png?raw", "If-None-Match", tag, "If-Modified-Since",
		at); body != "newer" || tag == "" || res.StatusCode != http.StatusNotModified {
		t.Errorf("the same file: %d, %q, tag %q", res.StatusCode, body, tag)
	}
	treetest.Must(t, os.Rename(older, filepath.Join(s.dir, "pic.png")))
	if !treetest.Eventually(func() bool {
		_, body := s.get("/pic.png?raw", "If-None-Match", tag, "If-Modified-Since", at)
		return body == "older"
	}) {
		t.Error("the older file is taken for the newer one")
	}
}

// A large page that many ask for at once is made for all of them.
func TestLargePageForMany(t *testing.T) {
	s := start(t, func(s *served) { s.srv.MaxConnsPerIP = -1 })
	var lines strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&lines, "Line %d of a long text, which is longer than a small one may be\n", i)
	}
	s.write("long.txt", lines.String())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if res, body := s.get("/long.txt"); res.StatusCode != http.StatusOK ||
				len(body) < lines.Len() {
				t.Errorf("%d, %d bytes", res.StatusCode, len(body))
			}
		})
	}
	all.Wait()
}
