package watch

import (
	"context"
	"maps"
	"path"
	"slices"
	"sync"
	"time"
)

// A batch comes when nothing has happened for quiet. A file that is written without
// pause must neither hold it back for ever, nor use up a processor. So a batch waits at
// most as long as the last one took: batches then take half of the time at most. The
// limit is at least shortest, which completes most sets of changes, and at most longest,
// before an author notices the delay.
const (
	quiet    = 20 * time.Millisecond
	shortest = 50 * time.Millisecond
	longest  = 200 * time.Millisecond
)

// changes holds the changes that were reported since the last batch.
type changes struct {
	dirs    map[string]bool // to be read again
	arrived map[string]bool // names to watch, if they are directories
	lost    bool            // the watches are unreliable
	root    bool            // the root was exchanged
	left    map[string]bool // names whose trees are gone, or whose directories are others now
}

// pending collects changes, between the goroutine that reads events and the
// one that acts on them.
type pending struct {
	mu   sync.Mutex
	next changes
	wake chan struct{} // of capacity 1: something was added
}

func newPending() *pending { return &pending{wake: make(chan struct{}, 1)} }

// dir adds a directory to be read again.
func (p *pending) dir(name string) {
	p.add(func(c *changes) { mark(&c.dirs, name) })
}

// arrival adds a name that may be a directory to be watched. It shows in its parent,
// which comes in the same batch.
func (p *pending) arrival(name string) {
	p.add(func(c *changes) {
		mark(&c.arrived, name)
		mark(&c.dirs, path.Dir(name))
	})
}

// leave adds a name below which everything may have changed.
func (p *pending) leave(name string) {
	p.add(func(c *changes) {
		mark(&c.left, name)
		mark(&c.dirs, name)
		mark(&c.dirs, path.Dir(name))
		mark(&c.arrived, name)
	})
}

// named adds the names of trees that differ between two sets.
func (p *pending) named(was, is *names) {
	for name, dir := range was.trees {
		if is.trees[name] != dir {
			p.leave(name)
		}
	}
	for name := range is.trees {
		if was.trees[name] == "" {
			p.leave(name)
		}
	}
}

// lose asks for new watches.
func (p *pending) lose(root bool) {
	p.add(func(c *changes) { c.lost, c.root = true, c.root || root })
}

func (p *pending) add(change func(*changes)) {
	p.mu.Lock()
	change(&p.next)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns the collected changes, and begins again.
func (p *pending) take() changes {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.next
	p.next = changes{}
	return c
}

// settle returns when no change came for quiet, or, if they do not end, after as long
// as the last batch took.
func (p *pending) settle(ctx context.Context, took time.Duration) {
	end := time.NewTimer(min(max(took, shortest), longest))
	defer end.Stop()
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	for {
		select {
		case <-p.wake:
			silence.Reset(quiet)
		case <-silence.C:
			return
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func mark(set *map[string]bool, name string) {
	if *set == nil {
		*set = make(map[string]bool)
	}
	(*set)[name] = true
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
