package site

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// refused returns the files and directories in a list of a directory that are not served,
// since this process may not read them, or their owner has no say in their tree. What does
// not answer is not among them. A reply made of the list holds until one of them changes.
func (v *View) refused(dir *disk.Handle, list []disk.Dirent) map[string]bool {
	t, _, _ := v.root.At(dir.Real)
	if os.Geteuid() == 0 && t.Owner == disk.AnyOwner {
		return nil
	}
	for {
		refused, err := optional(v, func(v *View) (map[string]bool, error) {
			refused, readable := map[string]bool{}, dir.Readable(v.call)
			for i := range list {
				e := &list[i]
				if !selector.Askable(e.Base) || !e.Mode.IsRegular() && !e.Mode.IsDir() {
					continue
				}
				name := selector.Join(dir.Real, e.Base)
				served := readable(e) && v.theirs(name)
				if v.failed != nil && !errors.Is(v.failed, stall.Err) {
					return nil, v.failed // nobody waits any more
				}
				if served {
					continue
				}
				if refused[e.Base] = true; len(refused) <= maxLooks {
					v.missed(name, fs.ErrPermission)
				} else {
					v.without = true
				}
			}
			if v.failed != nil {
				v.Without()
			}
			return refused, nil
		})
		if !errors.Is(err, stall.ErrLeft) {
			return refused
		}
		// A name does not answer. The next time it is passed over.
	}
}

// theirs reports whether a real name has an owner whose files its tree serves.
func (v *View) theirs(real string) bool {
	t, _, rest := v.root.At(real)
	if t.Owner == disk.AnyOwner || rest == "." {
		return true
	}
	var rev disk.Revision
	err := v.call(real, func() (err error) { rev, err = v.root.Lstat(real); return err })
	return err == nil && v.root.Owned(real, rev)
}
