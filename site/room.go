package site

import (
	"strings"
)

// room is memory for what is kept of directories. Where all are read, many get theirs
// from one piece: a value of its own for each would lie among what is garbage a moment
// later, and keep as much memory as all values take from being given back. A directory
// that is read again has memory of its own: what it was before would stay as long as
// anything else in its piece.
type room struct {
	shared bool
	dirs   []Dir
	subs   []*Dir
	files  []string
	text   strings.Builder
}

// How many values are in a piece: 8 KiB of each kind, of which 8 bytes are the runtime's.
const (
	roomDirs  = 93
	roomSubs  = 1023
	roomFiles = 511
	roomText  = 8 << 10
)

// atOnce is how many values are made at least.
func (m *room) atOnce(piece int) int {
	if m.shared {
		return piece
	}
	return 0
}

// take returns an empty list with room for n values; nil for none, which would keep
// the memory of others.
func take[T any](from *[]T, n, atOnce int) []T {
	if n == 0 {
		return nil
	}
	if len(*from) < n {
		*from = make([]T, max(n, atOnce))
	}
	list := (*from)[:0:n]
	*from = (*from)[n:]
	return list
}

// dir returns a directory without anything in it.
func (m *room) dir(name string) *Dir {
	d := &take(&m.dirs, 1, m.atOnce(roomDirs))[:1][0]
	d.Name = name
	return d
}

// names returns a text to which size bytes can be added.
func (m *room) names(size int) *strings.Builder {
	if m.text.Cap()-m.text.Len() < size {
		m.text.Reset()
		m.text.Grow(max(size, m.atOnce(roomText)))
	}
	return &m.text
}
