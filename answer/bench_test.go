package answer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/site"
)

// BenchmarkListing makes the menu of a directory that nobody has asked for.
func BenchmarkListing(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				must(b, os.WriteFile(filepath.Join(dir,
					fmt.Sprintf("file-%05d.txt", i)), nil, 0o644))
			}
			s, err := site.Open(dir, site.Config{})
			must(b, err)
			h := newFiles(s, 0)
			b.ReportAllocs()
			for b.Loop() {
				_, err := get(b, h, "/")
				must(b, err)
			}
		})
	}
}
