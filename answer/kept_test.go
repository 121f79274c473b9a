package answer

import (
	"fmt"
	"testing"

	"github.com/gophd/gophd/selector"

	"github.com/gophd/gophd/site"

	"github.com/gophd/gophd/server"
)

// A flood of selectors that name nothing evicts nothing useful and grows
// nothing.
func TestFloodOfMissingSelectors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s := run(t, dir)
	h := &Host{Site: s, Cache: NewCache(1 << 20)}
	stamp := s.View(t.Context()).Stamp()
	for i := range 1000 {
		h.Cache.kept.put(cacheKey{of: h, selector: fmt.Sprint("/useful/", i)},
			&Value{Body: make([]byte, 100)}, stamp)
	}
	useful := h.Cache.kept.size
	for i := range 30_000 {
		r := &server.Request{RequestLine: selector.RequestLine{Selector: fmt.Sprint("/d/missing/", i)}}
		if _, err := h.Ask(r, &Format{}); server.KindOf(err) != server.NotFound {
			t.Fatal(err)
		}
	}
	if h.Cache.kept.size != useful || len(h.Cache.kept.entries) != 1000 {
		t.Errorf("%d useful replies of %d bytes, of 1000 of %d", len(h.Cache.kept.entries),
			h.Cache.kept.size, useful)
	}
	if m := &h.Cache.misses; m.size > m.max ||
		len(m.entries) > int(m.max/entryCost) || m.size == 0 {
		t.Errorf("%d misses of %d bytes", len(m.entries), m.size)
	}
}

// A cache never holds more than it may, and keeps what is asked for.
func TestCacheIsBounded(t *testing.T) {
	stamp := run(t, t.TempDir()).View(t.Context()).Stamp()
	c := &NewCache(100 << 10).kept
	c.put(cacheKey{selector: "liked"}, &Value{}, stamp)
	for i := range 5000 {
		c.put(cacheKey{selector: fmt.Sprint(i)}, &Value{Body: make([]byte, i%3000)}, stamp)
		if c.get(cacheKey{selector: "liked"}, (*site.Stamp).Fresh) == nil {
			t.Fatal("what is asked for all the time is evicted")
		}
		if c.size > c.max {
			t.Fatalf("%d bytes of %d", c.size, c.max)
		}
	}
	if len(c.entries) < 20 {
		t.Errorf("only %d replies are kept", len(c.entries))
	}
	var sum int64
	for _, e := range c.entries {
		sum += e.cost
		c.drop(e)
	}
	if c.size != 0 || sum == 0 {
		t.Errorf("left: %d bytes of %d", c.size, sum)
	}
}
