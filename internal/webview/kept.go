package webview

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gophd/gophd/server"
)

// To draw a page costs a hundred times what the reply costs that it shows: half a
// second for a menu of 50,000 names. So pages are kept, under all that they are
// drawn from, which makes them right whatever changes; and those of large replies
// are drawn one at a time, so that they never take more than one processor, nor the
// memory of several.

// Bounds of what is drawn.
const (
	largeReply = 256 << 10        // bytes of a reply, or a text, that is drawn in turn
	maxKept    = 16 << 20         // bytes of pages that are kept
	maxWait    = 10 * time.Second // for the turn
)

// drawings are the pages that are kept. The zero value is ready to use.
type drawings struct {
	once sync.Once
	turn chan struct{} // has an element while a large page is drawn

	mu    sync.Mutex
	pages map[drawnFrom][]byte
	order []drawnFrom // the oldest first
	size  int         // bytes of all
}

// drawnFrom is the hash of all that a page is drawn from.
type drawnFrom [sha256.Size]byte

// A turn is that of one request to draw a large page.
type turn struct {
	of    *drawings
	ctx   context.Context
	taken bool
}

var errBusy = &server.Error{Kind: server.Busy, Err: errors.New("other large pages are being drawn")}

// take waits until no other large page is drawn.
func (t *turn) take() error {
	if t.taken {
		return nil
	}
	t.of.once.Do(func() { t.of.turn = make(chan struct{}, 1) })
	ctx, stop := context.WithTimeout(t.ctx, maxWait)
	defer stop()
	select {
	case t.of.turn <- struct{}{}:
		t.taken = true
		return nil
	case <-ctx.Done():
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
// reply, and what fill returned: whether there is such a page. Fill must depend on
// nothing but p and the reply; if that is empty, the page is not kept.
func (d *drawings) draw(p page, reply []byte, fill func(*page) bool) ([]byte, bool) {
	if len(reply) == 0 {
		ok := fill(&p)
		return p.render(), ok
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%#v\n", p)
	_, _ = h.Write(reply)
	from := drawnFrom(h.Sum(nil))
	d.mu.Lock()
	body, kept := d.pages[from]
	d.mu.Unlock()
	if kept {
		return body, true
	}
	if !fill(&p) {
		return nil, false
	}
	body = p.render()
	d.keep(from, body)
	return body, true
}

// keep keeps a page, and lets go of the oldest if there are too many.
func (d *drawings) keep(from drawnFrom, body []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pages[from]; ok || len(body) > maxKept {
		return
	}
	if d.pages == nil {
		d.pages = map[drawnFrom][]byte{}
	}
	for d.size += len(body); d.size > maxKept; d.order = d.order[1:] {
		d.size -= len(d.pages[d.order[0]])
		delete(d.pages, d.order[0])
	}
	d.pages[from] = body
	d.order = append(d.order, from)
}
