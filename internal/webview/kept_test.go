package webview

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A page is drawn again only if something is different in it.
func TestPageIsKept(t *testing.T) {
	var d drawings
	drawn := 0
	draw := func(p page, reply string, ok bool) {
		body, err := d.draw(p, []byte(reply), func(p *page) error {
			drawn++
			p.Fault = "what it shows: " + reply
			if !ok {
				return errNoMenu
			}
			return nil
		})
		if (err == nil) != ok || ok && !strings.Contains(string(body), p.Title) {
			t.Errorf("%q of %+v: %v", reply, p, err)
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
		d.keep(string(rune(i)), tenth)
		d.keep(string(rune(i))+"x", large)
	}
	sum := 0
	for _, body := range d.pages {
		sum += len(body)
	}
	if len(d.pages) != 10 || len(d.order) != 10 || d.size != sum || d.pages[string(rune(99))] == nil {
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
		if err := (&turn{of: &d, ctx: ctx}).take(); !errors.Is(err, context.Canceled) {
			t.Errorf("taken twice, or %v", err)
		}
		second.end()
	})
}

// When clients that read slowly hold too much of large pages, no more are drawn until
// they are done. Pages that are kept can still be had, and small ones.
func TestSlowReadersHoldABoundedAmount(t *testing.T) {
	var d drawings
	draw := func(title string, reply int) ([]byte, error) {
		return d.draw(page{Title: title}, make([]byte, reply), func(p *page) error {
			p.Body = template.HTML(make([]byte, 3*reply))
			return nil
		})
	}
	var held [][]byte
	for i := 0; len(held) < 100; i++ {
		body, err := draw(fmt.Sprint(i), 1<<20)
		if errors.Is(err, errHeld) {
			break
		}
		held = append(held, body)
	}
	sum := 0
	for _, body := range held {
		sum += len(body)
	}
	if sum < maxHeld/4 || sum > maxHeld+4<<20 {
		t.Errorf("%d bytes are held in %d pages", sum, len(held))
	}
	if _, err := draw(fmt.Sprint(len(held)-1), 1<<20); err != nil {
		t.Errorf("one that is kept: %v", err)
	}
	if _, err := draw("small", largeReply); err != nil {
		t.Errorf("a small one: %v", err)
	}
	clear(held[1:])
	for end := time.Now().Add(time.Minute); d.held.Reached(maxHeld) && time.Now().Before(end); {
		continue // the collector may tell of it later than Reached waits for that
	}
	if _, err := draw("another", 1<<20); err != nil {
		t.Errorf("after some are done: %v", err)
	}
	runtime.KeepAlive(held)
}

// withLargeText serves a site with a text that is drawn in turn, and has the turn.
func withLargeText(t *testing.T, change func(*server.Server)) (s *served, taken *turn) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), bytes.Repeat([]byte("a line of text\n"), largeReply/10), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		t.Fatal(err)
	}
	pages := &Pages{Site: tree, Handler: &gopher.Front{Host: &answer.Host{Site: tree}}, drawings: drawings{wait: time.Hour}}
	s = start(t, func(srv *server.Server) {
		srv.HTTP = serving(pages)
		if change != nil {
			change(srv)
		}
	})
	taken = &turn{of: &pages.drawings, ctx: t.Context()}
	if err := taken.take(); err != nil {
		t.Fatal(err)
	}
	return s, taken
}

// A client of HTTP/1 that has finished sending still waits.
func TestTurnOfOneThatHasFinishedSending(t *testing.T) {
	s, taken := withLargeText(t, nil)
	c := s.dial()
	_, err := io.WriteString(c, "GET /large.txt HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n")
	if err = cmp.Or(err, c.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, taken.end) // in which net/http has seen it
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n < largeReply {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// One that goes while it waits is told to the log as that, not as a fault of the server.
func TestGoneWhileWaiting(t *testing.T) {
	s, taken := withLargeText(t, withTLS(t))
	defer taken.end()
	ctx, cancel := context.WithCancel(t.Context())
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		time.AfterFunc(20*time.Millisecond, cancel)
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.addr+"/large.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	if res, err := client.Do(req); err == nil {
		t.Fatal(res.Status)
	}
	if got := <-s.obs.ch; got.Selector != "GET /large.txt HTTP/2.0" || server.KindOf(got.Err) != server.Gone {
		t.Errorf("%+v", got)
	}
}

// What is written item by item is the menu that a Gopher client would get.
func TestCaptureOfItems(t *testing.T) {
	c := captureFor(&server.Request{Host: "here.example", Port: 70}, 200, nil)
	if items, ok := c.menu(); ok {
		t.Errorf("nothing is a menu: %v", items)
	}
	want := []menu.Item{
		{Type: menu.TypeText, Label: "ours", Selector: "/a", Host: "here.example", Port: 70},
		{Type: menu.TypeText, Label: "theirs", Selector: "/a", Host: "there.example", Port: 7070},
	}
	if err := errors.Join(c.WriteItem(menu.Item{Type: menu.TypeText, Label: "ours", Selector: "/a"}), c.WriteItem(want[1])); err != nil {
		t.Fatal(err)
	}
	if items, ok := c.menu(); !ok || !slices.Equal(items, want) {
		t.Errorf("got %+v, want %+v", items, want)
	}
	var err error
	for range 100 {
		err = cmp.Or(err, c.WriteItem(want[1]))
	}
	if !errors.Is(err, errTooLarge) || c.Len() > 200 {
		t.Errorf("%d bytes, %v", c.Len(), err)
	}
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
	pages := &Pages{Site: tree, Handler: &gopher.Front{Host: &answer.Host{Site: tree}}, drawings: drawings{wait: time.Hour}}
	s := start(t, func(srv *server.Server) { srv.HTTP = serving(pages) })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			res, body := s.get("/")
			if res.StatusCode != http.StatusOK || !strings.Contains(body, "entry-with-a-long-name-04999.txt") {
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
