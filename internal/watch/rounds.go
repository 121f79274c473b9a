package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// Rounds find changes that no event reports. A round lists every directory, looks at the
// files that steer it, and compares a hash of both with the last round's. It pauses so
// that it takes no more than a fiftieth of the time. In between, known annotations and
// the directories of the trees are checked every two seconds, annotations on remote file
// systems every PollRemote.

const (
	roundEvery = 2 * time.Second // from the end of a round to the next, at least
	notesEvery = 2 * time.Second
	roundShare = 50 // a round takes this part of the time at most
	notesShare = 20
	// coarse is the coarsest clock of a file system: a file changed less than this ago
	// can change again without a new time of change.
	coarse = 2 * time.Second
	// mostCost is the most that one directory counts as work: the rest of its time was
	// spent waiting for the disk.
	mostCost = 100 * time.Millisecond
	// slice is how much work is done between two pauses.
	slice = 2 * time.Millisecond
)

// rounds are of one goroutine.
type rounds struct {
	*Watcher
	pending *pending
	call    disk.Caller
	start   time.Time

	seen   map[string]uint64 // hashes of directories; 0: a later change may look the same
	notes  map[string]uint64 // hashes of the annotations of directories
	tops   map[string]uint64 // hashes of device and inode of the trees' directories
	due    time.Time         // when notes are to be looked at
	remote time.Time         // the same of remote ones
	worked time.Duration     // since the last pause
}

// run makes rounds until ctx ends.
func (r *rounds) run(ctx context.Context) {
	r.call = disk.Guarded(r.Guard)
	r.seen, r.notes, r.tops = map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	r.lookAtTrees()
	for first := true; ctx.Err() == nil; first = false {
		began := time.Now()
		r.round(ctx, first)
		if first && ctx.Err() == nil {
			r.log().Info("directories are compared, for changes that no event reports", "directories", len(r.seen), "every", (time.Since(began) + roundEvery).Round(time.Second))
		}
		r.pause(ctx, r.every(roundEvery))
	}
}

// every is a duration, or less for tests.
func (w *Watcher) every(d time.Duration) time.Duration {
	if w.quick > 0 {
		return w.quick
	}
	return d
}

// round looks at all directories.
func (r *rounds) round(ctx context.Context, first bool) {
	next := make(map[string]uint64, len(r.seen))
	todo := []string{"."}
	for name := range r.trees().trees {
		todo = append(todo, name)
	}
	for len(todo) > 0 && ctx.Err() == nil {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, done := next[dir]; done {
			continue
		}
		began := time.Now()
		now, err := r.look(dir)
		old, known := r.seen[dir]
		if errors.Is(err, stall.Err) {
			next[dir] = old // later
			continue
		}
		next[dir] = now.hash
		if now.annotated || r.trees().isTree(dir) {
			r.noteDown(dir)
		}
		switch {
		case first && now.changed < r.start.Add(-coarse).UnixNano(), known && old == now.hash && old != 0:
		case known || first:
			r.touch(dir)
			r.pending.dir(dir)
		default:
			r.touch(dir)
			r.pending.arrival(dir)
			r.pending.dir(dir)
		}
		todo = append(todo, now.subs...)
		r.worked += min(time.Since(began), mostCost)
		if r.worked >= slice {
			r.pause(ctx, (roundShare-1)*r.worked)
			r.worked = 0
		}
	}
	if ctx.Err() == nil {
		r.seen = next
		maps.DeleteFunc(r.notes, func(dir string, _ uint64) bool { _, still := next[dir]; return !still })
	}
}

// dirLook is the result of a look at a directory.
type dirLook struct {
	hash      uint64
	changed   int64 // the last time of change that was seen
	annotated bool
	subs      []string // the directories in it
}

var seed = maphash.MakeSeed()

// dirEntry holds the parts of a directory entry that go into the hash.
type dirEntry struct {
	name string
	mode fs.FileMode
	disk.Revision
}

