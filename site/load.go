package site

// Load reads a tree once and compiles its policy, as Run would publish it.
func Load(dir string) (*Snapshot, error) {
	r, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer r.close()
	scan := newScanner(r)
	tree, err := scan.tree()
	if err != nil {
		return nil, err
	}
	return compile(Config{}, tree, nil, scan), nil
}
