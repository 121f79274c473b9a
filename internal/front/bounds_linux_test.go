package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/internal/source/sitemap"
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
	list, err := q.View.ReadDir("~ann/large")
	a := &answer.Value{Class: answer.Menu, Selector: "/reads", Type: menu.TypeMenu}
	for _, e := range list[:len(list)/4] {
		a.Items = append(a.Items,
			menu.Item{Type: menu.TypeText, Label: e.Name(), Selector: "/~ann/large/" + e.Name()})
	}
	return a, err
}

// prints is a program whose reply is a long menu.
type prints struct{}

var printed = strings.Repeat("0A line of a program\t/small/x.txt\tfirst.example\t70\r\n",
	many(75_000)) + menu.End

// many is n, or less with a race detector, which is ten times as slow, and with which
// memory is not measured.
func many(n int) int {
	if raceEnabled {
		return n / 10
	}
	return n
}

func (prints) Answers(sel string) bool { return sel == "/prints" }
func (prints) Answer(*answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.File, Selector: "/prints", Type: menu.TypeText,
		Stream: io.NopCloser(strings.NewReader(printed)), Size: -1}, nil
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
	treetest.Write(t, dir, map[string]string{"~ann/large/first": "", "~bob/plan.txt": "x",
		"text.txt":       strings.Repeat("A line of a text\n", 100_000),
		"maps/gophermap": strings.Repeat("A line of a map\n0A text\t/~bob/plan.txt\n", 25_000),
		"large.bin":      strings.Repeat("\x00", 4<<20)})
	first := filepath.Join(dir, "~ann/large/first")
	for i := range names {
		treetest.Must(t, os.Link(first,
			filepath.Join(dir, fmt.Sprintf("~ann/large/2026-01-02 a text with a name %06d.txt", i))))
		if i%60_000 == 59_999 { // a file has room for so many links
			treetest.Must(t, os.Remove(first))
			treetest.Write(t, dir, map[string]string{"~ann/large/first": ""})
		}
	}
	return dir
}

// fronts are how a selector is asked for over each front, and how a good reply begins.
var fronts = []struct {
	name, request, good string
	protocol            func(*smallnet.Protocols) *server.Protocol
}{
	{name: "Gopher", request: "%[2]s\r\n"},
	{name: "web", request: "GET %[2]s HTTP/1.1\r\nHost: %[1]s\r\nAccept: text/html\r\nConnection: close\r\n\r\n", good: "HTTP/1.1 200"},
	{name: "Gemini", request: "gemini://%[1]s%[2]s\r\n", good: "20 ",
		protocol: (*smallnet.Protocols).Gemini},
	{name: "Spartan", request: "%[1]s %[2]s 0\r\n", good: "2 ",
		protocol: (*smallnet.Protocols).Spartan},
	{name: "Nex", request: "%[2]s\r\n", protocol: (*smallnet.Protocols).Nex},
	{name: "Finger", request: "%[3]s\r\n", good: "~", protocol: (*smallnet.Protocols).Finger},
}

// kinds are the kinds of replies that gophd makes, and for how many requests at once.
var kinds = map[string]int{"/~ann/large/feed.xml": 100, "/~ann/large/": 12, "/~ann/": 12,
	"/reads": 12, "/prints": 12, "/maps/": 12, "/text.txt": 12,
	"/large.bin": 12, "/robots.txt": 12, "/caps.txt": 12, "/about-robots": 12, "/feed.xml": 12,
	"/sitemap.xml": 12, "/sitemap-1.xml": 4,
	"/~ann/large/?page=%d": 16} // %d: each request its own

