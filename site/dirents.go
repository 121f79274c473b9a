package site

import (
	"errors"
	"io/fs"
)

// dirent is an entry of a directory: its name, and of its mode the type.
type dirent struct {
	name string
	mode fs.FileMode
}

// Name, IsDir, Type and Info make a *dirent an fs.DirEntry for menus, which
// never ask for more than the type.
func (e *dirent) Name() string               { return e.name }
func (e *dirent) IsDir() bool                { return e.mode.IsDir() }
func (e *dirent) Type() fs.FileMode          { return e.mode }
func (e *dirent) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
