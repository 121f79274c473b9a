package stall

import "sync/atomic"

// Wait is Try for what somebody waits for: its operations have all of the timeout,
// whatever else does not answer.
func Wait[T any](g *Guard, f func(*Attempt) (T, error)) (T, error) { return try(g, f, false) }

// Do is Try for one operation on one name.
func Do[T any](g *Guard, name string, f func() (T, error)) (T, error) {
	return Try(g, func(a *Attempt) (value T, err error) {
		op, err := a.Enter(name)
		if err != nil {
			return value, err
		}
		defer op.Leave()
		return f()
	})
}

// result is what an attempt comes to.
type result[T any] struct {
	value T
	err   error
}

// Try does something with many names and waits for it, but not for ever: when
// one of its operations does not end, Try returns with ErrLeft, and nobody gets
// what f returns later. So f must not touch what its caller goes on using. The
// next operation on that name fails at once.
func Try[T any](g *Guard, f func(*Attempt) (T, error)) (T, error) { return try(g, f, true) }

func try[T any](g *Guard, f func(*Attempt) (T, error), hurried bool) (value T, err error) {
	if g == nil {
		return f(nil)
	}
	stopped := g.stopped()
	select {
	case <-stopped:
		return value, ErrStopped
	default:
	}
	a := &Attempt{guard: g, hurried: hurried, stuck: make(chan struct{}, 1)}
	done := make(chan result[T], 1)
	go func() {
		v, err := f(a)
		done <- result[T]{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-stopped:
		err = ErrStopped
	case <-a.stuck:
		err = ErrLeft
	}
	a.over.Store(true)
	return value, err
}

// An Attempt is what is done in a goroutine of its own so that it can be left
// behind. It asks for each name with Enter.
type Attempt struct {
	guard   *Guard
	hurried bool          // while something does not answer
	stuck   chan struct{} // gets one when an operation does not end
	over    atomic.Bool
}

// Enter is Guard.Enter, and fails when nobody waits for the attempt any more. A
// nil attempt is always waited for.
func (a *Attempt) Enter(name string) (*Op, error) {
	switch {
	case a == nil:
		return nil, nil
	case a.over.Load():
		return nil, ErrLeft
	}
	return a.guard.enter(name, a.hurried, a.stuck)
}
