package disk

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A file of the process itself, such as a private key or a log, is never content: no tree
// lists or opens it, whatever name a link or a mount gives it there. Whoever opens such a
// file calls Withhold, and again when another file has taken its name.

// A FileID identifies a file or directory under all of its names.
type FileID struct{ device, inode uint64 }

// IDOf returns the FileID of a file.
func IDOf(info fs.FileInfo) (id FileID) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id = FileID{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // other types on other systems
	}
	return id
}

// entryID identifies a name in a directory.
type entryID struct {
	dir  FileID
	base string
}

// withheld are the files of this process. Readers take no lock: they get a new value.
var withheld struct {
	mu  sync.Mutex
	now atomic.Pointer[ownFiles]
}

type ownFiles struct {
	names   map[FileID]string // by which they were opened
	entries map[entryID]bool  // those names
	linked  bool              // one had more names than that when it was opened

	looking  atomic.Bool // whether one has more names now
	haveMore atomic.Bool // one had, when it was looked at last
}

// linksWait bounds how long a listing waits to learn whether this process's own files have new
// hard links: their disk may hang while that of the listed directory responds.
const linksWait = 250 * time.Millisecond

// areLinked reports whether one of the files has more names than the one it was opened by. A
// link may be made at any time, so that each listing looks, unless the last look still waits.
func (o *ownFiles) areLinked() bool {
	if o.linked || !o.looking.CompareAndSwap(false, true) {
		return o.linked || o.haveMore.Load()
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		defer o.looking.Store(false)
		more := false
		for _, name := range o.names {
			var st syscall.Stat_t // who cannot reach it cannot link it
			more = more || syscall.Stat(name, &st) == nil && st.Nlink > 1
		}
		o.haveMore.Store(more)
	}()
	select {
	case <-looked:
	case <-time.After(linksWait):
	}
	return o.haveMore.Load()
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
	id, old := IDOf(info), withheld.now.Load()
	if old == nil {
		old = &ownFiles{}
	}
	if old.names[id] == name {
		return
	}
	next := &ownFiles{
		names:   maps.Clone(old.names),
		entries: map[entryID]bool{},
		linked:  old.linked || st.Nlink > 1,
	}
	if next.names == nil {
		next.names = map[FileID]string{}
	}
	maps.DeleteFunc(next.names, func(_ FileID, other string) bool { return other == name })
	next.names[id] = name
	for _, name := range next.names {
		if dir, err := os.Stat(filepath.Dir(name)); err == nil {
			next.entries[entryID{IDOf(dir), filepath.Base(name)}] = true
		}
	}
	withheld.now.Store(next)
}

func isWithheld(s Revision) bool {
	own := withheld.now.Load()
	return own != nil && own.names[FileID{s.Device, s.Inode}] != ""
}

// served returns the entries of a directory that are no files of this process. Only if one of
// those has several names, each entry is looked at.
func (h *Handle) served(entries []fs.DirEntry) []fs.DirEntry {
	own := withheld.now.Load()
	if own == nil {
		return entries
	}
	dir := FileID{h.Revision.Device, h.Revision.Inode}
	linked := own.areLinked()
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if !e.Type().IsRegular() {
			return false
		}
		if own.entries[entryID{dir, e.Name()}] {
			return true
		}
		if !linked {
			return false
		}
		info, err := e.Info()
		return err == nil && own.names[IDOf(info)] != ""
	})
}
