package watch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// chunk is how many entries are read at a time: a directory of a million files
// must not stand in memory to find its three directories.
const chunk = 1024

// list calls yield for each entry of the directory name, in no order, and
// returns what the directory itself is. No entry costs a stat where the file
// system tells types.
func list(name string, yield func(fs.DirEntry)) (fs.FileInfo, error) {
	// What was a directory a moment ago may be a FIFO now: do not block.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	for err == nil {
		var some []fs.DirEntry
		some, err = f.ReadDir(chunk)
		for _, e := range some {
			yield(e)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return info, err
}

// descend reports whether e is a directory that may be served, and so is
// watched: not a hidden one, and no link to one.
func descend(e fs.DirEntry) bool { return e.IsDir() && !hidden(e.Name()) }

// hidden reports whether a directory with this base name is never served.
func hidden(base string) bool { return strings.HasPrefix(base, ".") }

// below returns the file name of the slash path dir below root.
func below(root, dir string) string { return filepath.Join(root, filepath.FromSlash(dir)) }

// child returns the slash path of base in dir.
func child(dir, base string) string {
	if dir == "." {
		return base
	}
	return path.Join(dir, base)
}
