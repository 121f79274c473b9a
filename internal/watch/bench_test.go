package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// forest makes n directories, a hundred in each, with a file in each.
func forest(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	for i := range n - 1 - n/100 {
		dir := filepath.Join(root, fmt.Sprintf("user%d", i/100), fmt.Sprintf("dir%d", i%100))
		must(b, os.MkdirAll(dir, 0o755))
		must(b, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	}
	return root
}

// BenchmarkStart is the time until all watches stand. A hundred thousand
// directories need a limit of as many watches.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := forest(b, n)
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				w := &Watcher{Root: root, Changed: func(Batch) { cancel() }}
				must(b, w.Run(ctx))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/dir")
		})
	}
}

// BenchmarkRound compares a directory, as rounds do.
func BenchmarkRound(b *testing.B) {
	w := &Watcher{Root: forest(b, 1000), Method: PollOnly}
	w.init()
	must(b, w.SetTrees(nil))
	w.mark(func() { w.all = true })
	w.batch()
	for b.Loop() {
		w.compare("user3")
	}
}

// BenchmarkChange is the time from a change to its batch. Nearly all of it is
// waiting for silence.
func BenchmarkChange(b *testing.B) {
	root := forest(b, 1000)
	batches := make(chan Batch, 100)
	w := &Watcher{Root: root, Poll: -1, Changed: func(c Batch) { batches <- c }}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	<-batches
	name := filepath.Join(root, "user3", "dir7", "file")
	for b.Loop() {
		must(b, os.WriteFile(name, []byte("1"), 0o644))
		<-batches
	}
	cancel()
	must(b, <-ended)
}
