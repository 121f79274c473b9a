//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const holeFiles = 1000

func holeName(i int) string { return fmt.Sprintf("/hole/d%d/text%03d.txt", i%10, i) }

// makeTree makes what the scenarios ask for.
func makeTree(dir string) error {
	files := map[string][]byte{
		"/hot.txt":         text(1024),
		"/big.bin":         bytes.Repeat([]byte{0, 1, 2, 3, 0xff, 0xfe, 0xfd, 0xfc}, 1<<17),
		"/private/.robots": []byte("Disallow: /\n"),
		"/private/x.txt":   []byte("x\n"),
	}
	for i := range holeFiles {
		files[holeName(i)] = text(900 + i%250)
	}
	for _, n := range []int{100, 3000, 10000} {
		for i := range n {
			files[fmt.Sprintf("/list%d/entry-%05d.txt", n, i)] = nil
		}
	}
	var menu strings.Builder
	for i := range 20 {
		fmt.Fprintf(&menu, "some words about document %d\n0document %d\t/hole/d0/text%03d.txt\n", i, i, i*10)
	}
	files["/menu/gophermap"] = []byte(menu.String())
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func text(size int) []byte {
	return bytes.Repeat([]byte("It was a dark and stormy night; the rain fell in torrents.\r\n"), size/60+1)[:size]
}
