package daemon

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/internal/search"
)

// An ownFile is a file that gophd itself reads or writes, besides the trees.
type ownFile struct {
	flag  string   // that names it
	dir   bool     // the flag names its directory
	path  string   // the file
	with  []string // files that must be moved with it
	state string   // its directory in the packaged service
}

// ownFiles lists keys, certificates, the access log and the search index.
func (f *Flags) ownFiles() (all []ownFile) {
	const state, logs = "/var/lib/gophd", "/var/log/gophd"
	for _, name := range f.TLSKey {
		all = append(all, ownFile{flag: "tls-key", path: name, state: state})
	}
	for _, name := range f.TLSCert {
		all = append(all, ownFile{flag: "tls-cert", path: name, state: state})
	}
	if dir := f.TLSSelfSigned; dir != "" {
		pairs := f.SelfSigned()
		file := ownFile{
			flag:  "tls-self-signed",
			dir:   true,
			path:  pairs[0].Key,
			with:  []string{pairs[0].Cert},
			state: state,
		}
		for _, pair := range pairs[1:] {
			file.with = append(file.with, pair.Key, pair.Cert)
		}
		all = append(all, file)
	}
	if f.AccessLog != "" && !strings.HasPrefix(f.AccessLog, "/dev/") {
		all = append(all, ownFile{
			flag:  "access-log",
			path:  f.AccessLog,
			state: logs,
		})
	}
	if f.Search && f.SearchDir != "" {
		files := search.Files(f.SearchDir)
		all = append(all, ownFile{
			flag:  "search-dir",
			dir:   true,
			path:  files[0],
			with:  files[1:],
			state: state,
		})
	}
	return all
}

// outside returns an error if a file of gophd itself is in a served directory, from which clients
// could fetch it. The hint is the command that moves it out of all trees, and the setting to change.
func (c *Settings) outside(o ownFile, trees servedDirs) error {
	tree := trees.holding(o.path)
	if tree == "" {
		return nil
	}
	err := fmt.Errorf("%s: %s is in the directory of %s: keep it outside the served tree",
		c.option(o.flag), o.path, tree)

	// Choose a directory that no flag serves.
	candidates := c.PrivateDirs(o.state, systemd.InUnit())
	to := candidates[0]
	for _, dir := range candidates {
		if trees.holding(dir) == "" {
			to = dir
			break
		}
	}
	own := realPath(o.path)
	setting := filepath.Join(to, filepath.Base(own))
	if o.dir {
		setting = to
	}

	command := diag.Command("mkdir", "-p", "-m", "700", "--", to)
	move := []string{"mv", "--"}
	for _, name := range append([]string{own}, o.with...) {
		if _, err := files.Lstat(name); err == nil {
			move = append(move, name)
		}
	}
	if len(move) > 2 {
		return c.change(err, command+" && "+diag.Command(append(move, to)...), o.flag, setting)
	}
	e := c.change(err, command, o.flag, setting)
	e.Hint = "a directory that is not served: " + c.option(o.flag, setting)
	return e
}

// A servedDir is a directory that is served, and the option that names it.
type servedDir struct {
	flag   string // its name, such as "mount"
	option string // the flag or variable that names it
	path   string
	info   os.FileInfo // in servedDirs
}

// dirs lists the directories of all hosts, and the mounts.
func (c *Settings) dirs() (all []servedDir) {
	for i, h := range c.hosts {
		if i == 0 {
			all = append(all, servedDir{
				flag:   "root",
				option: c.option("root"),
				path:   h.dir,
			})
		} else {
			all = append(all, servedDir{
				flag:   "vhost",
				option: c.option("vhost", h.name+"="+h.dir),
				path:   h.dir,
			})
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(c.site.Mounts)) {
		dir := c.site.Mounts[prefix]
		all = append(all, servedDir{
			flag:   "mount",
			option: c.option("mount", "/"+prefix+"="+dir),
			path:   dir,
		})
	}
	return all
}

type servedDirs []servedDir

// servedDirs lists the directories of all sites that exist: roots, mounts and homes.
func (c *Settings) servedDirs() (all servedDirs) {
	dirs := c.dirs()
	_, users := c.userDirs()
	for _, path := range users {
		dirs = append(dirs, servedDir{option: c.option("users"), path: path})
	}
	for _, dir := range dirs {
		if info, err := files.Stat(dir.path); err == nil {
			dir.info = info
			all = append(all, dir)
		}
	}
	return all
}

// holding returns the option of the directory that contains a path, as written or with its
// links resolved, or "" if none does.
func (s servedDirs) holding(path string) string {
	abs, _ := filepath.Abs(path)
	for _, start := range []string{abs, realPath(path)} {
		for at := start; ; at = filepath.Dir(at) {
			info, _ := files.Stat(at)
			for _, dir := range s {
				if info != nil && os.SameFile(info, dir.info) {
					return dir.option
				}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return ""
}

// realPath resolves the links of a path, whose last elements need not exist.
func realPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := abs; at != filepath.Dir(at); at = filepath.Dir(at) {
		if real, err := files.RealPath(at); err == nil {
			return filepath.Join(real, rest)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
	return abs
}
