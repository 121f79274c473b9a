package webview

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/server"
)

// To draw a page costs a hundred times what the reply costs that it shows: half a
// second for a menu of 50,000 names. So pages are kept, under all that they are
// drawn from, which makes them right whatever changes; and those of large replies
// are drawn one at a time, so that they never take more than one processor. Clients
// that read slowly hold what they are sent: the bound of that is for all together.

// Bounds of what is drawn.
const (
	largeReply = 256 << 10        // bytes of a reply, or a text, that is drawn in turn
	maxKept    = 16 << 20         // bytes of pages that are kept
	maxHeld    = 64 << 20         // bytes of large pages that are kept or sent; then no more are drawn
	maxWait    = 10 * time.Second // for the turn, unless a test sets another
)

// drawings are the pages that are kept. The zero value is ready to use.
type drawings struct {
	once sync.Once
	turn chan struct{} // has an element while a large page is drawn
	wait time.Duration // for it; if zero, maxWait
	held limit.Held    // what is large

	mu    sync.Mutex
	pages map[string][]byte // by a hash of all that each is drawn from
	order []string          // those hashes, the oldest first
	size  int               // bytes of all
}

// A turn is that of one request to draw a large page.
type turn struct {
	of    *drawings
	ctx   context.Context
	taken bool
}

var (
	errBusy = &server.Error{Kind: server.Busy, Err: errors.New("other large pages are being drawn")}
	errHeld = &server.Error{Kind: server.Busy, Err: errors.New("clients that read slowly hold too many large pages")}
)

// take waits until no other large page is drawn.
func (t *turn) take() error {
	if t.taken {
		return nil
	}
	t.of.once.Do(func() { t.of.turn = make(chan struct{}, 1) })
	select {
	case t.of.turn <- struct{}{}:
		t.taken = true
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	case <-time.After(cmp.Or(t.of.wait, maxWait)):
		return errBusy
	}
}

// end lets the next one draw.
func (t *turn) end() {
	if t.taken {
		t.taken = false
		<-t.of.turn
	}
}

// draw returns the page that p is when fill has put into it what it shows of a
// reply. Fill must depend on nothing but p and the reply; if that is empty, the page
// is not kept.
func (d *drawings) draw(p page, reply []byte, fill func(*page) error) ([]byte, error) {
	if len(reply) == 0 {
		err := fill(&p)
		return p.render(), err
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%#v\n", p)
	_, _ = h.Write(reply)
	from := string(h.Sum(nil))
	d.mu.Lock()
	body, kept := d.pages[from]
	d.mu.Unlock()
	if kept {
		return body, nil
	}
	if len(reply) > largeReply {
		if err := d.room(); err != nil {
			return nil, err
		}
	}
	if err := fill(&p); err != nil {
		return nil, err
	}
	body = p.render()
	d.hold(body)
	d.keep(from, body)
	return body, nil
}

// room fails if there is no room for another large page.
func (d *drawings) room() error {
	if d.held.Reached(maxHeld) {
		return errHeld
	}
	return nil
}

// hold counts what is large until nobody sends or keeps it any more.
func (d *drawings) hold(body []byte) {
	if len(body) > largeReply {
		d.held.Add(body)
	}
}

// keep keeps a page, and drops the oldest if there are too many.
func (d *drawings) keep(from string, body []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pages[from]; ok || cap(body) > maxKept {
		return
	}
	if d.pages == nil {
		d.pages = map[string][]byte{}
	}
	for d.size += cap(body); d.size > maxKept; d.order = d.order[1:] {
		d.size -= cap(d.pages[d.order[0]])
		delete(d.pages, d.order[0])
	}
	d.pages[from] = body
	d.order = append(d.order, from)
}
