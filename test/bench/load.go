//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// scenario is one kind of request.
type scenario struct {
	name      string
	selectors []string
	conns     int
	least     int    // bytes that a right reply has at least
	only      string // servers that take part, all if empty

	dial func(addr string) (net.Conn, error) // nil: TCP and nothing more
}

func (s scenario) skips(server string) bool {
	return s.only != "" && !strings.Contains(s.only, server)
}

func scenarios() []scenario {
	var files []string
	for i := range holeFiles {
		files = append(files, holeName(i))
	}
	return []scenario{
		{name: "1 KiB text", selectors: []string{"/hot.txt"}, conns: 32, least: 1000},
		{name: "1,000 texts in turn", selectors: files, conns: 32, least: 900},
		{name: "gophermap of 40 lines", selectors: []string{"/menu"}, conns: 32, least: 1500},
		{name: "listing of 100 files", selectors: []string{"/list100"}, conns: 32, least: 4000},
		{name: "listing of 10,000 files", selectors: []string{"/list10000"}, conns: 4, least: 400_000, only: "bare gophd"},
		{name: "robots.txt", selectors: []string{"robots.txt"}, conns: 32, least: 20},
		{name: "not found", selectors: []string{"/no/such/thing.txt"}, conns: 32, least: 3},
		{name: "1 MiB file", selectors: []string{"/big.bin"}, conns: 4, least: 1 << 20},
		{name: "one client, 1 KiB text", selectors: []string{"/hot.txt"}, conns: 1, least: 1000},
	}
}

// measured is the result of one measurement.
type measured struct {
	requests, failed int
	span             time.Duration
	cpu              time.Duration // of the server, all requests
	latency          []time.Duration
	firstError       error
}

func (r measured) quantile(q float64) time.Duration {
	if len(r.latency) == 0 {
		return 0
	}
	return r.latency[min(int(q*float64(len(r.latency))), len(r.latency)-1)]
}

// measure loads a server in a closed loop.
func measure(s *server, sc scenario, span time.Duration) measured {
	load(s.addr, sc, span/10, sc.conns) // warm
	before := s.cpu()
	r := load(s.addr, sc, span, sc.conns)
	time.Sleep(20 * time.Millisecond) // children end, connections close
	r.cpu = s.cpu() - before
	return r
}

func load(addr string, sc scenario, span time.Duration, conns int) measured {
	var mu sync.Mutex
	var all measured
	var wg sync.WaitGroup
	end := time.Now().Add(span)
	for c := range conns {
		wg.Go(func() {
			var r measured
			for i := c; time.Now().Before(end); i += conns {
				r.add(sc.ask(addr, sc.selectors[i%len(sc.selectors)]))
			}
			mu.Lock()
			defer mu.Unlock()
			all.join(r)
		})
	}
	wg.Wait()
	all.span = span
	slices.Sort(all.latency)
	return all
}

func (r *measured) add(took time.Duration, err error) {
	if err != nil {
		r.failed++
		r.firstError = err
		return
	}
	r.requests++
	r.latency = append(r.latency, took)
}

func (r *measured) join(o measured) {
	r.requests += o.requests
	r.failed += o.failed
	r.latency = append(r.latency, o.latency...)
	if r.firstError == nil {
		r.firstError = o.firstError
	}
}

var copyBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// ask makes one request and reads all of the reply.
func ask(addr, selector string, least int) (time.Duration, error) {
	return scenario{least: least}.ask(addr, selector)
}

func (s scenario) ask(addr, selector string) (time.Duration, error) {
	begin := time.Now()
	dial := s.dial
	if dial == nil {
		dial = func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }
	}
	c, err := dial(addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(begin.Add(20 * time.Second))
	if _, err := io.WriteString(c, selector+"\r\n"); err != nil {
		return 0, err
	}
	buf := copyBuffers.Get().(*[64 << 10]byte)
	defer copyBuffers.Put(buf)
	size := 0
	for {
		n, err := c.Read(buf[:])
		size += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if size < s.least {
		return 0, fmt.Errorf("%q: %d bytes, want at least %d", selector, size, s.least)
	}
	return time.Since(begin), nil
}
