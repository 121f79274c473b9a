package site

import (
	"fmt"
	"io/fs"
	"path"
	"sync/atomic"

	"github.com/gophd/gophd/policy"
)

// Load reads a tree once and compiles its policy, as Run would publish it.
func Load(dir string) (*Snapshot, error) { return LoadAt(dir, ".", new(atomic.Int64)) }

// LoadAt is Load for a directory that is served as a tree of its own below a site,
// such as that of a user at "~ann": the snapshot is that of a site that holds
// nothing else. It adds to a counter how many directories it has read.
func LoadAt(dir, at string, read *atomic.Int64) (*Snapshot, error) {
	if !fs.ValidPath(at) {
		return nil, fmt.Errorf("%q is no name below a root", at)
	}
	r, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer r.close()
	scan := newScanner(r)
	scan.read = read
	tree, err := scan.tree()
	if err != nil {
		return nil, err
	}
	for at != "." {
		tree = &policy.Dir{Name: path.Base(at), Files: tree.Files, Dirs: tree.Dirs, Notes: tree.Notes}
		at = path.Dir(at)
		tree = &policy.Dir{Dirs: []*policy.Dir{tree}}
	}
	return compile(Config{}, tree, nil, scan), nil
}
