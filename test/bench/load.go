//go:build linux

package main

import (
	"fmt"
	"sync"
	"time"
)

// load requests selectors in a closed loop, over as many connections at once, and returns how
// many it sent. An error ends a connection's loop.
func load(addr string, selectors []string, span time.Duration, conns int) (requests int, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(span)
	for c := range conns {
		wg.Go(func() {
			for i := c; time.Now().Before(end); i += conns {
				body, failed := fetch(addr, selectors[i%len(selectors)])
				if failed == nil && body == "" {
					failed = fmt.Errorf("%q: an empty reply", selectors[i%len(selectors)])
				}
				mu.Lock()
				requests++
				if failed != nil {
					err = failed
				}
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return requests, err
}
