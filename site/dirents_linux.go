package site

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A record of getdents64(2): inode, offset, length of the record, type, name.
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// direntSpace holds what one call of getdents64(2) returns.
var direntSpace = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// readDir lists an opened directory, in the directory's own order. It does what
// os.File.ReadDir does in half the time: no value and no string of its own for
// each entry. The names share memory, which stays as long as one of them does.
// Each system call is made by call. What one has read is kept only if keeps says
// so; if not, the list is what came before.
func readDir(f *os.File, call func(func() error) error, keeps func(bytes int) error) (list []dirent, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	if ctlErr := conn.Control(func(fd uintptr) { list, err = direntsOf(int(fd), call, keeps) }); ctlErr != nil {
		return nil, ctlErr
	}
	if err != nil {
		err = &fs.PathError{Op: "readdirent", Path: f.Name(), Err: err}
	}
	return list, err
}

func direntsOf(fd int, call func(func() error) error, keeps func(bytes int) error) ([]dirent, error) {
	space := direntSpace.Get().(*[64 << 10]byte)
	defer direntSpace.Put(space)
	var batches []string
	total := 0
	for {
		n := 0
		err := call(func() (err error) {
			n, err = unix.ReadDirent(fd, space[:])
			return err
		})
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n > 0 {
			err = keeps(n)
		}
		if n > 0 && err == nil {
			batches = append(batches, string(space[:n]))
			eachRecord(batches[len(batches)-1], func(string, byte) { total++ })
			continue
		}
		list := make([]dirent, 0, total)
		for _, records := range batches {
			eachRecord(records, func(name string, t byte) {
				if name != "." && name != ".." {
					list = append(list, dirent{name, typeOf(fd, name, t, call)})
				}
			})
		}
		return list, err
	}
}

// eachRecord calls f with the name and the type of each record.
func eachRecord(records string, f func(name string, t byte)) {
	for len(records) > direntName {
		size := int(binary.NativeEndian.Uint16([]byte(records[direntLen : direntLen+2])))
		if size <= direntName || size > len(records) {
			break
		}
		name, _, _ := strings.Cut(records[direntName:size], "\x00")
		f(name, records[direntType])
		records = records[size:]
	}
}

// typeOf is the type of an entry. Some file systems do not tell it.
func typeOf(dir int, name string, t byte, call func(func() error) error) fs.FileMode {
	if t == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if call(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) }) == nil {
			t = byte(st.Mode & unix.S_IFMT >> 12) // as DT_ constants are made
		}
	}
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}
