//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// scenario is one kind of request.
type scenario struct {
	name      string
	selectors []string
	conns     int
	least     int // bytes that a right reply has at least
}

// measured is the result of one measurement.
type measured struct {
	requests, failed int
	span             time.Duration
	latency          []time.Duration
	firstError       error
}

func (r measured) quantile(q float64) time.Duration {
	if len(r.latency) == 0 {
		return 0
	}
	return r.latency[min(int(q*float64(len(r.latency))), len(r.latency)-1)]
}

// load requests in a closed loop.
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
	c, err := net.Dial("tcp", addr)
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
