package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/gophd/gophd/selector"
)

// Some file systems (exFAT, APFS, NTFS, some directories of ext4) open "private" as
// "PRIVATE", too. A robots.txt denies the first only, so a name is opened only as its
// directory lists it. To find out whether a directory folds case, an element of it is
// looked up with its case swapped; a directory that folds is listed for each name.

// errSpelling is a name that its directory lists with other capitals.
var errSpelling = fmt.Errorf("its directory lists it with other capitals: %w", fs.ErrNotExist)

const (
	foldingFor = 10 * time.Second // another file system may be mounted there
	maxFolding = 10_000           // directories
)

// foldings remembers which directories of a Tree fold case. The zero value knows none.
type foldings struct {
	mu   sync.RWMutex
	dirs map[string]folding
}

type folding struct {
	folds bool
	at    time.Time
}

// get returns whether a directory folds case, if that is known.
func (f *foldings) get(dir string) (folds, known bool) {
	d, known := f.dirs[dir]
	return d.folds, known && time.Since(d.at) < foldingFor
}

func (f *foldings) set(dir string, folds bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dirs == nil || len(f.dirs) >= maxFolding {
		f.dirs = map[string]folding{}
	}
	f.dirs[dir] = folding{folds, time.Now()}
}

// spelledSurely reports whether no directory of a name folds case. It makes no system
// call; if one is needed, it returns false.
func (t *Tree) spelledSurely(name string) bool {
	f := &t.foldings
	f.mu.RLock()
	defer f.mu.RUnlock()
	folds, known := f.get(".")
	for i := 0; i < len(name) && known && !folds; i++ {
		if name[i] == '/' {
			folds, known = f.get(name[:i])
		}
	}
	return known && !folds || name == "." || t.Fixed
}

// spelled returns errSpelling unless each directory lists the next element of the name byte for
// byte; on case-insensitive file systems other spellings open, too. The name exists and contains
// no link.
func (t *Tree) spelled(call Caller, at, name string) error {
	if t.spelledSurely(name) {
		return nil
	}
	return call(at, func() error {
		dir := "."
		for elem := range strings.SplitSeq(name, "/") {
			if err := t.spelledIn(dir, elem); err != nil {
				return err
			}
			dir = selector.Join(dir, elem)
		}
		return nil
	})
}

// spelledIn is spelled for one element of a directory.
func (t *Tree) spelledIn(dir, elem string) error {
	f := &t.foldings
	f.mu.RLock()
	folds, known := f.get(dir)
	f.mu.RUnlock()
	swapped := strings.Map(swapCase, elem)
	if known && !folds || swapped == elem || t.Fixed {
		return nil
	}
	if !known {
		if _, err := t.files.stat(selector.Join(dir, swapped)); err != nil {
			f.set(dir, false)
			return nil
		}
	}
	names, err := t.names(dir)
	if err != nil {
		return err
	}
	f.set(dir, !slices.Contains(names, elem) || !slices.Contains(names, swapped))
	if !slices.Contains(names, elem) {
		return &fs.PathError{
			Op:   "open",
			Path: path.Join(dir, elem),
			Err:  errSpelling,
		}
	}
	return nil
}

// names lists a directory.
func (t *Tree) names(dir string) ([]string, error) {
	f, err := t.open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	of, ok := f.(*os.File)
	if !ok {
		return nil, syscall.ENOTDIR
	}
	return of.Readdirnames(-1)
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
