package stall

// Wait is Try for interactive callers: each operation may take the whole timeout, even
// while other names do not answer.
func Wait[T any](g *Guard, f func(*Attempt) (T, error)) (T, error) { return try(g, f, &Attempt{}) }

// Briefly is Try for what a caller can do without: it leaves an operation behind after a
// twentieth of its time.
func Briefly[T any](g *Guard, f func(*Attempt) (T, error)) (T, error) {
	return try(g, f, &Attempt{hurried: true, brief: true})
}

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

// result holds the return values of an attempt.
type result[T any] struct {
	value T
	err   error
}

// Try runs f, which may operate on many names, and waits for it. If one operation
// exceeds its time, Try returns ErrLeft, f runs on, and its result is dropped: f must
// not write to variables that the caller uses afterwards. The next operation on that
// name fails at once.
func Try[T any](g *Guard, f func(*Attempt) (T, error)) (T, error) {
	return try(g, f, &Attempt{hurried: true})
}

func try[T any](g *Guard, f func(*Attempt) (T, error), a *Attempt) (value T, err error) {
	if g == nil {
		return f(nil)
	}
	stopped := g.stopped()
	select {
	case <-stopped:
		return value, ErrStopped
	default:
	}
	a.guard, a.stuck = g, make(chan struct{}, 1)
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
