package watch

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// Rounds find changes that no event reports. Every two seconds, the directories with annotations
// and the tops of trees are compared with their state at the last visit, and of the others as many
// as a fiftieth of the time allows. A comparison needs no listing: new names change the ctime of
// the directory.

const (
	roundEvery = 2 * time.Second
	roundShare = 50 // of the time, for annotations, and as much again for the others
	// mostCost bounds the cost that is charged for one directory; more is waiting for a disk.
	mostCost = 100 * time.Millisecond
)

var seed = maphash.MakeSeed()

// rounds compares directories until ctx ends.
func (w *Watcher) rounds(ctx context.Context) {
	var todo []string
	var due, far, began time.Time // of annotations, of those on remote file systems, of the round
	for first := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.every(roundEvery)):
		}

		// Annotations, and the tops of trees.
		if now := time.Now(); !now.Before(due) {
			remote := w.PollRemote >= 0 && !now.Before(far)
			cost := w.compareAll(ctx, w.visited(func(name string, d *known) bool {
				return w.trees().isTree(name) ||
					slices.ContainsFunc(d.steer, isNote) && (remote || !w.isRemote(name))
			}), nil)
			if due = now.Add(roundShare * cost); remote {
				far = now.Add(max(cmp.Or(w.PollRemote, DefaultPollRemote), roundShare*cost))
			}
		}

		// The others, for a while.
		if len(todo) == 0 {
			todo, began = w.visited(func(string, *known) bool { return true }), time.Now()
		}
		all := len(todo)
		w.compareAll(ctx, todo, &todo)
		if first && len(todo) == 0 {
			first = false
			w.log().Info("also comparing directories, for changes that no event reports",
				"directories", all, "every", (time.Since(began) + roundEvery).Round(time.Second))
		}
	}
}

// visited returns the names of visited directories.
func (w *Watcher) visited(wanted func(string, *known) bool) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, d := range w.dirs {
		if wanted(name, d) {
			names = append(names, name)
		}
	}
	return names
}

// compareAll compares directories and returns the cost. If rest is not nil, it stops after its
// share of the time and sets rest to the remaining ones.
func (w *Watcher) compareAll(ctx context.Context, names []string,
	rest *[]string) (cost time.Duration) {
	for len(names) > 0 && ctx.Err() == nil {
		if rest != nil && w.quick <= 0 && cost >= roundEvery/roundShare {
			break
		}
		began := time.Now()
		w.compare(names[0])
		names = names[1:]
		cost += min(time.Since(began), mostCost)
	}
	if rest != nil {
		*rest = names
	}
	return cost
}

// compare marks a directory as dirty if it has changed.
func (w *Watcher) compare(name string) {
	w.mu.Lock()
	d := w.dirs[name]
	w.mu.Unlock()
	if d == nil {
		return
	}
	now, err := w.look(name, d, stall.Hurried)
	if err != nil {
		return // it does not answer
	}
	w.mu.Lock()
	changed := now.sign != d.sign || d.young
	if changed { // else an event has reported what is young (few)
		d.sign, d.young = now.sign, now.young
	}
	w.mu.Unlock()
	if changed {
		w.touch()
		w.Look(name)
	}
}

// note is the name of an annotation.
const note = ".robots"

func isNote(base string) bool { return base == note || base == "robots.txt" }

// steers reports whether a file of this name configures how its directory is served.
func steers(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "gopher") ||
		strings.HasSuffix(base, ".gph") || strings.HasSuffix(base, ".gophermap") ||
		base == "robots.txt" || base == "caps.txt"
}

// mountInfo lists the file systems of this process (proc_pid_mountinfo(5)).
const mountInfo = "/proc/self/mountinfo"

// maxMountInfo bounds how much of it is read, in bytes.
const maxMountInfo = 16 << 20

// Files returns the files that a Watcher reads besides its trees, for a sandbox.
func Files() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{mountInfo}
}

// octal decodes the escapes in mountinfo: blank, tab, newline and backslash.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mounts is the last known state of the mounts at, above and below the trees.
type mounts struct {
	data  []byte
	trees *names
}

// look records which trees and mount points are on remote file systems. If something was mounted
// or unmounted since the last call, everything is visited again.
func (m *mounts) look(w *Watcher) {
	data, err := disk.Caller(disk.Direct).ReadFile(mountInfo, maxMountInfo)
	trees := w.trees()
	if err != nil || bytes.Equal(data, m.data) && trees == m.trees {
		return
	}
	remote := map[string]bool{}
	was, now := "", ""
	call := disk.Patient(w.Guard, stall.Brief)
	for name, dir := range trees.all() {
		if real, err := call.RealPath(dir); err == nil {
			dir = real
		}
		remote[name] = call.Remote(dir)
		was += concerns(m.data, dir, func(string, string) {})
		now += concerns(data, dir, func(point, rest string) {
			remote[selector.Join(name, rest)] = call.Named(selector.Join(name, rest)).Remote(point)
		})
	}
	w.mu.Lock()
	before := w.remote
	w.remote = remote
	w.mu.Unlock()
	for name, is := range remote {
		if is && !before[name] {
			w.log().Info("a remote file system reports no changes: gophd compares it regularly",
				"directory", name, "every", cmp.Or(w.PollRemote, DefaultPollRemote))
		}
	}
	if m.data != nil && was != now {
		w.lose()
	}
	m.data, m.trees = data, trees
}

// concerns returns what is mounted at, above and below a directory. It calls inside with each
// mount point below it, as a path and relative to the directory.
func concerns(mountInfo []byte, dir string, inside func(point, rest string)) string {
	var b strings.Builder
	for line := range strings.Lines(string(mountInfo)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		point := octal.Replace(f[4])
		rest, below := strings.CutPrefix(point, strings.TrimSuffix(dir, "/")+"/")
		if below {
			inside(point, rest)
		}
		if below || point == dir || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/") {
			b.WriteString(f[0] + " " + f[2] + " " + point + "\n") // each mount has a number of its own
		}
	}
	return b.String()
}

// isRemote reports whether a name is on a remote file system. It must be called with mu held.
func (w *Watcher) isRemote(name string) bool {
	for {
		if far, known := w.remote[name]; known || name == "." {
			return far
		}
		name = path.Dir(name)
	}
}
