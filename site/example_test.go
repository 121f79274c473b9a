package site_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/site"
)

// writeTree writes the files of a small tree.
func writeTree(files map[string]string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "site"); err != nil {
		return "", err
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return dir, err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

func Example() {
	dir, err := writeTree(map[string]string{
		"about.txt": "Hello.\n", "drafts/novel.txt": "It was a dark night.\n",
		"drafts/.robots": "Disallow: /\n",
	})
	defer func() { _ = os.RemoveAll(dir) }()
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	view := tree.View(context.Background())
	list, err := view.ReadDir(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		fmt.Println(e.Name(), e.IsDir())
	}
	_, err = view.Lookup("drafts/.robots")
	fmt.Println(err)

	snap, err := site.Load(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", snap.Robots)
	// Output:
	// about.txt false
	// drafts true
	// open drafts/.robots: file does not exist
	// # robots.txt made by gophd; "gophd robots explain" tells why
	// User-agent: *
	// Disallow: /drafts/
}