// Each bound holds for whatever is made, over each front and for each host: when four
// addresses ask for something large at once, they are answered (on a busy machine some of
// them with "Server busy"), memory stays within 200 MiB, and a fifth one is answered
// meanwhile.
func TestAbuseBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))    // it is about what is held, not about what waits to be collected
	tree, err := site.Open(largeTree(t, many(100_000)), // of 200,000 TestSmallMemory makes replies
		site.Config{Files: true})
	treetest.Must(t, err)
	_, stop, err := tree.Read(context.Background())
	treetest.Must(t, err)
	defer func() { treetest.Must(t, stop()) }()
	for _, cache := range []int64{0, 64 << 20} { // in this order: what a cache keeps would count for those without
		hosts := []string{"first.example", "second.example"}[:1+min(cache, 1)]
		limiter, kept := &answer.Limiter{}, answer.NewCache(cache)
		for _, f := range fronts {
			likeGemini := f.protocol != nil && f.name != "Gemini" // they keep what they draw as it does
			if cache > 0 && likeGemini || cache == 0 && !likeGemini && raceEnabled {
				continue
			}
			var addrs []string
			for _, name := range hosts {
				host := &answer.Host{Site: tree, Limiter: limiter, Cache: kept,
					Before: []answer.Source{prints{}},
					Beside: []answer.Source{&feed.Feeds{}, &sitemap.Sitemaps{Site: tree}, reads{}}}
				addrs = append(addrs, serve(t, host, name, f.protocol,
					netip.MustParsePrefix("127.0.0.1/32")))
			}
			for sel, requests := range kinds {
				if f.name == "Finger" && !strings.HasSuffix(sel, "ann/") {
					continue // which has only users
				}
				if f.name != "web" && strings.Contains(sel, "%d") {
					continue // whose lists have no pages
				}
				ask := func(n int, sel string) error { // of all hosts
					i := max(n, 0)
					name := hosts[i%len(hosts)]
					if strings.Contains(sel, "%d") {
						sel = fmt.Sprintf(sel, 1+i)
					}
					return proxied(addrs[i%len(hosts)], client(n),
						fmt.Sprintf(f.request, name, sel, strings.Trim(sel, "/~")), f.good)
				}
				t.Run(fmt.Sprint(sel[1:], ", ", f.name, ", cache ", cache>>20), func(t *testing.T) {
					rush(t, requests, cache, func(n int) error {
						return ask(n, sel)
					}, func() error {
						return ask(fifth, "/~bob/")
					})
				})
			}
		}
	}
}

// fifth is the request of the fifth address.
const fifth = -1

func client(n int) int {
	if n == fifth {
		return 4
	}
	return n / 2 % 4 // each of both hosts
}

// rush lets four addresses ask for the same at once, and a fifth one meanwhile.
func rush(t *testing.T, requests int, cache int64, ask func(n int) error, other func() error) {
	const most = 200 << 20
	debug.FreeOSMemory()
	_ = peak(t)
	before := peak(t)
	var all sync.WaitGroup
	var ended atomic.Bool
	var answered atomic.Int64
	for i := range requests {
		all.Go(func() {
			switch err := ask(i); {
			case err == nil:
				answered.Add(1)
			case !errors.Is(err, errBusy):
				t.Error(err)
			}
		})
	}
	asked, meanwhile := 0, make(chan error, 1)
	go func() {
		for first := true; first || !ended.Load(); first = false {
			if err := other(); err != nil {
				meanwhile <- err
				return
			}
			asked++
		}
		meanwhile <- nil
	}()
	all.Wait()
	ended.Store(true)
	if err := <-meanwhile; err != nil {
		t.Errorf("the fifth address: %v", err)
	}
	for tries := 0; answered.Load() == 0; tries++ { // a making may take longer than it may on a busy machine
		if err := ask(0); err == nil {
			answered.Add(1)
		} else if !errors.Is(err, errBusy) || tries == 10 {
			t.Fatalf("none is answered: %v", err)
		}
	}
	more := peak(t) - before
	t.Logf("%d MiB more, %d of %d answered, %d of the fifth", more>>20, answered.Load(),
		requests, asked)
	if more > most+cache && !raceEnabled {
		t.Errorf("%d MiB more memory", more>>20)
	}
}

// errBusy is a reply that asks to come back later: on a busy machine a making may take longer
// than it may.
var errBusy = errors.New("the server is busy")

// proxied sends a request of a client of its own, and reads the reply to its end.
func proxied(addr string, client int, request, good string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	if _, err := fmt.Fprintf(c, "PROXY TCP4 192.0.2.%d 198.51.100.1 1234 70\r\n%s", client+1,
		request); err != nil {
		return err
	}
	head := make([]byte, 12)
	n, err := io.ReadFull(c, head)
	if got := string(head[:n]); err == nil &&
		slices.ContainsFunc([]string{"HTTP/1.1 503", "40 ", "5 Server", "Server busy",
			"3Server busy"}, func(busy string) bool {
			return strings.HasPrefix(got, busy)
		}) {
		return errBusy
	} else if err != nil || !strings.HasPrefix(got, good) || got[0] == menu.TypeError ||
		strings.HasPrefix(got, "Not found") {
		return fmt.Errorf("%.60q is answered with %q, %w", request, got, err)
	}
	_, err = io.Copy(io.Discard, c)
	return err
}
