package site

import "sync/atomic"

// Load reads a tree once and compiles its policy, as Run would publish it.
func Load(dir string) (*Snapshot, error) { return LoadCounted(dir, new(atomic.Int64)) }

// LoadCounted is Load, which adds to a counter how many directories it has read.
func LoadCounted(dir string, read *atomic.Int64) (*Snapshot, error) {
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
	return compile(Config{}, tree, nil, scan), nil
}