// look looks at a directory, and at the files that steer it.
func (r *rounds) look(dir string) (s dirLook, err error) {
	file := r.trees().file(dir)
	self, err := r.call.Named(dir).Revision(file)
	if err != nil {
		return dirLook{hash: 1}, err
	}
	began := time.Now()
	s.changed = self.Changed
	self.Changed, self.Size = 0, 0 // its entries say that
	sum := maphash.Comparable(seed, self)
	type listing struct {
		sum            uint64
		steering, subs []string
		annotated      bool
	}
	l := new(listing) // the call's own: it may be left behind
	err = r.call.Named(dir).Each(file, func(e fs.DirEntry) {
		l.sum += maphash.Comparable(seed, dirEntry{name: e.Name(), mode: e.Type()})
		if steers(e.Name()) {
			l.steering = append(l.steering, e.Name())
			l.annotated = l.annotated || isNote(e.Name())
		}
		if descend(e) {
			l.subs = append(l.subs, selector.Join(dir, e.Name()))
		}
	})
	if errors.Is(err, stall.Err) {
		return s, err
	}
	if err != nil {
		return dirLook{hash: sum | 1}, nil // it looks the same as long as it cannot be read
	}
	sum += l.sum
	s.subs, s.annotated = l.subs, l.annotated
	young := false
	for _, base := range l.steering {
		rev, err := r.call.Named(selector.Join(dir, base)).Revision(filepath.Join(file, base))
		if err == nil {
			sum += maphash.Comparable(seed, dirEntry{name: base, Revision: rev})
			s.changed, young = max(s.changed, rev.Changed), young || rev.Young(began)
		}
	}
	if s.hash = sum; young {
		s.hash = 0
	}
	return s, nil
}

// pause waits, and looks at annotations when that is due.
func (r *rounds) pause(ctx context.Context, d time.Duration) {
	for end := time.Now().Add(d); ctx.Err() == nil; {
		now := time.Now()
		if !now.Before(r.due) {
			r.lookAtNotes()
			continue
		}
		next := min(end.Sub(now), r.due.Sub(now))
		if end.Before(now) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(next, time.Millisecond)):
		}
	}
}

// lookAtNotes looks at the annotations that were found, and at the trees.
func (r *rounds) lookAtNotes() {
	began := time.Now()
	far := !began.Before(r.remote)
	for dir, was := range r.notes {
		if !far && r.isRemote(dir) {
			continue
		}
		if now := r.noteOf(dir); now != was && now != 0 {
			r.notes[dir] = now
			r.touch(dir)
			r.pending.dir(dir)
		}
	}
	r.lookAtTrees()
	cost := time.Since(began)
	r.due = began.Add(max(r.every(notesEvery), notesShare*cost))
	if far && r.betweenRemote() > 0 {
		r.remote = began.Add(max(r.betweenRemote(), notesShare*cost))
	} else if far {
		r.remote = began.Add(math.MaxInt64 / 2)
	}
}

// lookAtTrees looks whether the directories of the trees are the same.
func (r *rounds) lookAtTrees() {
	for name := range r.trees().all() {
		self, err := r.call.Named(name).Revision(r.trees().file(name))
		if errors.Is(err, stall.Err) {
			continue
		}
		now := maphash.Comparable(seed, [2]uint64{self.Device, self.Inode})
		was, known := r.tops[name]
		if r.tops[name] = now; known && was != now {
			if name == "." {
				r.pending.lose(true)
			} else {
				r.pending.leave(name)
			}
		}
	}
}

func (r *rounds) noteDown(dir string) {
	if _, known := r.notes[dir]; !known {
		r.notes[dir] = r.noteOf(dir)
	}
}

// noteOf returns the hash of a directory's annotations, 0 if they do not answer.
func (r *rounds) noteOf(dir string) (hash uint64) {
	for _, base := range noteNames {
		rev, err := r.call.Named(selector.Join(dir, base)).Revision(filepath.Join(r.trees().file(dir), base))
		if errors.Is(err, stall.Err) {
			return 0
		}
		hash += maphash.Comparable(seed, dirEntry{name: base, Revision: rev})
	}
	return max(hash, 1)
}

// noteNames are the names of annotations.
var noteNames = []string{".robots", "robots.txt"}

func isNote(base string) bool { return base == noteNames[0] || base == noteNames[1] }

// steers reports whether the content of a file with this base name may say how
// its directory is served.
func steers(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "gopher") || strings.HasSuffix(base, ".gph") || strings.HasSuffix(base, ".gophermap") ||
		base == "robots.txt" || base == "caps.txt"
}
