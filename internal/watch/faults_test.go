package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestWatchesAgain has the kernel refuse once, for want of descriptors: a little
// later it is asked again.
func TestWatchesAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	w := &Watcher{Root: plant(t), Poll: -1, open: func() (*source, error) {
		if asked.Add(1) == 1 {
			return nil, fmt.Errorf("new: %w", syscall.EMFILE)
		}
		return openKernel()
	}}
	m := newMirror(w.Root)
	run(t, w, m)
	must(t, os.Mkdir(filepath.Join(w.Root, "a"), 0o755))
	until(t, "a change is found by polling", m.fresh)
	until(t, "the tree is watched", func() bool { return w.Watched("a") })
	must(t, os.Mkdir(filepath.Join(w.Root, "a", "b"), 0o755))
	until(t, "a change is told", m.fresh)
}
