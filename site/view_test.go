package site_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// A name with too many links is reported as what it is, once.
func TestTooManyLinksAreReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x",
		"over": "-> " + strings.Repeat("./", 255) + "file"})
	var log treetest.Log
	s, err := site.Open(dir, site.Config{Log: log.Logger()})
	must(t, err)
	running(t, s)
	soon(t, "the scan reports it", func() bool {
		return strings.Count(log.String(), "TOO-MANY-LINKS") == 1
	})
	for range 3 {
		if _, err := lookup(s, "over"); !errors.Is(err, disk.ErrTooManyLinks) {
			t.Error(err)
		}
	}
	if strings.Count(log.String(), "TOO-MANY-LINKS") != 1 ||
		!strings.Contains(log.String(), "file=over") {
		t.Errorf("log:\n%s", log.String())
	}
}

// countdown is a context that ends when it was asked so often.
type countdown struct {
	context.Context
	left int
}

func (p *countdown) Err() error {
	if p.left--; p.left < 0 {
		return context.Canceled
	}
	return nil
}

// A look-up ends when nobody waits for it any more, and so does a listing.
func TestLookupEndsWithItsClient(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/b/c/file": "x", "l": "-> a/b/c",
		"list/1": "-> ../a/b/c/file", "list/2": "-> ../a/b/c/file"})
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	for name, f := range map[string]func(*site.View) error{
		"look-up": func(v *site.View) error { _, err := v.Lookup("l/file"); return err },
		"listing": func(v *site.View) error {
			_, err := v.ReadDir("list")
			return errors.Join(err, v.Err())
		},
	} {
		ended := false
		for n := 0; !ended; n++ {
			ctx := &countdown{t.Context(), n}
			err := f(s.View(ctx))
			if ended = ctx.left >= 0; ended && (err != nil || n < 4) {
				t.Errorf("%s: asked %d times: %v", name, n, err)
			}
			if !ended && (!errors.Is(err, context.Canceled) || ctx.left < -3) {
				t.Fatalf("%s: asked %d times more: %v", name, -ctx.left, err)
			}
		}
	}
}

// A directory far down costs more of a budget: what is made of its names is longer. The
// budget gets all of it back.
func TestSpendOfLongNames(t *testing.T) {
	dir, deep := t.TempDir(), strings.Repeat("d/", 500)+"d"
	for i := range 100 {
		write(t, dir, map[string]string{fmt.Sprintf("a/%d", i): "",
			fmt.Sprintf("%s/%d", deep, i): ""})
	}
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	for kind, s := range map[string]*site.Site{"directory": s, "fs.FS": site.FS(os.DirFS(dir), site.Config{})} {
		spent := func(name string) (sum int) {
			v := s.View(t.Context())
			v.Spend(func(n int) error { sum = n; return nil })
			list, err := v.ReadDir(name)
			must(t, err)
			most := sum
			v.Release()
			_, err = v.ReadDir(name)
			must(t, err)
			if sum != most || len(list) != 100 {
				t.Errorf("%s: %d bytes for %d names, and %d for the same after Release", kind, most,
					len(list), sum)
			}
			return most
		}
		poor, broke := s.View(t.Context()), errors.New("broke")
		poor.Spend(func(int) error { return broke })
		if _, err := poor.ReadDir("a"); !errors.Is(err, broke) || !errors.Is(poor.Err(), broke) {
			t.Errorf("%s: without a budget: %v, %v", kind, err, poor.Err())
		}
		if near, far := spent("a"), spent(deep); far < near+50*len(deep) {
			t.Errorf("%s: near %d, far %d", kind, near, far)
		}
	}
}

// What is waited for between two system calls is no stall.
func TestWaitingIsNoStall(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	synctest.Test(t, func(t *testing.T) {
		s, err := site.Open(dir, site.Config{})
		must(t, err)
		v := s.View(t.Context())
		v.Spend(func(int) error { time.Sleep(time.Minute); return canOpen(s, "d/x") })
		if _, err := v.ReadDir("d"); err != nil {
			t.Errorf("taken for a file system that does not answer: %v", err)
		}
	})
}
