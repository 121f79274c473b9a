package watch

import (
	"bufio"
	"bytes"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/selector"
)

// mountInfo lists the file systems of this process (proc_pid_mountinfo(5)).
const mountInfo = "/proc/self/mountinfo"

// maxMountInfo is the largest part of it that is read, in bytes.
const maxMountInfo = 16 << 20

// Files returns the files that a Watcher reads besides its trees, for a sandbox.
func Files() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{mountInfo}
}

// mount is a file system and where it is mounted.
type mount struct {
	point string
	kind  string
	id    string // of this mount; it is another one after it was mounted again
}

// remote reports whether another machine, or a program, may change the file system
// without an event from this kernel.
func (m mount) remote() bool {
	if sub, isFUSE := strings.CutPrefix(m.kind, "fuse."); isFUSE {
		return sub != ""
	}
	return slices.Contains([]string{
		"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "9p", "fuse", "virtiofs", "afs", "coda",
		"ocfs2", "gfs2", "lustre", "gpfs", "beegfs", "orangefs", "vboxsf", "prl_fs", "vmhgfs",
	}, m.kind)
}

// parseMounts reads the format of mountInfo.
func parseMounts(data []byte) (all []mount) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if ok && len(f) >= 5 && len(kind) > 0 {
			all = append(all, mount{point: octal.Replace(f[4]), kind: kind[0], id: f[0] + " " + f[2]})
		}
	}
	return all
}

// octal decodes what mountinfo escapes: blank, tab, newline and backslash.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mounts holds all mounts of this process, as last read.
type mounts struct {
	data []byte // as it was read the last time
	at   map[string]mount
}

// look reads which file systems are mounted, and returns the mount points that changed
// since the last call; none at the first.
func (m *mounts) look() (changed []string) {
	data, err := disk.Caller(disk.Direct).ReadFile(mountInfo, maxMountInfo)
	if err != nil || bytes.Equal(data, m.data) {
		return nil
	}
	now := make(map[string]mount)
	for _, mount := range parseMounts(data) {
		now[mount.point] = mount // one that is mounted over another is listed later
	}
	for point, mount := range now {
		if m.at[point].id != mount.id {
			changed = append(changed, point)
		}
	}
	for point := range m.at {
		if _, still := now[point]; !still {
			changed = append(changed, point)
		}
	}
	first := m.data == nil
	m.data, m.at = data, now
	if first {
		return nil
	}
	return changed
}

// of returns the mount that a directory lies on.
func (m *mounts) of(dir string) mount {
	for {
		if mount, ok := m.at[dir]; ok {
			return mount
		}
		up := filepath.Dir(dir)
		if up == dir {
			return mount{}
		}
		dir = up
	}
}

// remote returns the names at which remote file systems begin, and their kinds:
// trees that lie on one, and mount points below trees.
func (m *mounts) remote(call disk.Caller, names *names) map[string]string {
	found := make(map[string]string)
	for name, dir := range names.all() {
		real, err := call.RealPath(dir)
		if err != nil {
			continue
		}
		if on := m.of(real); on.remote() {
			found[name] = on.kind
		}
		for point, mount := range m.at {
			if rest, ok := strings.CutPrefix(point, strings.TrimSuffix(real, "/")+"/"); ok && mount.remote() {
				found[selector.Join(name, rest)] = mount.kind
			}
		}
	}
	return found
}

// names returns the names of a mount point that is in a tree, and reports whether
// a whole tree lies at or below it.
func (m *mounts) names(call disk.Caller, names *names, point string) (in []string, above bool) {
	for name, dir := range names.all() {
		if real, err := call.RealPath(dir); err == nil {
			dir = real
		}
		switch rest, below := strings.CutPrefix(point, strings.TrimSuffix(dir, "/")+"/"); {
		case below:
			in = append(in, selector.Join(name, rest))
		case point == dir || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/"):
			above = above || name == "."
			in = append(in, name)
		}
	}
	return in, above
}
