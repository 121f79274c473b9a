package stall

import "time"

// result is what an operation returns.
type result[T any] struct {
	value T
	err   error
}

// Do does an operation on a name and waits for it, but not for ever: when it
// does not return in time Do does, with Err. Nobody gets what f returns later,
// and f must not touch what its caller goes on using. While something does not
// answer there is less patience, so that a whole tree of it is got through.
func Do[T any](g *Guard, name string, f func() (T, error)) (value T, err error) {
	if g == nil {
		return f()
	}
	op, err := g.Enter(name)
	if err != nil {
		return value, err
	}
	done := make(chan result[T], 1)
	go func() {
		v, err := f()
		op.Leave()
		done <- result[T]{v, err}
	}()
	end := time.NewTimer(g.hurry())
	defer end.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-g.stopped():
		return value, ErrStopped
	case <-end.C:
	}
	g.giveUp(op)
	select {
	case r := <-done: // at the last moment
		return r.value, r.err
	default:
		return value, Err
	}
}

// giveUp marks an operation, if it still is under way.
func (g *Guard) giveUp(o *Op) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !o.left {
		g.mark(o, time.Now())
	}
}

// hurry is how long Do waits.
func (g *Guard) hurry() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.stuck) > 0 {
		return g.patience() / inAHurry
	}
	return g.patience()
}
