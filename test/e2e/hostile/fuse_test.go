//go:build linux

package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// disk is a file system in this process that can be told not to answer, and to
// fail. It speaks as much of the FUSE protocol (linux/fuse.h, version 7.31) as a
// server of files needs.
type disk struct {
	dev     *os.File
	nodes   []node       // the number of a node is its place in here, plus one
	stalled sync.RWMutex // held while nothing is answered

	owner int  // of all files
	folds bool // capitals are as good as small letters in a name

	// Until they are closed, each answer about a directory, or a file, takes its time. If
	// nil, they are.
	slowDirs, slowFiles chan struct{}
}

// node is a directory, or a file whose bytes from bad on cannot be read.
type node struct {
	name string // "" is the root, which is the first
	data []byte // nil is a directory
	bad  int
	in   uint64 // the directory
}

// The operations that are answered; all others are not implemented.
const (
	opLookup, opForget, opGetattr, opOpen, opRead    = 1, 2, 3, 14, 15
	opStatfs, opRelease, opFlush, opInit, opOpendir  = 17, 18, 25, 26, 27
	opReaddir, opReleasedir, opAccess, opForgetBatch = 28, 29, 34, 42
	opWrite                                          = 16
)

// mountDisk mounts a disk with these files, or skips the test where that is not
// possible. A file that is called bad cannot be read from its middle on.
func mountDisk(t *testing.T, at string, files map[string][]byte) *disk {
	t.Helper()
	return mountDiskOf(t, os.Getuid(), at, files)
}

// mountDiskOf is mountDisk for files that belong to a user.
func mountDiskOf(t *testing.T, owner int, at string, files map[string][]byte) *disk {
	t.Helper()
	must(t, os.MkdirAll(at, 0o755))
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no FUSE here:", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other", fd,
		os.Getuid(), os.Getgid())
	if err := unix.Mount("test", at, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		_ = unix.Close(fd)
		t.Skip("no FUSE here:", err)
	}
	dev := os.NewFile(uintptr(fd), "/dev/fuse") // before it was mounted it could not be waited for
	d := &disk{dev: dev, nodes: makeNodes(files), owner: owner}
	ended := make(chan struct{})
	go func() { defer close(ended); d.serve() }()
	t.Cleanup(func() {
		_ = unix.Unmount(at, unix.MNT_DETACH)
		_ = dev.Close() // those who still wait get an error
		<-ended
	})
	return d
}

func makeNodes(files map[string][]byte) []node {
	nodes := []node{{}}
	dirs := map[string]uint64{".": 1}
	var add func(name string, data []byte) uint64
	add = func(name string, data []byte) uint64 {
		parent, ok := dirs[filepath.Dir(name)]
		if !ok {
			parent = add(filepath.Dir(name), nil)
			dirs[filepath.Dir(name)] = parent
		}
		n := node{name: filepath.Base(name), data: data, bad: len(data) + 1, in: parent}
		if strings.HasPrefix(n.name, "bad") {
			n.bad = len(data) / 2
		}
		nodes = append(nodes, n)
		return uint64(len(nodes))
	}
	for name, data := range files {
		add(name, data)
	}
	return nodes
}

// stall keeps the disk from answering until the returned function is called.
func (d *disk) stall() (release func()) {
	d.stalled.Lock()
	return sync.OnceFunc(d.stalled.Unlock)
}

func (d *disk) serve() {
	buf := make([]byte, 1<<20+4096)
	for {
		n, err := d.dev.Read(buf)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil || n < 40 {
			return
		}
		req := slices.Clone(buf[:n])
		go d.answer(req)
	}
}

