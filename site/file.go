package site

import (
	"io/fs"
	"os"

	"github.com/gophd/gophd/selector"
)

// A File is an opened file, or a directory, of the tree.
type File struct {
	*os.File
	Name string // below the root, "." for the root
	Real string // the same without links
	Info fs.FileInfo

	view *View
}

// Read reads from a file, unless it is known not to answer.
func (f *File) Read(p []byte) (int, error) {
	op, err := f.view.enter(f.Name)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	op.Leave()
	if spent := f.view.keeps(n); spent != nil {
		return 0, spent
	}
	return n, err
}

// OSFile returns the file without the guard, for sendfile(2).
func (f *File) OSFile() *os.File { return f.File }

// answers reports whether a name can be asked for.
func (s *Site) answers(name string) bool {
	if !selector.AskableName(name) {
		return false
	}
	snap := s.Now()
	return snap == nil || len(snap.refused) == 0 || !snap.overBudget(name)
}

// overBudget reports whether a name lies behind a link that the scan did not follow.
func (s *Snapshot) overBudget(name string) bool {
	for i := range len(name) {
		if name[i] == '/' && s.refused[name[:i]] {
			return true
		}
	}
	return s.refused[name]
}
