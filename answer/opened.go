package answer

import (
	"os"
	"sync"
	"time"

	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A file that leaves through sendfile(2) is kept open for a second, in case it is
// asked for again: to open it, look at it and close it costs as much as to send 64 KiB.
// The request that sends it takes it out and puts it back, so that nothing closes it
// meanwhile; another request opens it again.

// openFiles are the files that are open and not being sent. A nil one keeps nothing, and
// must not be asked for what it keeps.
type openFiles struct {
	mu     sync.Mutex
	files  map[cacheKey]*openFile // nil before the first
	sweeps bool                   // a sweep is due
}

// openFile is the server.ReadyFile.
type openFile struct {
	site.Ready
	of     *openFiles // to be put back into; nil: to be closed
	key    cacheKey
	stamp  *site.Stamp
	seen   time.Time // in memory
	recent bool      // it was taken out
}

const (
	maxOpenFiles = 32 // each of which may have been removed, and takes room on the disk until it is closed
	openFor      = time.Second
	staysFor     = 10 * time.Millisecond // in memory, without asking: nothing is evicted that was just sent
)

// take returns a file that holds, and that the kernel still has in memory. The caller
// puts it back, or closes it.
func (o *openFiles) take(p cacheKey) (a server.Answer, ok bool) {
	o.mu.Lock()
	f := o.files[p]
	delete(o.files, p)
	o.mu.Unlock()
	if f == nil {
		return a, false
	}
	if !f.stamp.Fresh() || !f.stays() {
		f.Ready.Close()
		return a, false
	}
	f.recent = true
	return server.Answer{File: f}, true
}

// stays reports whether the kernel still has a file in memory that was taken out.
func (f *openFile) stays() bool {
	now := time.Now()
	if now.Sub(f.seen) < staysFor {
		return true
	}
	f.seen = now
	return f.Still()
}

// lend makes an answer of a file that was opened. If it has a stamp, it is to be put
// back.
func (o *openFiles) lend(p cacheKey, r site.Ready, stamp *site.Stamp) server.Answer {
	f := &openFile{Ready: r, key: p, stamp: stamp, seen: time.Now()}
	if stamp != nil && r.InMemory() {
		f.of = o
	}
	return server.Answer{File: f}
}

// Resident is that of the ReadyFile.
func (f *openFile) Resident() (resident, recent bool) { return f.InMemory(), f.recent }

// OSFile makes a file that is not put back: its offset moves.
func (f *openFile) OSFile() *os.File { return os.NewFile(f.Fd(), f.key.selector) }

// Close puts the file back, or closes it.
func (f *openFile) Close() {
	if f.of != nil {
		f.of.put(f.key, f)
	} else {
		f.Ready.Close()
	}
}

func (o *openFiles) put(p cacheKey, f *openFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files[p] != nil || len(o.files) >= maxOpenFiles || f.stamp.Outdated() {
		f.Ready.Close()
		return
	}
	if o.files == nil {
		o.files = map[cacheKey]*openFile{}
	}
	o.files[p] = f
	if !o.sweeps {
		o.sweeps = true
		time.AfterFunc(openFor, o.sweep)
	}
}

// sweep closes the files that are not being sent.
func (o *openFiles) sweep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.files {
		f.Ready.Close()
	}
	clear(o.files)
	o.sweeps = false
}
