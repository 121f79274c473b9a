package webview

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/fileserver"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A page is drawn again only if something is different in it.
func TestPageIsKept(t *testing.T) {
	var d drawings
	drawn := 0
	draw := func(p page, reply string, ok bool) {
		body, did := d.draw(p, []byte(reply), func(p *page) bool {
			drawn++
			p.Fault = "what it shows: " + reply
			return ok
		})
		if did != ok || ok && !strings.Contains(string(body), p.Title) {
			t.Errorf("%q of %+v: %v", reply, p, did)
		}
	}
	for _, p := range []page{{Title: "a"}, {Title: "b"}, {Title: "a", Noindex: true}, {Title: "a", Path: []crumb{{"x", "/x"}}}} {
		for _, reply := range []string{"one", "two"} {
			was := drawn
			draw(p, reply, true)
			draw(p, reply, true)
			if drawn != was+1 {
				t.Errorf("%+v with %s was drawn %d times", p, reply, drawn-was)
			}
		}
	}
	drawn = 0
	for range 2 {
		draw(page{Title: "none"}, "that is no menu", false)
		draw(page{Title: "by items"}, "", true)
	}
	if drawn != 4 {
		t.Errorf("drawn %d times: something was kept that must not be", drawn)
	}
}

// What is kept is bounded, and the newest of it.
func TestKeptPagesAreBounded(t *testing.T) {
	var d drawings
	tenth, large := make([]byte, maxKept/10), make([]byte, maxKept+1)
	for i := range 100 {
		d.keep(drawnFrom{byte(i)}, tenth)
		d.keep(drawnFrom{byte(i), 1}, large)
	}
	sum := 0
	for _, body := range d.pages {
		sum += len(body)
	}
	if len(d.pages) != 10 || len(d.order) != 10 || d.size != sum || d.pages[drawnFrom{99}] == nil {
		t.Errorf("%d pages, %d in order, %d bytes, counted %d", len(d.pages), len(d.order), sum, d.size)
	}
}

// Large pages are drawn one after the other, and nobody waits for long.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drawings
		first, second := turn{of: &d, ctx: t.Context()}, turn{of: &d, ctx: t.Context()}
		if err := errors.Join(first.take(), first.take()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := second.take(); !errors.Is(err, errBusy) || time.Since(began) != maxWait {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		second.end() // which has none
		time.AfterFunc(time.Second, first.end)
		began = time.Now()
		if err := second.take(); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := (&turn{of: &d, ctx: ctx}).take(); err == nil {
			t.Error("taken twice")
		}
		second.end()
	})
}

// Many clients who ask at once for the page of a large directory get it, drawn
// once; and when the directory changes, another.
func TestLargePageForMany(t *testing.T) {
	dir := t.TempDir()
	for i := range 5000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("entry-with-a-long-name-%05d.txt", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		t.Fatal(err)
	}
	pages := &Pages{Site: tree, Handler: &fileserver.Files{Site: tree}}
	s := start(t, func(srv *server.Server) { srv.HTTP = serving(pages) })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if res, body := s.get("/"); res.StatusCode != http.StatusOK || !strings.Contains(body, "entry-with-a-long-name-04999.txt") {
				t.Errorf("%s, %d bytes", res.Status, len(body))
			}
		})
	}
	all.Wait()
	if n := len(pages.drawings.pages); n != 1 {
		t.Errorf("%d pages were drawn", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, body := s.get("/"); !strings.Contains(body, "new.txt") {
		t.Error("the page is that of before")
	}
}
