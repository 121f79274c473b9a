package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gophd/gophd/internal/watch"
)

func ExampleWatcher() {
	root, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch.Watcher{Root: root}
	w.Changed = func(b watch.Batch) {
		if b.All {
			fmt.Println("read everything")
			_ = os.Mkdir(filepath.Join(root, "phlog"), 0o755)
			return
		}
		fmt.Println("read again", b.Dirs)
		cancel()
	}
	fmt.Println(w.Run(ctx))
	// Output:
	// read everything
	// read again [. phlog]
	// <nil>
}
