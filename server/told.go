package server

import (
	"net/netip"
	"sync"
	"time"
)

// told remembers for a minute of which address blocks the log has told. The
// zero value is ready to use.
type told struct {
	mu     sync.Mutex
	blocks map[netip.Addr]*telling
	swept  time.Time
}

type telling struct {
	until time.Time
	more  int // refusals since it was told
}

// maxTold bounds the table, and with it the log lines of a minute. Whoever does
// not fit is counted and not named.
const maxTold = 1024

// again says how many refusals of a block are to be told now, 0 for none yet.
func (t *told) again(a netip.Addr, now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.blocks[a]
	switch {
	case b != nil && now.Before(b.until):
		b.more++
		return 0
	case b == nil && !t.room(now):
		return 0
	case b == nil:
		b = &telling{}
		t.blocks[a] = b
	}
	times := b.more + 1
	*b = telling{until: now.Add(time.Minute)}
	return times
}

// room says whether another block fits; it looks for room once a second.
func (t *told) room(now time.Time) bool {
	if t.blocks == nil {
		t.blocks = map[netip.Addr]*telling{}
	}
	if len(t.blocks) >= maxTold && now.Sub(t.swept) >= time.Second {
		t.swept = now
		for a, b := range t.blocks {
			if now.After(b.until) {
				delete(t.blocks, a)
			}
		}
	}
	return len(t.blocks) < maxTold
}
