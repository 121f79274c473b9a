package site

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"

	"github.com/gophd/gophd/menu"
)

// A Look is one request's look at the tree. It notes which directories the
// reply is made from, so that the reply can be kept until one of them changes.
// It is for one goroutine.
type Look struct {
	site  *Site
	root  *root
	began uint64
	dirs  map[string]struct{}
	loose bool // something was seen that the watcher does not vouch for
	links bool // among it a symbolic link

	failed error // why what was seen is not all there is
}

// Look begins a look at the tree as it is now.
func (s *Site) Look() *Look {
	r := s.root.Load()
	return &Look{site: s, root: r, began: s.replies.now(), loose: r.remote}
}

// depend notes that the reply depends on what is in a directory.
func (l *Look) depend(dir string) {
	if _, ok := l.dirs[dir]; !ok && !l.loose {
		l.loose = !l.site.watcher.Watched(dir)
		if l.dirs == nil {
			l.dirs = map[string]struct{}{}
		}
		l.dirs[dir] = struct{}{}
	}
}

// Open is Site.Open.
func (l *Look) Open(name string) (*File, error) {
	l.depend(path.Dir(name))
	if !l.site.answers(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, info, err := l.open(name)
	if err == nil && info.Mode().IsRegular() {
		if err = l.site.refuseProgram(l.root, f); err != nil {
			_ = f.Close()
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		who := l.whoForbids(name)
		err = fmt.Errorf("%w: %s", err, who)
		l.site.problems.once(slog.LevelWarn, name, 0, "PERMISSION", "asked for and not readable: "+who)
	}
	if err != nil {
		return nil, err
	}
	return &File{File: f, Name: name, Info: info, guard: l.site.guard}, nil
}

func (l *Look) whoForbids(name string) string {
	op, err := l.site.guard.Enter(name)
	if err != nil {
		return err.Error()
	}
	defer op.Leave()
	return l.root.whoForbids(name)
}

// Instant answers with a regular file if that cannot block, nil if it may: the
// kernel has its name in memory, and all of it, if it is smaller than small. A
// larger one is only opened.
func (l *Look) Instant(name string, small int64) *Answer {
	l.depend(path.Dir(name))
	if !l.site.answers(name) || l.site.suspect(name) {
		return nil
	}
	return l.root.instant(name, small)
}

// Menu makes the menu of a directory, with host and port for this server.
func (l *Look) Menu(name, host string, port int) (menu.Menu, error) {
	b := menu.Builder{FS: view{l}, Host: host, Port: port, InfoPrefix: l.site.conf.InfoPrefix}
	m, err := b.Menu(name)
	if l.failed != nil {
		return menu.Menu{}, l.failed
	}
	l.site.problems.report(m.Problems)
	return m, err
}

// Keep offers a reply for later requests. If it names the server, host and
// port are what it names; if not, host is empty. A reply that hangs on the
// policy, too, says so.
func (l *Look) Keep(selector string, body []byte, host string, port int, policy bool) {
	if l.loose || l.links {
		return
	}
	l.site.replies.put(Answer{Selector: selector, Body: body, host: host, port: port}, l.deps(policy), l.began)
}

// KeepMissing offers the error reply to a selector that names nothing.
func (l *Look) KeepMissing(selector, name string, body []byte, err error) {
	if l.links || l.root.remote {
		return // what it leads to may come into being anywhere
	}
	if dir, ok := l.nearest(path.Dir(name)); ok {
		l.site.misses.put(Answer{Selector: selector, Body: body, Err: err}, []string{dir, policyDir}, l.began)
	}
}

// nearest finds the directory whose change would make a missing name appear.
func (l *Look) nearest(dir string) (string, bool) {
	for dir != "." {
		op, err := l.site.guard.Enter(dir)
		if err != nil {
			return "", false
		}
		info, err := l.root.os.Lstat(dir)
		op.Leave()
		if err == nil && l.site.watcher.Watched(dir) {
			return dir, device(info) == l.root.device
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		dir = path.Dir(dir)
	}
	return dir, l.site.watcher.Watched(dir)
}

// policyDir stands for the policy among the directories of a reply.
const policyDir = "\x00policy"

func (l *Look) deps(policy bool) []string {
	dirs := make([]string, 0, len(l.dirs)+1)
	for d := range l.dirs {
		dirs = append(dirs, d)
	}
	if policy {
		dirs = append(dirs, policyDir)
	}
	return dirs
}

// Cached returns a kept reply to a selector, nil if there is none. Host and
// port are what it is to name as this server.
func (s *Site) Cached(selector []byte, host string, port int) *Answer {
	if a := s.replies.get(selector, host, port); a != nil {
		return a
	}
	return s.misses.get(selector, host, port)
}

// touch drops what was made from a directory.
func (s *Site) touch(dir string) {
	s.replies.touch(dir)
	s.misses.touch(dir)
}
