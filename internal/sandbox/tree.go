package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tree returns what must be readable so that dir can be read: dir, and nothing
// around it. Only if dir is a symbolic link whose target lies below the directory
// of the link (current -> releases/7), that directory is readable as a whole, so
// that the link can be turned to another target later.
//
// A root that is exchanged by renaming another directory to its name needs more:
// see Around.
func Tree(dir string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding what lies around %s: %w", dir, err)
	}
	paths := []string{abs}
	holder := filepath.Dir(abs)
	info, err := os.Lstat(abs)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || holder == "/" {
		return paths, nil
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return paths, nil
	}
	if realHolder, err := filepath.EvalSymlinks(holder); err == nil && strings.HasPrefix(real, realHolder+"/") {
		paths = append(paths, holder)
	}
	return paths, nil
}

// Around returns the directories that hold a file or directory: that of its
// name and that of what its name leads to, without /. With them readable, the
// file can be read also after it was replaced.
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
