package disk_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/disk"
)

// BenchmarkOpen opens a file below so many directories, with openat2(2) and
// with os.Root.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	deep := strings.Repeat("d/", 8)
	for depth := range 9 {
		write(b, dir, map[string]string{filepath.Join(deep[:2*depth], "file"): "x"})
	}
	r, err := disk.Caller(disk.Direct).OpenRoot(dir)
	must(b, err)
	defer r.Close()
	walking, err := disk.OpenWalking(dir)
	must(b, err)
	defer walking.Close()
	ways := map[string]func(string) bool{
		"openat2": func(name string) bool {
			f, err := r.Open(disk.Direct, name)
			return err == nil && f.Close() == nil
		},
		"os.Root": func(name string) bool {
			f, err := walking.Open(disk.Direct, name)
			return err == nil && f.Close() == nil
		},
	}
	for _, way := range []string{"openat2", "os.Root"} {
		for _, depth := range []int{0, 1, 4, 8} {
			b.Run(fmt.Sprintf("%s/%d", way, depth), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !ways[way](deep[:2*depth] + "file") {
						b.Fatal("not opened")
					}
				}
			})
		}
	}
}
