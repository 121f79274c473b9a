package stall_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/stall"
)

// begin begins an operation that has to be let.
func begin(t *testing.T, g *stall.Guard, name string) *stall.Op {
	t.Helper()
	op, err := g.Enter(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return op
}

func unanswered(g *stall.Guard, name string) bool {
	op, err := g.Enter(name)
	op.Leave()
	return err != nil
}

// What does not answer is not asked for, nor what is below it, until it does.
func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var changes atomic.Int32
		g := &stall.Guard{Log: slog.New(slog.NewTextHandler(&log, nil)), Changed: func() {
			changes.Add(1)
		}}
		dir, other := begin(t, g, "a/b"), begin(t, g, "a/b")
		begin(t, g, "quick").Leave()
		time.Sleep(stall.DefaultTimeout / 2)
		if unanswered(g, "a/b") {
			t.Error("taken as unanswered too early")
		}
		time.Sleep(stall.DefaultTimeout)
		for name, want := range map[string]bool{"a/b": true, "a/b/c": true, "a/bc": false,
			"a": false, ".": false, "quick": false} {
			if unanswered(g, name) != want {
				t.Errorf("%s is taken as unanswered: %v", name, !want)
			}
		}
		third := begin(t, g, "third")
		time.Sleep(stall.DefaultTimeout * 2)
		if changes.Load() != 1 {
			t.Errorf("told %d times that something does not answer", changes.Load())
		}
		third.Leave()
		dir.Leave()
		if !unanswered(g, "a/b") {
			t.Error("taken as answered, though there is another one")
		}
		other.Leave()
		time.Sleep(time.Minute)
		if unanswered(g, "a/b") || changes.Load() != 1+3 {
			t.Errorf("unanswered, or told %d times", changes.Load())
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 ||
			!strings.Contains(log.String(), "name=a/b") {
			t.Errorf("log:\n%s", log.String())
		}
	})
}

// After the end nothing is begun, however soon it would have been done.
func TestNothingAfterStop(t *testing.T) {
	var g stall.Guard
	g.Stop()
	for range 1000 {
		if err := check(&g, "x", func() error { return nil }); !errors.Is(err, stall.ErrStopped) {
			t.Fatal(err)
		}
	}
}

// That a goroutine which comes back from a system call has to wait for others of
// this process is no fault of a file system either. There is one processor, so that
// the alarm waits in the same queue.
func TestBusyProcessIsNoStall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 40 { // each runs for 10 ms at a time
		all.Go(func() {
			for !stop.Load() {
				continue
			}
		})
	}
	g := &stall.Guard{Timeout: 200 * time.Millisecond}
	if err := check(g, "x", func() error { runtime.Gosched(); return nil }); err != nil {
		t.Error(err)
	}
	stop.Store(true)
	all.Wait()
}

// Of a directory with many names that do not answer none is asked for; the root
// is no such directory, and one that does not answer itself bars all.
func TestCrowdedDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g stall.Guard
		for i := range 4 {
			begin(t, &g, fmt.Sprintf("d/%d", i))
			begin(t, &g, fmt.Sprint(i))
		}
		time.Sleep(2 * stall.DefaultTimeout)
		if !unanswered(&g, "d/x") || unanswered(&g, "x") || unanswered(&g, "dd/x") {
			t.Error("the wrong names are unanswered")
		}
		begin(t, &g, ".")
		time.Sleep(2 * stall.DefaultTimeout)
		if !unanswered(&g, "x") {
			t.Error("not unanswered with the root")
		}
	})
}

// Never is more under way than a program may have threads.
func TestEnterIsBounded(t *testing.T) {
	g := &stall.Guard{Timeout: time.Hour}
	ops := make([]*stall.Op, 4096)
	for i := range ops {
		ops[i] = begin(t, g, fmt.Sprint(i))
	}
	if !unanswered(g, "x") {
		t.Error("one too many")
	}
	for _, op := range ops {
		op.Leave()
	}
	for i := range ops {
		if unanswered(g, "x") {
			t.Fatalf("after %d of %d", i, len(ops))
		}
		begin(t, g, fmt.Sprint(i))
	}
}

// do runs an operation in a hurry.
func do[T any](g *stall.Guard, name string, f func() (T, error)) (T, error) {
	return stall.Try(g, stall.Hurried, func(a *stall.Attempt) (value T, err error) {
		op, err := a.Enter(name)
		if err != nil {
			return value, err
		}
		defer op.Leave()
		return f()
	})
}

