package watch

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// TestModelStorm is TestModelInotify with three at work at once, two of them in
// a directory that the third moves about.
func TestModelStorm(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	world := newWorld(t.TempDir(), seed)
	m := newMirror(world.root)
	run(t, &Watcher{Root: world.root, Poll: -1}, m)
	for round := range 12 {
		var all sync.WaitGroup
		all.Go(world.burst)
		for i, dir := range []string{"a", "b"} {
			other := newWorld(t.TempDir(), seed+uint64(round*2+i)+1)
			other.root = filepath.Join(world.root, dir)
			all.Go(other.burst)
		}
		all.Wait()
		treetest.Until(t, fmt.Sprintf("seed %d, round %d: mirror equal to the tree", seed,
			round), m.fresh)
	}
}
