package site

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// A process that is not root asks the kernel about each name in a listing: may it read
// the file, and, in a user's tree, who owns it. The refused names of each directory are
// cached for up to 15 s, so that the next listing is cheap. With a stale cache, a listing
// may show a name too many or too few; opening a file always asks the kernel.

// refusals remembers the refused names of directories.
type refusals struct {
	mu  sync.Mutex
	dir map[string]refusedNames // by real name
}

// refusedNames are the names of one directory.
type refusedNames struct {
	names    map[string]bool
	revision disk.Revision
	began    uint64 // the number of touches
	at       int64  // of the site's clock
}

const (
	maxRefusals = 1024
	refusalFor  = 15 * time.Second
)

// refused returns the files and directories in a list of a directory that are not
// served. What does not answer is not among them.
func (v *View) refused(dir *disk.Handle, list []disk.Dirent) map[string]bool {
	t, _, _ := v.root.At(dir.Real)
	if os.Geteuid() == 0 && t.Owner == disk.AnyOwner {
		return nil
	}
	all, c := &v.site.refusals, v.site.changes
	all.mu.Lock()
	was, ok := all.dir[dir.Real]
	all.mu.Unlock()
	touched := max(c.all.Load(), c.touched[c.slot(dir.Real)].Load())
	if ok && was.revision == dir.Revision && touched <= was.began && v.start-was.at < int64(refusalFor) {
		return was.names
	}
	next := refusedNames{names: map[string]bool{}, revision: dir.Revision, began: v.began, at: v.start}
	for len(list) > 0 {
		p := &refusing{}
		_, err := aside(v, false, func(v *View) (struct{}, error) { return struct{}{}, p.ask(v, dir, list) })
		p.mu.Lock()
		list = list[p.asked:]
		for _, name := range p.names {
			next.names[name] = true
		}
		p.mu.Unlock()
		switch {
		case err != nil && !errors.Is(err, stall.Err):
			return next.names
		case len(list) > 0:
			list = list[1:] // it does not answer
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.dir == nil || len(all.dir) >= maxRefusals {
		all.dir = map[string]refusedNames{}
	}
	all.dir[dir.Real] = next
	return next.names
}

// refusing is how far names have been asked for; it may be left behind.
type refusing struct {
	mu    sync.Mutex
	asked int
	names []string // the refused ones
}

func (p *refusing) ask(v *View, dir *disk.Handle, list []disk.Dirent) error {
	readable := dir.Readable(v.call)
	for i := range list {
		e, refused := &list[i], false
		if v.failed = nil; selector.Askable(e.Base) && (e.Mode.IsRegular() || e.Mode.IsDir()) {
			refused = !readable(e) || !v.theirs(selector.Join(dir.Real, e.Base))
		}
		if v.failed != nil {
			return v.failed
		}
		p.mu.Lock()
		if p.asked++; refused {
			p.names = append(p.names, e.Base)
		}
		p.mu.Unlock()
	}
	return nil
}

// theirs reports whether a real name has an owner whose files its tree serves.
func (v *View) theirs(real string) bool {
	t, _, rest := v.root.At(real)
	if t.Owner == disk.AnyOwner || rest == "." {
		return true
	}
	var info fs.FileInfo
	err := v.call(real, func() (err error) { info, err = t.Lstat(rest); return err })
	return err == nil && v.root.Owned(real, info)
}