func check(g *stall.Guard, name string, f func() error) error {
	_, err := do(g, name, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func TestTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g stall.Guard
		for _, guard := range []*stall.Guard{nil, &g} {
			if n, err := do(guard, "x", func() (int, error) {
				return 7, nil
			}); n != 7 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		began, release := time.Now(), make(chan struct{})
		wait := func() error { <-release; return nil }
		if err := check(&g, "slow", wait); !errors.Is(err, stall.Err) ||
			time.Since(began) != stall.DefaultTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		began = time.Now()
		if err := check(&g, "slow/too", wait); !errors.Is(err, stall.Err) || time.Since(began) != 0 {
			t.Errorf("below: %v after %v", err, time.Since(began))
		}
		if err := check(&g, "another", wait); !errors.Is(err, stall.Err) ||
			time.Since(began) > stall.DefaultTimeout/10 {
			t.Errorf("another: %v after %v", err, time.Since(began))
		}
		close(release)
		synctest.Wait()
		if err := check(&g, "slow", func() error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

// What can be done without is left sooner, but is not taken as unanswered sooner.
func TestBrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g stall.Guard
		began, release := time.Now(), make(chan struct{})
		_, err := stall.Try(&g, stall.Brief, func(a *stall.Attempt) (int, error) {
			op, err := a.Enter("slow")
			defer op.Leave()
			<-release
			return 0, err
		})
		if took := time.Since(began); !errors.Is(err, stall.ErrLeft) || took > stall.DefaultTimeout/10 {
			t.Errorf("%v after %v", err, took)
		}
		if unanswered(&g, "slow") {
			t.Error("taken as unanswered too early")
		}
		began = time.Now()
		_, err = stall.Try(&g, stall.Brief, func(a *stall.Attempt) (int, error) {
			_, err := a.Enter("slow/too")
			return 0, err
		})
		if !errors.Is(err, stall.Err) || time.Since(began) != 0 {
			t.Errorf("below it: %v after %v", err, time.Since(began))
		}
		time.Sleep(stall.DefaultTimeout)
		if !unanswered(&g, "slow") {
			t.Error("taken as answered")
		}
		close(release)
		synctest.Wait()
		if _, err := stall.Try(&g, stall.Brief, func(a *stall.Attempt) (int, error) {
			op, err := a.Enter("slow/too")
			op.Leave()
			return 0, err
		}); err != nil {
			t.Error("it answers again:", err)
		}
	})
}

// TestManyHang: hundreds of names that hang in the root, which does not count as hanging itself,
// are left in much less than a tick each, and another name is read meanwhile.
func TestManyHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g stall.Guard
		began, release := time.Now(), make(chan struct{})
		defer close(release)
		for i := range 300 {
			name := fmt.Sprintf("~user%d", i)
			_, err := stall.Try(&g, stall.Brief, func(a *stall.Attempt) (int, error) {
				op, err := a.Enter(name)
				defer op.Leave()
				<-release
				return 0, err
			})
			if !errors.Is(err, stall.ErrLeft) {
				t.Fatal(name, err)
			}
		}
		if took := time.Since(began); took > 35*time.Second {
			t.Errorf("they took %v", took)
		}
		answers := func(name string, after time.Duration) error {
			_, err := stall.Try(&g, stall.Brief, func(a *stall.Attempt) (int, error) {
				op, err := a.Enter(name)
				defer op.Leave()
				time.Sleep(after)
				return 0, err
			})
			return err
		}
		if err := answers("~ann", stall.DefaultTimeout/500); err != nil {
			t.Error("one that answers:", err)
		}
		if err := answers("~bob", stall.DefaultTimeout/40); !errors.Is(err, stall.ErrLeft) ||
			unanswered(&g, "~bob") {
			t.Error("one that was left after a share of a tick is taken as unanswered:", err)
		}
		time.Sleep(stall.DefaultTimeout / 40) // until it has returned
	})
}

// Nobody waits any more when the Guard was stopped.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g stall.Guard
		release := make(chan struct{})
		time.AfterFunc(time.Second, g.Stop)
		began := time.Now()
		if err := check(&g, "x", func() error {
			<-release
			return nil
		}); !errors.Is(err, stall.ErrStopped) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(release)
	})
}
