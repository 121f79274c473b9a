package answer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
)

// A file is sent under its own bytes and under the link of an old map; but
// robots.txt can only deny one spelling, so a denied file is answered with a pointer.
func TestOldForms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"d/x.txt": "x\n", "private/y.txt": "y\n", "caf\xe9.txt": "latin\n", "d\xe9/z.txt": "z\n",
		"URL:mailto:a@b": "a file\n", "URL:list": "no URL\n", "URL:d/z.txt": "below\n",
		".robots": "Disallow: /private/\n",
	})
	h := newFiles(run(t, dir), 1<<20)
	pointer := "0/private/y.txt\t/private/y.txt\th\t70\r\n.\r\n"
	missing := "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"
	var redirects []string
	for _, way := range ways(t, h) {
		for sel, want := range map[string]string{
			"/d/x.txt": "x\n", "//d/x.txt": "x\n", "/d//x.txt": "x\n", "/./d/x.txt": "x\n",
			"./d/./x.txt": "x\n", "/caf\xe9.txt": "latin\n", "caf%E9.txt": "latin\n",
			"/URL:list": "no URL\n", "URL:list": "no URL\n", "/URL:d/z.txt": "below\n",
			"/private/y.txt": "y\n", "//private/y.txt": pointer, "/private/./y.txt": "y\n",
			"/./private//y.txt": pointer, "//private/%79.txt": pointer,
			"/d\xe9/z.txt": missing, "/d%E9": missing, "/caf\xe9.txt/": missing,
			"/d//../private/y.txt": missing, "//.robots": missing,
		} {
			if got := way.ask(sel + "\r\n"); got != want {
				t.Errorf("%s: %q got %q, want %q", way.name, sel, got, want)
			}
		}
		redirects = append(redirects, way.ask("/URL:mailto:a@b\r\n"))
	}
	if len(slices.Compact(redirects)) != 1 || !strings.Contains(redirects[0], "mailto:a@b") {
		t.Errorf("a file called URL: is answered in different ways: %q", redirects)
	}
}

// TestFirstForms: which spellings are closed is known after the first scan, and waited for.
func TestFirstForms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "a\n", "private/b.txt": "b\n",
		".robots": "Disallow: /private/\n"})
	tree, err := site.Open(dir, site.Config{})
	must(t, err)
	h := newFiles(tree, 1<<20)
	for sel, want := range map[string]string{"/a.txt": "a\n", "": ""} { // need no waiting
		if got, err := get(t, h, sel); err != nil || !strings.Contains(got, want) {
			t.Errorf("%q: %q, %v", sel, got, err)
		}
	}
	if a, ok := h.Quick(request(t, "robots.txt")); ok {
		t.Errorf("robots.txt before the first scan: %q", a.Body)
	}
	wants := map[string]string{"a.txt": "a\n", "//a.txt": "a\n",
		"private/b.txt":   "0/private/b.txt\t/private/b.txt\th\t70\r\n",
		"//private/b.txt": "0/private/b.txt\t/private/b.txt\th\t70\r\n"}
	type reply struct {
		sel, got string
		err      error
	}
	replies := make(chan reply, len(wants))
	for sel := range wants {
		go func() {
			got, err := get(t, h, sel)
			replies <- reply{sel, got, err}
		}()
	}
	select {
	case r := <-replies:
		t.Errorf("%q was answered before the first scan: %q, %v", r.sel, r.got, r.err)
		replies <- r
	case <-time.After(100 * time.Millisecond):
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- tree.Run(ctx) }()
	defer func() { stop(); <-ended }()
	for range wants {
		if r := <-replies; r.err != nil || r.got != wants[r.sel] {
			t.Errorf("%q: %q, %v; want %q", r.sel, r.got, r.err, wants[r.sel])
		}
	}
}
