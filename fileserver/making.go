package fileserver

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A menu that is made may cost a thousand times what a kept one does. So menus are
// made in goroutines of their own, and only so many at once.
//
// A client gets a menu that was begun after it had asked: the menu is never older
// than the request. So those who ask while a menu is being made wait for the next
// one, all of them for the same. If the first was kept and still holds, the next
// one is taken from there and costs nothing. When nobody waits for it any more, the
// making ends.
//
// The first part of each menu is small. What turns out to need more memory gives
// its place back and waits for one of the few places for large menus, so that a
// small menu never waits for a large one.

const (
	smallMenus = 32        // at once
	largeMenus = 2         // at once
	smallMenu  = 256 << 10 // bytes that are read for a small one
)

// order is what a menu depends on, beside the tree.
type order struct {
	name   string // of the directory, or of a file that is a menu
	dir    bool
	host   string
	port   int
	plus   bool   // for a Gopher+ client
	client string // its address, if the menu tells it
}

// madeMenu is a menu, as it goes to the client.
type madeMenu struct {
	body  []byte
	stamp *site.Stamp // nil: nobody can tell how long it holds

	personal bool // it would tell the client's address, if it was in the order
}

// makings are the menus that are being made, or are to be.
type makings struct {
	small, large *semaphore.Weighted
	held         limit.Held // the large ones

	mu   sync.Mutex
	next map[order]*pendingMenu // not begun: requests from now on get what it makes
	now  map[order]*pendingMenu // begun
}

func newMakings() *makings {
	return &makings{
		small: semaphore.NewWeighted(smallMenus), large: semaphore.NewWeighted(largeMenus),
		next: map[order]*pendingMenu{}, now: map[order]*pendingMenu{},
	}
}

// pendingMenu is one menu that is made, for all who wait for it.
type pendingMenu struct {
	order
	all    *makings
	before *pendingMenu    // of the same order; it ends first. Nil: there is none
	ctx    context.Context // ends when nobody waits
	cancel context.CancelFunc
	done   chan struct{} // closed when made and err are set

	made madeMenu
	err  error

	// Under the mutex of all:
	waiting int                 // how many wait for it
	place   *semaphore.Weighted // where it has a place; nil: nowhere
	read    int                 // bytes
	over    bool
}

// get returns what f makes, begun after now, for this caller and for all others
// who ask for the same meanwhile.
func (m *makings) get(ctx context.Context, o order, f func(*pendingMenu) (madeMenu, error)) (madeMenu, error) {
	k := m.join(o, f)
	select {
	case <-k.done:
		return k.made, k.err
	case <-ctx.Done():
		m.leave(k)
		return madeMenu{}, context.Cause(ctx)
	}
}

func (m *makings) join(o order, f func(*pendingMenu) (madeMenu, error)) *pendingMenu {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.next[o]
	if k == nil {
		k = &pendingMenu{order: o, all: m, before: m.now[o], done: make(chan struct{})}
		k.ctx, k.cancel = context.WithCancel(context.Background())
		m.next[o] = k
		go k.run(f)
	}
	k.waiting++
	return k
}

func (m *makings) leave(k *pendingMenu) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.waiting--; k.waiting > 0 {
		return
	}
	k.cancel()
	if m.next[k.order] == k {
		delete(m.next, k.order)
	}
}

func (k *pendingMenu) run(f func(*pendingMenu) (madeMenu, error)) {
	defer k.cancel()
	defer close(k.done)
	if k.before != nil {
		select {
		case <-k.before.done:
		case <-k.ctx.Done():
		}
		k.before = nil
	}
	if k.err = k.all.small.Acquire(k.ctx, 1); k.err != nil {
		return
	}
	k.all.begin(k)
	defer k.all.end(k)
	k.made, k.err = f(k)
}

// begin closes a making to those who ask from now on.
func (m *makings) begin(k *pendingMenu) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.place = m.small
	if m.next[k.order] == k {
		delete(m.next, k.order)
	}
	m.now[k.order] = k
}

func (m *makings) end(k *pendingMenu) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.over = true
	if k.place != nil {
		k.place.Release(1)
	}
	if m.now[k.order] == k {
		delete(m.now, k.order)
	}
}

// spend notes what was read for the menu. If that is more than a small one needs,
// it waits for a place among the large ones. It fails when nobody waits any more.
func (k *pendingMenu) spend(bytes int) error {
	if !k.outgrows(bytes) {
		return k.ctx.Err()
	}
	if err := k.all.large.Acquire(k.ctx, 1); err != nil {
		return err
	}
	if k.all.held.Reached(maxHeld) {
		k.all.large.Release(1)
		return errOverfull
	}
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.over { // it was left behind
		k.all.large.Release(1)
		return context.Canceled
	}
	k.place = k.all.large
	return nil
}

// outgrows reports whether a small menu has become a large one, which gives its
// place back.
func (k *pendingMenu) outgrows(bytes int) bool {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.read += bytes
	if k.over || k.read <= smallMenu || k.place != k.all.small {
		return false
	}
	k.place.Release(1)
	k.place = nil
	return true
}

// maxHeld bounds the large menus that are in memory, in bytes. A client that reads
// slowly holds the menu that it is sent, and where the directory changes all the
// time, or menus are not kept, each client another one.
const maxHeld = 128 << 20

var errOverfull = &server.Error{Kind: server.Busy, Err: errors.New("clients that read slowly hold too many large menus")}

// hold counts a menu, if it is a large one, until nobody sends or keeps it any more.
func (m *makings) hold(body []byte) {
	if len(body) > smallMenu {
		m.held.Add(body)
	}
}
