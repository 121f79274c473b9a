package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The links of a name may have so many elements, whatever they lead to, and to
// find out costs no more than that.
func TestAbuseLinkChains(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 800)), 0o755))
	write(t, dir, map[string]string{
		"file":  "x",
		"full":  "-> " + strings.Repeat("./", 254) + "file",
		"over":  "-> " + strings.Repeat("./", 255) + "file",
		"half":  "-> " + strings.Repeat("./", 127) + "d",
		"deep":  "-> " + strings.Repeat("d/", 800) + "l1",
		"l0":    "-> d/../l1",
		"d/two": "-> " + strings.Repeat("./", 127) + "two.d",
		"d/twO": "-> " + strings.Repeat("./", 126) + "two.d",

		"d/two.d/file": "x",
	})
	at := filepath.Join(dir, strings.Repeat("d/", 800))
	for i := range 39 { // each leads up all the way and down again
		link := filepath.Join(at, "l"+string(rune('A'+i)))
		must(t, os.Symlink(strings.Repeat("../", 800)+strings.Repeat("d/", 800)+"l"+string(rune('B'+i)), link))
	}
	roots(t, dir, func(t *testing.T, r *root) {
		for name, want := range map[string]error{
			"full": nil, "over": errTooManyLinks, "deep": errTooManyLinks, "half/twO/file": nil, "half/two/file": errTooManyLinks,
			strings.Repeat("d/", 800) + "lA": errTooManyLinks, "l0": fs.ErrNotExist,
		} {
			calls := 0
			_, _, _, err := r.open(func(_ string, f func() error) error { calls++; return f() }, name)
			if !errors.Is(err, want) || want != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%.20s: %v, want %v", name, err, want)
			}
			if most := maxLinkElements + 2*len(name) + 2; calls > most {
				t.Errorf("%.20s: %d system calls, want at most %d", name, calls, most)
			}
		}
	})
}

// What is always a link again when it is to be opened is not there.
func TestLinkThatIsExchangedEachTime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x", "link": "-> x"})
	at := filepath.Join(dir, "x")
	roots(t, dir, func(t *testing.T, r *root) {
		seen := 0
		_, _, _, err := r.open(func(name string, f func() error) error {
			if name == "x" {
				must(t, os.Remove(at))
				if seen++; seen%2 == 1 { // it is looked at
					must(t, os.WriteFile(at, nil, 0o644))
				} else {
					must(t, os.Symlink("link", at))
				}
			}
			return f()
		}, "link")
		if !errors.Is(err, errExchanged) || !errors.Is(err, fs.ErrNotExist) || seen != 2*maxTries {
			t.Errorf("tried %d times: %v", seen, err)
		}
	})
}

// A name with too many links is reported as what it is, once.
func TestTooManyLinksAreReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x", "over": "-> " + strings.Repeat("./", 255) + "file"})
	var log syncBuffer
	s, err := Open(dir, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	running(t, s)
	soon(t, "the scan reports it", func() bool { return strings.Count(log.String(), "TOO-MANY-LINKS") == 1 })
	for range 3 {
		if _, err := lookup(s, "over"); !errors.Is(err, errTooManyLinks) {
			t.Error(err)
		}
	}
	if strings.Count(log.String(), "TOO-MANY-LINKS") != 1 || !strings.Contains(log.String(), "file=over") {
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
	write(t, dir, map[string]string{"a/b/c/file": "x", "l": "-> a/b/c", "list/1": "-> ../a/b/c/file", "list/2": "-> ../a/b/c/file"})
	s, err := Open(dir, Config{})
	must(t, err)
	for name, f := range map[string]func(*View) error{
		"look-up": func(v *View) error { _, err := v.Lookup("l/file"); return err },
		"listing": func(v *View) error { _, err := v.ReadDir("list"); return errors.Join(err, v.Err()) },
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

// A directory far down costs more of a budget: what is made of its names is longer.
func TestSpendOfLongNames(t *testing.T) {
	dir, deep := t.TempDir(), strings.Repeat("d/", 500)+"d"
	for i := range 100 {
		write(t, dir, map[string]string{fmt.Sprintf("a/%d", i): "", fmt.Sprintf("%s/%d", deep, i): ""})
	}
	s, err := Open(dir, Config{})
	must(t, err)
	spent := func(name string) (sum int) {
		v := s.View(t.Context())
		v.Spend(func(n int) error { sum += n; return nil })
		_, err := v.ReadDir(name)
		must(t, err)
		return sum
	}
	if near, far := spent("a"), spent(deep); far < near+50*len(deep) {
		t.Errorf("near %d, far %d", near, far)
	}
}

// What is waited for between two system calls is no stall.
func TestWaitingIsNoStall(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s, err := Open(dir, Config{FileTimeout: 20 * time.Millisecond})
	must(t, err)
	v := s.View(t.Context())
	v.Spend(func(int) error { time.Sleep(200 * time.Millisecond); return canOpen(s, "d/x") })
	if _, err := v.ReadDir("d"); err != nil {
		t.Errorf("taken for a file system that does not answer: %v", err)
	}
}

// An error says once what could not be opened.
func TestOpenErrorText(t *testing.T) {
	roots(t, t.TempDir(), func(t *testing.T, r *root) {
		_, _, _, err := r.open(func(_ string, f func() error) error { return f() }, "missing")
		if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "missing") != 1 {
			t.Errorf("got %v", err)
		}
	})
}
