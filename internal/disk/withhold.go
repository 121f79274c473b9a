package disk

import (
	"fmt"
	"io/fs"
	"maps"
	"sync"
	"sync/atomic"
	"syscall"
)

// A file of the process itself, such as a private key or a log, is never content: no tree
// lists or opens it, whatever name a link or a mount gives it there. Whoever opens such a
// file calls Withhold, and again when another file has taken its name.

// fileID identifies a file under all of its names.
type fileID struct{ device, inode uint64 }

// withheld are the files of this process.
var withheld struct {
	mu     sync.Mutex
	byName map[string]fileID
	ids    atomic.Pointer[map[fileID]bool]
}

var errWithheld = fmt.Errorf("a file of gophd itself: %w", fs.ErrNotExist)

// Withhold keeps a file of this process out of all trees. It replaces the file that was
// withheld under this name before.
func Withhold(name string, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return // only a regular file can be content
	}
	withheld.mu.Lock()
	defer withheld.mu.Unlock()
	id := idOf(st)
	if withheld.byName[name] == id {
		return
	}
	if withheld.byName == nil {
		withheld.byName = map[string]fileID{}
	}
	withheld.byName[name] = id

	// Readers take no lock: they get a new map.
	ids := map[fileID]bool{}
	for id := range maps.Values(withheld.byName) {
		ids[id] = true
	}
	withheld.ids.Store(&ids)
}

func isWithheld(id fileID) bool {
	ids := withheld.ids.Load()
	return ids != nil && (*ids)[id]
}

// notWithheld returns errWithheld for a file of this process.
func notWithheld(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && isWithheld(idOf(st)) {
		return errWithheld
	}
	return nil
}
