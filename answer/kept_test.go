package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/site"

	"github.com/gophd/gophd/server"
)

// A flood of selectors that name nothing evicts nothing useful and grows
// nothing.
func TestFloodOfMissingSelectors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s := run(t, dir)
	h := newFiles(s, 1<<20)
	stamp := s.View(t.Context()).Stamp()
	for i := range 1000 {
		h.Cache.put(cacheKey{of: h.Host, selector: fmt.Sprint("/useful/", i)},
			&Value{Body: make([]byte, 100)}, stamp)
	}
	useful := h.Cache.kept.size
	for i := range 30_000 {
		if _, err := get(t, h, fmt.Sprintf("/d/missing/%d",
			i)); server.KindOf(err) != server.NotFound {
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

// A reply that names the server is kept for each name of it.
func TestCacheByHost(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x.txt": "x"})
	h := newFiles(run(t, dir), 1<<20)
	for _, host := range []string{"one", "two"} {
		kept := func() bool {
			r := request(t, "/d/")
			r.Host = host
			must(t, h.ServeGopher(&reply{}, r))
			a, ok := h.Quick(r)
			return ok && string(a.Body) == "0x.txt\t/d/x.txt\t"+host+"\t70\r\n.\r\n"
		}
		if !eventually(kept) {
			t.Errorf("%s: not kept", host)
		}
	}
	if len(h.Cache.kept.entries) != 2 {
		t.Errorf("%d entries", len(h.Cache.kept.entries))
	}
}

// A spelling that the policy closes is closed though its reply was kept. The files are
// older than the test: a reply of young ones is not kept for long.
func TestKeptReplyOfSpellingThatCloses(t *testing.T) {
	for spelling, rule := range map[string]string{"/m/%6bept.go": "Disallow: /m/kept.go\n",
		"/m/feed": "Disallow: /m/feed/\n", "m/kept.go": "Disallow: /m/kept.go\n" + manyRules()} {
		dir := t.TempDir()
		h := newFiles(runWith(t, dir, site.Config{Mounts: map[string]string{"m": "."}}), 1<<20)
		read := func() string { got, _ := get(t, h, spelling); return got }
		if !eventually(func() bool {
			read()
			return h.kept(request(t, spelling), wire, (*site.Stamp).Fresh) != nil
		}) {
			t.Fatal(spelling, "not kept")
		}
		open := read()
		write(t, dir, map[string]string{".robots": rule})
		if !eventually(func() bool { return read() != open }) {
			t.Errorf("%s is still answered: %q", spelling, open)
		}
	}
}

// manyRules are too many for the spellings without a slash, too.
func manyRules() string {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Disallow: /%d%s\n", i, strings.Repeat("x", 450))
	}
	return b.String()
}

// All hosts and fronts together keep as much as the cache may hold.
func TestCacheIsShared(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		write(t, dir, map[string]string{fmt.Sprintf("%d.txt", i): string(make([]byte, 50<<10))})
	}
	cache := NewCache(4 << 20)
	tree := run(t, dir)
	for range 3 {
		h := &Files{&Host{Site: tree, Cache: cache}}
		for i := range 100 {
			if _, err := get(t, h, fmt.Sprintf("/%d.txt", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var sum int64
	for _, e := range cache.kept.entries {
		sum += int64(len(e.answer.Body))
	}
	if sum > 4<<20 || sum < 2<<20 {
		t.Errorf("%d bytes are kept of 4 MiB", sum)
	}
}
