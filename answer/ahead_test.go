package answer

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestOutputIsBounded: what programs have printed and waits to be sent is bounded, of one and
// of all. Clients that read slowly keep nobody from the output of others.
func TestOutputIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		print := func(n int64) *ahead { return l.ahead(io.NopCloser(io.LimitReader(zeros{}, n))) }
		free := func(list []*ahead) {
			for _, a := range list {
				must(t, a.Close())
			}
			synctest.Wait()
			if n := l.held.Load(); n != 0 {
				t.Errorf("%d bytes are left", n)
			}
		}
		whole := func(n int64, want error) *ahead {
			t.Helper()
			a := print(n)
			body, err := a.whole(maxLoaded)
			if !errors.Is(err, want) || err == nil && int64(len(body)) != n {
				t.Errorf("of %d: %d, %v", n, len(body), err)
			}
			return a
		}
		for n, want := range map[int64]error{0: nil, 1: nil, maxLoaded: nil,
			maxLoaded + 1: errTooLarge, 1 << 40: errTooLarge} {
			free([]*ahead{whole(n, want)})
		}

		var unread []*ahead
		for range 100 {
			unread = append(unread, print(1<<40))
		}
		synctest.Wait()
		if n := l.held.Load(); n < maxHeld/2 || n > maxHeld/2+100*16<<10 {
			t.Errorf("%d bytes wait for clients that read nothing", n)
		}
		for range 4 {
			unread = append(unread, whole(maxLoaded, nil))
		}
		unread = append(unread, whole(maxLoaded, errOverfull))
		if err := l.making(t.Context(), 1, "menu", func(k *call) error {
			return k.spend(small + 1)
		}); err != nil {
			t.Errorf("programs leave no room for a large menu: %v", err)
		}
		free(unread)
	})

	// What makes a map counts until its request ends, unless it is too large.
	h := &Host{Site: run(t, t.TempDir())}
	ctx, cancel := context.WithCancel(t.Context())
	q := &Asked{Host: h, View: h.Site.View(ctx)}
	for _, test := range []struct {
		size, held int64
		want       error
	}{{maxMap + 1, 0, errTooLarge}, {maxMap, maxMap, nil}} {
		text, err := q.ReadMap(io.NopCloser(io.LimitReader(zeros{}, test.size)))
		if !errors.Is(err, test.want) || err == nil && int64(len(text)) != test.size {
			t.Errorf("a map of %d: %d, %v", test.size, len(text), err)
		}
		if n := h.Limiter.held.Load(); n != test.held {
			t.Errorf("after a map of %d, %d bytes count", test.size, n)
		}
	}
	cancel()
	if !eventually(func() bool { return h.Limiter.held.Load() == 0 }) {
		t.Error("a map counts after its request")
	}
}
