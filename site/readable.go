package site

import (
	"os"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/disk"
)

// A process that is not root asks the kernel for each name in a listing whether it may
// read it. What it may not is remembered by directory, which makes the next listing as
// cheap as root's. If it is wrong, a listing shows a name too many or too few for some
// seconds; opening a file asks the kernel.

// unreadables remembers the unreadable names of directories.
type unreadables struct {
	mu  sync.Mutex
	dir map[string]unreadable // by real name
}

// unreadable are the names of one directory.
type unreadable struct {
	names    map[string]bool
	revision disk.Revision
	began    uint64 // the number of touches
	at       int64  // of the site's clock
}

const (
	maxUnreadables = 1024
	readableFor    = 15 * time.Second
)

// readable returns a function that reports whether an entry of a directory can be read.
// After the last one it is called with nil.
func (v *View) readable(dir *disk.Handle) func(*disk.Dirent) bool {
	u, c := &v.site.unreadables, v.site.changes
	u.mu.Lock()
	was, ok := u.dir[dir.Real]
	u.mu.Unlock()
	touched := max(c.all.Load(), c.touched[c.slot(dir.Real)].Load())
	if os.Geteuid() == 0 || ok && was.revision == dir.Revision && touched <= was.began && v.start-was.at < int64(readableFor) {
		return func(e *disk.Dirent) bool { return e == nil || !was.names[e.Base] }
	}
	ask := dir.Readable(v.call)
	next := unreadable{names: map[string]bool{}, revision: dir.Revision, began: v.began, at: v.start}
	return func(e *disk.Dirent) bool {
		if e != nil {
			can := true
			if v.optional(func() { can = ask(e) }); !can {
				next.names[e.Base] = true
			}
			return can
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.dir == nil || len(u.dir) >= maxUnreadables {
			u.dir = map[string]unreadable{}
		}
		u.dir[dir.Real] = next
		return true
	}
}
