package watch

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

const (
	// compareEvery is the default time between two comparisons.
	compareEvery = 2 * time.Second
	// coarse is the coarsest clock of a file system: what is younger when it is
	// looked at can change again without looking different.
	coarse = 2 * time.Second
	// thorough is how many times a directory whose times have not changed is
	// taken for unchanged before it is listed again all the same: there are file
	// systems that do not keep the times of directories.
	thorough = 20
)

// treeShape is what a directory and all below it look like.
type treeShape struct {
	info fs.FileInfo // of its top, nil if there is none
	dirs map[string]dirShape
	age  int // how many times directories were taken for unchanged by their times
	cost time.Duration
}

// dirShape is what a directory looks like. Two directories whose looks are equal are
// taken for the same.
type dirShape struct {
	looks
	steering, subs []string // base names of the files that steer it, and of its directories
}

type looks struct {
	entries uint64 // the sum over all entries of a hash of name and type
	content uint64 // the same over the files that steer it, with sizes and times
	mode    fs.FileMode
	time    int64
	young   bool // some time is too young to tell a later change
}

// differ returns the directories of now that do not look as in old, sorted.
// Those that are gone show in their parents.
func (now treeShape) differ(old treeShape) []string {
	dirs := make(map[string]bool)
	for name, p := range now.dirs {
		if was, ok := old.dirs[name]; !ok || was.young || was.looks != p.looks {
			dirs[name] = true
		}
	}
	return sorted(dirs)
}

// look looks at a name and all below it, and at the clock. Directories that were
// not touched since old was made are not listed again: a stat of them and of the
// files that steer them is enough.
func look(guard *stall.Guard, names *names, name string, old treeShape) (t treeShape) {
	start := time.Now()
	if old.age >= thorough {
		old = treeShape{}
	}
	for err := stall.ErrLeft; errors.Is(err, stall.ErrLeft); {
		t, err = stall.Try(guard, func(a *stall.Attempt) (treeShape, error) { return lookAll(a, names, name, old, start), nil })
	}
	if t.age = 0; old.dirs != nil {
		t.age = old.age + 1
	}
	return t
}

// waiting is what one directory can cost, at most: what takes longer was waited for,
// and costs nothing. A file system that did not answer for some seconds would
// otherwise not be looked at for minutes after it does.
const waiting = 100 * time.Millisecond

// lookAll leaves out what does not answer.
func lookAll(a *stall.Attempt, names *names, name string, old treeShape, start time.Time) treeShape {
	t := treeShape{dirs: make(map[string]dirShape)}
	if op, err := a.Enter(name); err == nil {
		t.info, _ = os.Stat(names.file(name))
		op.Leave()
	}
	todo := []string{name}
	for mounted := range names.trees {
		if within(mounted, name) && mounted != name {
			todo = append(todo, mounted)
		}
	}
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, done := t.dirs[dir]; done {
			continue
		}
		var s dirShape
		began := time.Now()
		if op, err := a.Enter(dir); err == nil {
			s = lookAt(names.file(dir), old.dirs[dir], start)
			op.Leave()
		}
		t.dirs[dir] = s
		t.cost += min(time.Since(began), waiting)
		for _, base := range s.subs {
			todo = append(todo, selector.Join(dir, base))
		}
	}
	return t
}

var seed = maphash.MakeSeed()

// lookAt looks at one directory. What cannot be read looks the same as long as
// it cannot be read.
func lookAt(dir string, old dirShape, start time.Time) (s dirShape) {
	info, err := os.Stat(dir)
	if err != nil {
		return dirShape{}
	}
	if old.time != 0 && !old.young && old.mode == info.Mode() && old.time == info.ModTime().UnixNano() {
		s = old
		s.content = 0
	} else if info, err = list(dir, s.entry); err != nil {
		return dirShape{}
	}
	s.mode, s.time, s.young = info.Mode(), info.ModTime().UnixNano(), young(info, start)
	for _, base := range s.steering {
		s.steer(filepath.Join(dir, base), start)
	}
	return s
}

// entry adds an entry of the directory.
func (s *dirShape) entry(e fs.DirEntry) {
	s.entries += maphash.Comparable(seed, dirEntry{name: e.Name(), mode: e.Type()})
	if steers(e.Name()) {
		s.steering = append(s.steering, e.Name())
	}
	if descend(e) {
		s.subs = append(s.subs, e.Name())
	}
}

// dirEntry is what counts of a directory entry.
type dirEntry struct {
	name string
	mode fs.FileMode
	size int64
	time int64
}

// steer adds a file whose content matters, following links.
func (s *dirShape) steer(name string, start time.Time) {
	info, err := os.Stat(name)
	if err != nil {
		return
	}
	s.content += maphash.Comparable(seed, dirEntry{path.Base(name), info.Mode(), info.Size(), info.ModTime().UnixNano()})
	s.young = s.young || young(info, start)
}

// young reports whether a later change of a file might not show.
func young(info fs.FileInfo, start time.Time) bool {
	return start.Sub(info.ModTime()) < coarse
}

// steers reports whether the content of a file with this base name may say how
// its directory is served.
func steers(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "gopher") || strings.HasSuffix(base, ".gph") || strings.HasSuffix(base, ".gophermap") ||
		base == "robots.txt" || base == "caps.txt"
}
