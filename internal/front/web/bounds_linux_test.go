package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/source/feed"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// reads is a source that reads a large directory for each query and lists it, as a
// search does that finds too much.
type reads struct{}

func (reads) Answers(sel string) bool { return sel == "/reads" }
func (reads) Answer(q *answer.Asked) (*answer.Value, error) {
	list, err := q.View.ReadDir("large")
	a := &answer.Value{Class: answer.Menu, Selector: "/reads", Type: menu.TypeMenu}
	for _, e := range list[:len(list)/4] {
		a.Items = append(a.Items, menu.Item{Type: menu.TypeText, Label: e.Name(), Selector: "/large/" + e.Name()})
	}
	return a, err
}

// peak is the most memory that this process has had since the last call, in bytes.
func peak(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	treetest.Must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscanf(rest, "%d kB", &bytes)
	treetest.Must(t, err)
	treetest.Must(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	return bytes << 10
}

// largeTree is a directory of many names, linked to few files.
func largeTree(t *testing.T, names int) string {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"large/first": "", "small/x.txt": "x", "maps/gophermap": strings.Repeat("A line of a map\n0A text\t/small/x.txt\n", 25_000), "text.txt": strings.Repeat("A line of a text\n", 100_000)})
	first := filepath.Join(dir, "large/first")
	for i := range names {
		treetest.Must(t, os.Link(first, filepath.Join(dir, fmt.Sprintf("large/2026-01-02 a text with a name %06d.txt", i))))
		if i%60_000 == 59_999 { // a file has room for so many links
			treetest.Must(t, os.Remove(first))
			treetest.Write(t, dir, map[string]string{"large/first": ""})
		}
	}
	return dir
}

// Each bound holds for whatever is made, over each front and for each host: when four
// addresses ask for something large at once, all of them are answered, memory stays
// within 200 MiB, and a fifth one is answered meanwhile.
func TestAbuseBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 200,000 files")
	}
	const most = 200 << 20
	tree, err := site.Open(largeTree(t, 200_000), site.Config{})
	treetest.Must(t, err)
	_, stop, err := tree.Read(context.Background())
	treetest.Must(t, err)
	defer func() { treetest.Must(t, stop()) }()
	for _, cache := range []int64{0, 64 << 20} {
		limiter, kept := &answer.Limiter{}, answer.NewCache(cache)
		for _, name := range map[int64][]string{0: {"first.example"}, 64 << 20: {"first.example", "second.example"}}[cache] {
			host := &answer.Host{Site: tree, Limiter: limiter, Cache: kept, Beside: []answer.Source{&feed.Feeds{}, reads{}}}
			s := &server.Server{Handler: &gopher.Front{Host: host}, HTTP: serving(&Pages{Host: host}), Host: name, MaxConnsPerIP: -1, TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
			addr := listen(t, s)
			for selector, requests := range map[string]int{"/large/feed.xml": 100, "/large/": 12, "/reads": 12, "/maps/": 12, "/text.txt": 12} {
				for front, form := range map[string]string{"Gopher": "%s\r\n", "web": "GET %s HTTP/1.1\r\nHost: " + name + "\r\nAccept: text/html\r\nConnection: close\r\n\r\n"} {
					t.Run(fmt.Sprint(selector[1:], ", ", front, ", ", name, ", cache ", cache>>20), func(t *testing.T) {
						debug.FreeOSMemory()
						_ = peak(t)
						before := peak(t)
						ask := func(client int, sel string) error {
							return proxied(addr, client, fmt.Sprintf(form, sel), form[0] == 'G')
						}
						var all sync.WaitGroup
						var asked atomic.Int64
						done := make(chan struct{})
						for i := range requests {
							all.Go(func() {
								if err := ask(i%4, selector); err != nil {
									t.Error(err)
								}
							})
						}
						fifth := make(chan error, 1)
						go func() {
							for {
								if err := ask(9, "/small/"); err != nil {
									fifth <- err
									return
								}
								asked.Add(1)
								select {
								case <-done:
									fifth <- nil
									return
								default:
								}
							}
						}()
						all.Wait()
						close(done)
						if err := <-fifth; err != nil {
							t.Errorf("the fifth address: %v", err)
						}
						more := peak(t) - before
						t.Logf("%d MiB more, %d of the fifth", more>>20, asked.Load())
						if more > most+cache && !raceEnabled {
							t.Errorf("%d MiB more memory", more>>20)
						}
					})
				}
			}
		}
	}
}

// proxied sends a request of a client of its own, and reads the reply to its end.
func proxied(addr string, client int, request string, web bool) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	if _, err := fmt.Fprintf(c, "PROXY TCP4 192.0.2.%d 198.51.100.1 1234 70\r\n%s", client+1, request); err != nil {
		return err
	}
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, head[:5]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, head[5:]); err != nil {
		return err
	}
	if web && !bytes.HasSuffix(head, fmt.Append(nil, http.StatusOK)) || head[0] == menu.TypeError {
		return fmt.Errorf("answered with %q", head)
	}
	_, err = io.Copy(io.Discard, c)
	return err
}
