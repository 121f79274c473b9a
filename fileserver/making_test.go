package fileserver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gophd/gophd/server"
)

// Of a hundred who ask at once the first gets a menu of his own, and all others
// wait for the next one, which was begun after they had asked.
func TestMenuIsMadeForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMakings()
		var times atomic.Int32
		let := make(chan struct{})
		f := func(*pendingMenu) (madeMenu, error) {
			n := times.Add(1)
			<-let
			return madeMenu{body: fmt.Append(nil, n)}, nil
		}
		var all sync.WaitGroup
		ask := func(want string) {
			all.Go(func() {
				if got, err := m.get(t.Context(), order{name: "d"}, f); err != nil || string(got.body) != want {
					t.Errorf("got %q, %v, want %q", got.body, err, want)
				}
			})
			synctest.Wait()
		}
		ask("1")
		for range 99 {
			ask("2")
		}
		close(let)
		all.Wait()
		if times.Load() != 2 {
			t.Errorf("made %d times", times.Load())
		}
		ask("3")
		if len(m.next)+len(m.now) > 0 {
			t.Errorf("left: %v, %v", m.next, m.now)
		}
	})
}

// The making of a menu ends when the last client that waits for it is gone, and no
// later request gets what was made.
func TestMakingEndsWithItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMakings()
		f := func(k *pendingMenu) (madeMenu, error) {
			<-k.ctx.Done()
			return madeMenu{}, context.Cause(k.ctx)
		}
		var left []context.CancelFunc
		ended := make(chan error, 4)
		for range 4 { // one begins, three wait for the next
			ctx, leave := context.WithCancel(t.Context())
			left = append(left, leave)
			go func() {
				_, err := m.get(ctx, order{name: "d"}, f)
				ended <- err
			}()
			synctest.Wait()
		}
		for i, leave := range []int{1, 0, 2} {
			left[leave]()
			synctest.Wait()
			if len(ended) != i+1 || len(m.now) != 1 {
				t.Fatalf("after %d of 4: %d have ended, %d in the making", i+1, len(ended), len(m.now))
			}
		}
		left[3]()
		synctest.Wait()
		if len(m.next)+len(m.now) > 0 {
			t.Errorf("left: %v, %v", m.next, m.now)
		}
		for range 4 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// Menus that turn out large are made two at a time; small ones do not wait for
// them.
func TestLargeMenusAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMakings()
		var now atomic.Int32
		let := make(chan struct{})
		large := func(k *pendingMenu) (madeMenu, error) {
			for range 3 {
				if err := k.spend(smallMenu); err != nil {
					return madeMenu{}, err
				}
			}
			now.Add(1)
			defer now.Add(-1)
			<-let
			return madeMenu{}, nil
		}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if _, err := m.get(t.Context(), order{name: fmt.Sprint(i)}, large); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := now.Load(); n != largeMenus {
			t.Errorf("%d at once", n)
		}
		small := func(k *pendingMenu) (madeMenu, error) { return madeMenu{body: []byte("small")}, k.spend(smallMenu) }
		if got, err := m.get(t.Context(), order{name: "small"}, small); err != nil || string(got.body) != "small" {
			t.Errorf("got %q, %v", got.body, err)
		}
		close(let)
		all.Wait()
		if !m.small.TryAcquire(smallMenus) || !m.large.TryAcquire(largeMenus) {
			t.Error("places are left taken")
		}
	})
}

// Who leaves while its menu waits for a place, or after it was left behind, takes
// none.
func TestPlacesAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMakings()
		if !m.large.TryAcquire(largeMenus) {
			t.Fatal("no places")
		}
		ctx, leave := context.WithCancel(t.Context())
		var late *pendingMenu
		f := func(k *pendingMenu) (madeMenu, error) { late = k; return madeMenu{}, k.spend(smallMenu + 1) }
		go func() { _, _ = m.get(ctx, order{}, f) }()
		synctest.Wait()
		leave()
		synctest.Wait()
		m.large.Release(largeMenus)
		if err := late.spend(smallMenu); err == nil {
			t.Error("it goes on though nobody waits")
		}
		if !m.small.TryAcquire(smallMenus) || !m.large.TryAcquire(largeMenus) {
			t.Error("places are left taken")
		}
	})
}

