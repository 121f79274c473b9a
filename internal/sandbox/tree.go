package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Tree returns what must be readable so that dir can be read, even after
// another directory was renamed to its name (mv next dir), or a link of that
// name was made to lead elsewhere: dir, the directory that its name lies in,
// and, if its name is a link, that which the real one lies in.
//
// A directory right below / is an exception: to read / would be to read all.
// Such a dir can only be swapped for what lies in a readable directory.
func Tree(dir string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding what lies around %s: %w", dir, err)
	}
	all := []string{abs}
	return append(all, Around(abs)...), nil
}

// Around returns the directories that hold a file or directory: that of its
// name and that of what its name leads to, without /. Whoever may read them
// can read the file also after it was replaced.
func Around(name string) []string {
	dirs := []string{filepath.Dir(name)}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(dir)
		return dir == "/" || err != nil
	})
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
