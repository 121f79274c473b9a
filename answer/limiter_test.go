package answer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// from returns an address: those with the same number are of one /56.
func from(client, host int) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("2001:db8:%x::%x", client, host))
}

func called(name string) callKey {
	return callKey{cacheKey: cacheKey{selector: name}}
}

// limited runs a test of a Limiter, in which no place is taken and no client is remembered at
// the end.
func limited(t *testing.T, f func(*testing.T, *Limiter)) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		f(t, &l)
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		left := len(l.calls)
		for _, p := range []*places{&l.small, &l.large} {
			left += p.used + len(p.shares) + len(p.waiting)
		}
		if left > 0 {
			t.Errorf("left: %+v", &l)
		}
	})
}

// making has something made for a client.
func (l *Limiter) making(ctx context.Context, client int, name string, f func(*call) error) error {
	_, err := l.made(ctx, from(client, 1), called(name), func(k *call) (*Value, error) {
		return nil, f(k)
	})
	return err
}

// Of a hundred requests at once the first gets a making of its own, and all others
// the next one, which began after they had arrived.
func TestMadeOnceForAll(t *testing.T) {
	limited(t, func(t *testing.T, l *Limiter) {
		var times atomic.Int32
		let := make(chan struct{})
		f := func(*call) (*Value, error) {
			n := times.Add(1)
			<-let
			time.Sleep(time.Second)
			return &Value{Body: fmt.Append(nil, n)}, nil
		}
		var all sync.WaitGroup
		ask := func(want string) {
			all.Go(func() {
				if got, err := l.made(t.Context(), from(1, 1), called("d"), f); err != nil ||
					string(got.Body) != want {
					t.Errorf("got %v, %v, want %q", got, err, want)
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
		ask("3")
		all.Wait()
	})
}

// A making is cancelled when the last request that waits for it is gone, and no
// later request gets its result.
func TestMakingEndsWithItsRequests(t *testing.T) {
	limited(t, func(t *testing.T, l *Limiter) {
		var running atomic.Int32
		f := func(k *call) error {
			running.Add(1)
			defer running.Add(-1)
			<-k.ctx.Done()
			return context.Cause(k.ctx)
		}
		var left []context.CancelFunc
		ended := make(chan error, 4)
		for range 4 { // one begins, three wait for the next
			ctx, leave := context.WithCancel(t.Context())
			left = append(left, leave)
			go func() { ended <- l.making(ctx, 1, "d", f) }()
			synctest.Wait()
		}
		for i, leave := range []int{1, 0, 2, 3} {
			left[leave]()
			synctest.Wait()
			if want := min(1, int32(3-i)); len(ended) != i+1 || running.Load() != want {
				t.Fatalf("after %d of 4: %d have ended, %d run", i+1, len(ended), running.Load())
			}
		}
		for range 4 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// The bounds of the places: all of them, those of one address (hosts of one /56 are
// one), and that small makings never wait for large ones, nor addresses for others.
func TestPlaces(t *testing.T) {
	smallOne := func(k *call) error { return k.spend(small) }
	largeOne := func(k *call) error { return k.spend(small + 1) }
	for _, test := range []struct {
		name    string
		clients int
		f       func(*call) error
		want    int32 // run at once
	}{
		{"small ones of one address", 1, smallOne, smallPlaces / 4},
		{"small ones of three addresses", 3, smallOne, 3 * smallPlaces / 4},
		{"small ones of many", 50, smallOne, smallPlaces},
		{"large ones of one address", 1, largeOne, 1},
		{"large ones of many", 50, largeOne, largePlaces},
	} {
		t.Run(test.name, func(t *testing.T) {
			limited(t, func(t *testing.T, l *Limiter) {
				var now, most atomic.Int32
				let := make(chan struct{})
				var all sync.WaitGroup
				for i := range 200 {
					all.Go(func() {
						_, err := l.made(t.Context(), from(i%test.clients, i),
							called(fmt.Sprint(i)), func(k *call) (*Value, error) {
								if err := test.f(k); err != nil {
									return nil, err
								}
								most.Store(max(most.Load(), now.Add(1)))
								<-let
								now.Add(-1)
								return nil, nil
							})
						if err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				if n := most.Load(); n != test.want {
					t.Errorf("%d at once, want %d", n, test.want)
				}
				if test.want < smallPlaces {
					if err := l.making(t.Context(), 99, "another's", smallOne); err != nil {
						t.Error(err)
					}
				}
				close(let)
				all.Wait()
				synctest.Wait()
			})
		})
	}
}

// A making for several addresses begins in the first place that one of them may have.
func TestAskersShareTheirTurns(t *testing.T) {
	limited(t, func(t *testing.T, l *Limiter) {
		let := make(chan struct{})
		ask := func(client int, name string) *atomic.Bool {
			var begun atomic.Bool
			go func() {
				_ = l.making(t.Context(), client, name, func(*call) error {
					begun.Store(true)
					<-let
					return nil
				})
			}()
			synctest.Wait()
			return &begun
		}
		for i := range smallPlaces / 4 {
			ask(1, fmt.Sprint(i))
		}
		first := ask(1, "feed")
		if first.Load() {
			t.Fatal("begun beyond the bound of its address")
		}
		ask(2, "feed")
		if !first.Load() {
			t.Error("another address waits for the first one's turn")
		}
		close(let)
		synctest.Wait()
	})
}

// TestHangingDirectoryHasAShare: makings of a directory that hangs leave places for others,
// whoever asks for it, and so do those of an address.
func TestHangingDirectoryHasAShare(t *testing.T) {
	for _, spent := range []int{small, small + 1} {
		limited(t, func(t *testing.T, l *Limiter) {
			disk := make(chan struct{})
			var hanging atomic.Int32
			var all sync.WaitGroup
			for i := range 200 {
				all.Go(func() {
					_ = l.making(t.Context(), i, fmt.Sprint("/dead/", i), func(k *call) error {
						err := k.spend(spent)
						hanging.Add(1)
						<-disk
						return err
					})
				})
			}
			synctest.Wait()
			began := time.Now()
			for i := range 100 {
				must(t, l.making(t.Context(), 1000+i, fmt.Sprint("/alive/", i), func(k *call) error {
					return k.spend(spent)
				}))
			}
			if took := time.Since(began); took > 0 { // the bubble's time
				t.Errorf("others wait for %v", took)
			}
			if n, want := int(hanging.Load()),
				map[bool]int{false: smallPlaces / 4, true: 1}[spent > small]; n != want {
				t.Errorf("%d hang, want %d", n, want)
			}
			close(disk)
			all.Wait()
		})
	}
}

// TestFirstComeFirstServed: makings that wait get places in the order in which they came, as
// far as their shares allow.
func TestFirstComeFirstServed(t *testing.T) {
	limited(t, func(t *testing.T, l *Limiter) {
		let := make(chan struct{})
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		ask := func(client int, name string) {
			all.Go(func() {
				if err := l.making(t.Context(), client, name, func(k *call) error {
					err := k.spend(small + 1)
					mu.Lock()
					order = append(order, name)
					mu.Unlock()
					<-let
					return err
				}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i, name := range []string{"a/1", "b/1", "b/2", "c/1", "a/2", "d/1"} {
			ask(i, name)
		}
		ask(3, "e/1") // of the address of c/1
		for range 7 {
			let <- struct{}{}
			synctest.Wait()
		}
		all.Wait()
		if got := strings.Join(order, " "); got != "a/1 b/1 c/1 b/2 a/2 d/1 e/1" {
			t.Errorf("order %s", got)
		}
	})
}

// What a making may take is bounded: bytes, time, and what slow readers hold of what
// was made; and a making that was left behind takes no place.
func TestBudgets(t *testing.T) {
	limited(t, func(t *testing.T, l *Limiter) {
		made := func(f func(k *call) error) error {
			return l.making(t.Context(), 1, "x", f)
		}
		if err := made(func(k *call) error {
			return k.spend(maxSpent + 1)
		}); !errors.Is(err, errSpent) {
			t.Errorf("bytes: %v", err)
		}
		if err := made(func(k *call) error {
			<-k.ctx.Done()
			return k.spend(1)
		}); !errors.Is(err, errTime) {
			t.Errorf("time: %v", err)
		}
		hang := func(k *call) error {
			_ = k.spend(small + 1)
			<-k.ctx.Done()
			return k.ctx.Err()
		}
		var all sync.WaitGroup
		var waits atomic.Int32
		for i := range 3 * largePlaces {
			all.Go(func() {
				began := time.Now()
				if err := l.making(t.Context(), i, fmt.Sprint(i),
					hang); errors.Is(err, errWait) && time.Since(began) == maxWait {
					waits.Add(1)
				}
			})
		}
		if all.Wait(); waits.Load() != 2*largePlaces {
			t.Errorf("%d do not wait longer than they may", waits.Load())
		}
		var late *call
		_ = made(func(k *call) error { late = k; return nil })
		synctest.Wait()
		if err := late.spend(small + 1); !errors.Is(err, context.Canceled) {
			t.Errorf("left behind: %v", err)
		}
	})
	var l Limiter
	held := func() (*Value, error) {
		return l.made(t.Context(), from(1, 1), called("x"), func(k *call) (*Value, error) {
			if err := k.spend(small + 1); err != nil {
				return nil, err
			}
			a := &Value{Body: make([]byte, 16<<20)}
			l.hold(a)
			return a, nil
		})
	}
	var all []*Value
	for range maxHeld / (16 << 20) {
		a, err := held()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if _, err := held(); !errors.Is(err, errOverfull) {
		t.Errorf("beyond the bound: %v", err)
	}
	stamp := run(t, t.TempDir()).View(t.Context()).Stamp()
	c := &NewCache(1 << 30).kept
	c.put(cacheKey{}, all[0], stamp)
	if a, err := held(); err != nil {
		t.Errorf("what the cache keeps counts: %v", err)
	} else {
		all = append(all, a)
	}
	c.drop(c.entries[cacheKey{}])
	if _, err := held(); !errors.Is(err, errOverfull) {
		t.Errorf("after the cache has dropped one: %v", err)
	}
	runtime.KeepAlive(all)
	if !eventually(func() bool { _, err := held(); return err == nil }) {
		t.Error("nothing is made after some are sent")
	}
}
