package site

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkListing makes the menu of a directory that nobody has asked for.
func BenchmarkListing(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%05d.txt", i)), nil, 0o644))
			}
			s, err := Open(dir, Config{})
			must(b, err)
			b.ReportAllocs()
			for b.Loop() {
				m, err := s.Menu(".", "our.example", 70)
				must(b, err)
				m.AppendTo(nil)
			}
		})
	}
}