// answer answers one request: a header of 40 bytes (length, operation, number,
// node), and what the operation wants.
func (d *disk) answer(req []byte) {
	op, number := binary.NativeEndian.Uint32(req[4:]), req[8:16]
	id, in := binary.NativeEndian.Uint64(req[16:]), req[40:]
	if op == opForget || op == opForgetBatch {
		return
	}
	if op != opInit {
		slow := d.slowFiles
		if d.node(id).data == nil {
			slow = d.slowDirs
		}
		if slow != nil {
			select {
			case <-slow:
			case <-time.After(500 * time.Millisecond):
			}
		}
		d.stalled.RLock()
		defer d.stalled.RUnlock()
	}
	body, errno := d.do(op, id, in)
	out := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
	out = binary.NativeEndian.AppendUint32(out, uint32(-int32(errno)))
	_, _ = d.dev.Write(append(append(out, number...), body...))
}

// node returns the node with a number, the root if there is none.
func (d *disk) node(id uint64) node {
	if id == 0 || id > uint64(len(d.nodes)) {
		id = 1
	}
	return d.nodes[id-1]
}

func (d *disk) do(op uint32, id uint64, in []byte) ([]byte, syscall.Errno) {
	n := d.node(id)
	switch op {
	case opInit: // version, read-ahead, flags, background, largest write, and what is unused
		return put(nil, 4, 7, 31, 64<<10, 0, 12|8<<16, 4096, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0
	case opLookup:
		name, _, _ := strings.Cut(string(in), "\x00")
		for i, n := range d.nodes {
			if i > 0 && n.in == id &&
				(n.name == name || d.folds && strings.EqualFold(n.name, name)) {
				return d.attributes(put(put(nil, 8, uint64(i+1), 0, forever, forever), 4, 0, 0),
					uint64(i+1)), 0
			}
		}
		return nil, syscall.ENOENT
	case opGetattr:
		return d.attributes(put(put(nil, 8, forever), 4, 0, 0), id), 0
	case opOpen, opOpendir:
		return put(put(nil, 8, 0), 4, 0, 0), 0
	case opRead:
		from, size := int(binary.NativeEndian.Uint64(in[8:])),
			int(binary.NativeEndian.Uint32(in[16:]))
		from = min(from, len(n.data))
		part := n.data[from:min(from+size, len(n.data))]
		if from+len(part) > n.bad {
			return nil, syscall.EIO
		}
		return part, 0
	case opWrite: // what is written is forgotten
		return put(nil, 4, uint64(binary.NativeEndian.Uint32(in[16:])), 0), 0
	case opReaddir:
		return d.list(id, binary.NativeEndian.Uint64(in[8:])), 0
	case opStatfs:
		return make([]byte, 80), 0
	case opRelease, opReleasedir, opFlush, opAccess:
		return nil, 0
	}
	return nil, syscall.ENOSYS
}

// forever is how long the kernel may keep what it was told, in seconds.
const forever = 3600

// put appends numbers of a size.
func put(b []byte, size int, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = append(b, binary.NativeEndian.AppendUint64(nil, n)[:size]...)
	}
	return b
}

// attributes appends what a node is (struct fuse_attr).
func (d *disk) attributes(b []byte, id uint64) []byte {
	n, mode := d.node(id), uint64(syscall.S_IFREG|0o644)
	if n.data == nil {
		mode = syscall.S_IFDIR | 0o755
	}
	b = put(b, 8, id, uint64(len(n.data)), 0, 0, 0, 0)
	return put(b, 4, 0, 0, 0, mode, 1, uint64(d.owner), uint64(d.owner), 0, 4096, 0)
}

// list returns the entries of a directory from one on (struct fuse_dirent).
func (d *disk) list(id, from uint64) (b []byte) {
	for i := int(from); i < len(d.nodes); i++ {
		n := d.nodes[i]
		if i == 0 || n.in != id {
			continue
		}
		typ := uint64(syscall.DT_REG)
		if n.data == nil {
			typ = syscall.DT_DIR
		}
		b = put(put(b, 8, uint64(i+1), uint64(i+1)), 4, uint64(len(n.name)), typ)
		b = append(b, n.name...)
		b = append(b, make([]byte, (8-len(n.name)%8)%8)...)
	}
	return b
}
