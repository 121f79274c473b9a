package site

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// A process that is not root asks the kernel about each name in a listing: may it read
// the file, and, in a user's tree, who owns it. That costs more than the listing itself.
// So names that were found readable are remembered by inode: they are asked for again
// once an event reports a new mode in their directory, and every 16 s, a sixteenth of them
// each second. Until then a listing may show a name too many; opening a file always asks
// the kernel.

// readables remembers which names of directories are readable.
type readables struct {
	mu    sync.Mutex
	dir   map[string]*readableNames // by real name
	names int                       // in all
}

// readableNames are the names of one directory. Only readable changes.
type readableNames struct {
	refused  map[string]bool
	readable map[uint64]struct{} // hashes of names and inodes; guarded by readables.mu
	revision disk.Revision       // of the directory
	began    uint64              // the number of touches
	second   int64               // of the site's clock
	size     int                 // names, when it was kept
}

const (
	maxReadable = 1 << 20 // names in all directories
	classes     = 16      // of names, one of which is asked for again each second
)

var nameSeed = maphash.MakeSeed()

func hashOf(e *disk.Dirent) uint64 {
	return maphash.String(nameSeed, e.Base) ^ e.Inode*0x9e3779b97f4a7c15
}

// remembered reports whether nothing says that the modes of a directory's files have
// changed since.
func (r *readableNames) remembered(c *touches, dir *disk.Handle) bool {
	if r == nil || max(c.all.Load(), c.touched[c.slot(modesOf(dir.Real))].Load()) > r.began {
		return false
	}
	was, is := r.revision, dir.Revision
	was.Changed, was.Size, is.Changed, is.Size = 0, 0, 0, 0
	return was == is
}

// due returns the classes to be asked for again, as bits.
func (r *readableNames) due(second int64) (bits uint64) {
	for s := max(r.second+1, second-classes+1); s <= second; s++ {
		bits |= 1 << (uint64(s) % classes)
	}
	return bits
}

// refused returns the files and directories in a list of a directory that are not
// served. What does not answer is not among them.
func (v *View) refused(dir *disk.Handle, list []disk.Dirent) map[string]bool {
	t, _, _ := v.root.At(dir.Real)
	if os.Geteuid() == 0 && t.Owner == disk.AnyOwner {
		return nil
	}
	all, c := &v.site.readables, v.site.changes
	all.mu.Lock()
	was := all.dir[dir.Real]
	all.mu.Unlock()
	next := &readableNames{refused: map[string]bool{}, revision: dir.Revision, began: v.began, second: v.start / int64(time.Second)}
	due := ^uint64(0)
	if was.remembered(c, dir) {
		due = was.due(next.second)
		next.readable = was.readable
	}
	if due == 0 && was.revision == dir.Revision && c.touched[c.slot(dir.Real)].Load() <= was.began {
		return was.refused
	}
	todo := all.unknown(next, list, due)
	for len(todo) > 0 {
		p := &refusing{}
		_, err := aside(v, false, func(v *View) (struct{}, error) { return struct{}{}, p.ask(v, dir, todo) })
		todo = all.note(next, p, todo)
		switch {
		case err != nil && !errors.Is(err, stall.Err):
			return next.refused
		case len(todo) > 0:
			todo = todo[1:] // it does not answer
		}
	}
	all.keep(dir.Real, next)
	return next.refused
}

// unknown returns the names in a list to be asked for: new ones, and those of the classes
// that are due.
func (r *readables) unknown(next *readableNames, list []disk.Dirent, due uint64) (todo []disk.Dirent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(next.readable) > 2*len(list) || next.readable == nil { // most of them are gone
		next.readable = make(map[uint64]struct{}, len(list))
	}
	for i := range list {
		hash := hashOf(&list[i])
		if _, known := next.readable[hash]; !known || due&(1<<(hash%classes)) != 0 {
			todo = append(todo, list[i])
		}
	}
	return todo
}

// note takes over what was found out about the first names of a list, and returns the
// others.
func (r *readables) note(next *readableNames, p *refusing, list []disk.Dirent) []disk.Dirent {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range list[:p.asked] {
		next.readable[hashOf(&list[i])] = struct{}{}
	}
	for i := range p.refused {
		next.refused[p.refused[i].Base] = true
		delete(next.readable, hashOf(&p.refused[i]))
	}
	return list[p.asked:]
}

func (r *readables) keep(real string, next *readableNames) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.dir[real]; old != nil {
		r.names -= old.size
	}
	next.size = len(next.readable) + len(next.refused)
	if r.names += next.size; r.dir == nil || r.names > maxReadable || len(r.dir) >= maxReadable/64 {
		r.dir, r.names = map[string]*readableNames{}, next.size
	}
	r.dir[real] = next
}

// refusing is how far names have been asked for; it may be left behind.
type refusing struct {
	mu      sync.Mutex
	asked   int
	refused []disk.Dirent
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
			p.refused = append(p.refused, *e)
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