// A panic while a menu is made is one of those who wait for it, and of nobody else.
func TestPanicInTheMaking(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.txt": "x"})
	h := &Files{Site: run(t, dir)}
	h.open()
	_, err := h.makings.get(t.Context(), order{name: "."}, func(k *pendingMenu) (madeMenu, error) {
		return h.makeMenu(&pendingMenu{order: k.order, ctx: k.ctx}) // it cannot spend
	})
	if p := (*panicked)(nil); !errors.As(err, &p) || !strings.Contains(p.Error(), "makeMenu") {
		t.Errorf("got %v", err)
	}
	if got, err := get(t, h, "/"); err != nil || !strings.Contains(got, "x.txt") {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// The cache is asked first, on whatever way a request comes, and whatever query
// it has.
func TestCacheOnEveryPath(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x.txt": "x", "y.txt": "y"})
	s := run(t, dir)
	h := &Files{Site: s, Cache: 1 << 20}
	h.open()
	for sel, body := range map[string]string{"/d/": "kept menu", "/y.txt": "kept text", infoSelector: "kept info"} {
		h.replies.put(replyKey{selector: sel}, server.Answer{Body: []byte(body)}, s.View(t.Context()).Stamp())
	}
	var mux server.ServeMux
	mux.Handle("/", h)
	mux.Handle("/other/", server.NotFoundHandler())
	for name, handler := range map[string]server.Handler{"alone": h, "mux": &mux} {
		for _, way := range ways(t, handler) {
			for line, want := range map[string]string{
				"/d/": "kept menu", "/d/\tquery": "kept menu", "/y.txt": "kept text", "/y.txt\ta b": "kept text", "/d/\tq\t": "kept menu",
				"/d/\t+": "kept menu", "/d/\t$": "kept menu", "\t$": "kept info", "/\tq\t$": "kept info", "/y.txt\t!": "kept text",
				"/d": "0x.txt\t/d/x.txt\th\t70\r\n.\r\n",
			} {
				if got := way.ask(line + "\r\n"); got != want {
					t.Errorf("%s, %s: %q got %q, want %q", name, way.name, line, got, want)
				}
			}
		}
	}
}

// What a Gopher+ client gets of the root is kept, too.
func TestPlusInfoIsKept(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.txt": "x"})
	h := &Files{Site: run(t, dir), Cache: 1 << 20}
	want, err := get(t, h, "\t$")
	if err != nil || !strings.HasPrefix(want, "+-1\r\n+INFO: 0x.txt\t") {
		t.Fatalf("got %q, %v", want, err)
	}
	kept := func() bool {
		_, _ = get(t, h, "\t$")
		a, ok := h.Quick(request(t, "/\t$"))
		return ok && string(a.Body) == want
	}
	if !eventually(kept) {
		t.Error("not kept")
	}
	if got, err := get(t, h, "/"); err != nil || !strings.HasPrefix(got, "0x.txt\t") {
		t.Errorf("the menu for others: %q, %v", got, err)
	}
}

// When clients that read slowly hold too much of large menus, no more are made until
// they are done; small ones are.
func TestSlowReadersHoldABoundedAmount(t *testing.T) {
	m := newMakings()
	make16 := func(k *pendingMenu) (madeMenu, error) {
		if err := k.spend(smallMenu + 1); err != nil {
			return madeMenu{}, err
		}
		body := make([]byte, 16<<20)
		m.hold(body)
		return madeMenu{body: body}, nil
	}
	var held [][]byte
	for range maxHeld/(16<<20) + 10 {
		got, err := m.get(t.Context(), order{name: "large"}, make16)
		if err != nil {
			if !errors.Is(err, errOverfull) {
				t.Fatal(err)
			}
			break
		}
		held = append(held, got.body)
	}
	if n := len(held); n != maxHeld/(16<<20) {
		t.Errorf("%d are held", n)
	}
	small := func(k *pendingMenu) (madeMenu, error) { return madeMenu{}, k.spend(smallMenu) }
	if _, err := m.get(t.Context(), order{name: "small"}, small); err != nil {
		t.Errorf("a small one: %v", err)
	}
	held = held[:copy(held, held[:3])]
	clear(held[3:cap(held)])
	if !eventually(func() bool { _, err := m.get(t.Context(), order{name: "large"}, make16); return err == nil }) {
		t.Error("none is made after some are done")
	}
	runtime.KeepAlive(held)
}
