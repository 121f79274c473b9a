package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"
)

// started runs a site until the test ends, and waits until it watches.
func started(t *testing.T, dir string, conf Config) *Site {
	t.Helper()
	s, err := Open(dir, conf)
	must(t, err)
	running(t, s)
	return s
}

// running runs an opened site.
func running(t *testing.T, s *Site) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = s.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	_, err := s.Snapshot(ctx)
	must(t, err)
}

// soon waits until f is true, at most 5 s.
func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}

// A flood of selectors that name nothing evicts nothing useful and grows
// nothing.
func TestFloodOfMissingSelectors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s := started(t, dir, Config{Cache: 1 << 20})
	for i := range 1000 {
		s.Look().Keep(fmt.Sprint("/useful/", i), make([]byte, 100), "", 0, false)
	}
	useful := s.replies.size
	for i := range 30_000 {
		name := fmt.Sprintf("d/missing/%d", i)
		look := s.Look()
		_, err := look.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		look.KeepMissing("/"+name, name, []byte("3Not found\t\terror.host\t1\r\n.\r\n"), err)
	}
	if s.replies.size != useful || len(s.replies.byKey) != 1000 {
		t.Errorf("%d useful replies of %d octets, of 1000 of %d", len(s.replies.byKey), s.replies.size, useful)
	}
	if m := s.misses; m.size > m.max || len(m.byKey) > int(m.max/entryCost) || len(m.byDir) > 2 {
		t.Errorf("%d misses of %d octets for %d directories", len(m.byKey), m.size, len(m.byDir))
	}
	if s.misses.size == 0 {
		t.Error("no miss was kept")
	}
}

// What a cache has put in is given out until a directory it was made from is
// touched, while it was made or later.
func TestCacheForgets(t *testing.T) {
	tests := map[string]struct {
		dirs                  []string
		before, during, after string // what is touched when; "-" is nothing
		kept                  bool
	}{
		"nothing happens":   {[]string{"a"}, "-", "-", "-", true},
		"before":            {[]string{"a"}, "a", "-", "-", true},
		"while it is made":  {[]string{"a"}, "-", "a", "-", false},
		"all, meanwhile":    {[]string{"a"}, "-", "", "-", false},
		"afterwards":        {[]string{"a", "b"}, "-", "-", "b", false},
		"all, afterwards":   {[]string{"a"}, "-", "-", "", false},
		"another directory": {[]string{"a"}, "-", "-", "other", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCache(1 << 20)
			touch := func(dir string) {
				if dir != "-" {
					c.touch(dir)
				}
			}
			touch(test.before)
			began := c.now()
			touch(test.during)
			c.put(Answer{Selector: "/s", Body: []byte("x")}, test.dirs, began)
			touch(test.after)
			if a := c.get([]byte("/s"), "", 0); (a != nil) != test.kept {
				t.Errorf("kept: %v, want %v", a != nil, test.kept)
			}
			if c.size > 0 != test.kept || len(c.byDir) > 0 != test.kept {
				t.Errorf("%d octets for %d directories", c.size, len(c.byDir))
			}
		})
	}
}

// A cache never holds more than it may.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(100 << 10)
	for i := range 5000 {
		c.put(Answer{Selector: fmt.Sprint(i), Body: make([]byte, i%3000)}, []string{fmt.Sprint(i % 50)}, c.now())
		c.get(fmt.Append(nil, i), "", 0)
		if c.size > c.max {
			t.Fatalf("%d octets of %d", c.size, c.max)
		}
	}
	if len(c.byKey) < 20 {
		t.Errorf("only %d replies are kept", len(c.byKey))
	}
	c.touch("")
	if c.size != 0 || len(c.byKey) != 0 || len(c.byDir) != 0 {
		t.Errorf("left: %d octets", c.size)
	}
}
