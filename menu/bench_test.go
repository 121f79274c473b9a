package menu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

func BenchmarkListing(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			builder := menu.Builder{FS: large(n, ".txt"), Host: "our.example", Port: 70}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := builder.Menu(context.Background(), "."); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendTo(b *testing.B) {
	builder := menu.Builder{FS: large(100, ".txt"), Host: "our.example", Port: 70}
	m, err := builder.Menu(context.Background(), ".")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = m.AppendTo(nil)
	}
}

func BenchmarkGophermap(b *testing.B) {
	text := strings.Repeat("!A title\nSome information\n0A text\ta.txt\n1A menu\t/d/sub\n", 10)
	fsys := site()
	fsys["d/gophermap"] = tree(map[string]string{"x": text})["x"]
	builder := menu.Builder{FS: fsys, Host: "our.example", Port: 70}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Menu(context.Background(), "d"); err != nil {
			b.Fatal(err)
		}
	}
}
