package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// FS returns a Site of a tree that does not change: an embedded one, a zip file, or
// an [os.DirFS], whose links are followed wherever they lead. It has a robots.txt,
// menus, feeds and all like a directory. Run reads it once. Of conf, only Programs,
// Own, Log and Reloaded matter. A file that cannot be read at any offset is read into
// memory whenever it is opened, 64 MiB at most.
func FS(fsys fs.FS, conf Config) *Site {
	s := &Site{fsys: fsys, conf: conf, log: conf.Log, clock: time.Now, opened: time.Now(), ready: make(chan struct{}), wanted: make(chan struct{}), guard: &stall.Guard{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.problems.log = s.log
	s.served.Store(&served{})
	return s
}

// Close frees what Open has opened. Run must have ended.
func (s *Site) Close() {
	if root := s.served.Load().root; root != nil {
		root.Close()
	}
}

// maxInMemory bounds a file that is read into memory to be served, in bytes.
const maxInMemory = 64 << 20

// file has the methods of an opened file that a Resource needs.
type file interface {
	fs.File
	io.ReaderAt
	io.Seeker
}

// inMemory is a file whose content was read into memory.
type inMemory struct {
	fs.File
	*bytes.Reader
}

func (f inMemory) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// openFS opens a name of Site.fsys.
func (v *View) openFS(name string) (*Resource, error) {
	f, err := v.site.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	all, ok := f.(file)
	if err == nil && !ok {
		var data []byte
		if !info.IsDir() {
			data, err = io.ReadAll(io.LimitReader(f, maxInMemory+1))
		}
		if err == nil && len(data) > maxInMemory {
			err = fmt.Errorf("%s: more than %d MiB, and no way to read a part", name, maxInMemory>>20)
		}
		all = inMemory{f, bytes.NewReader(data)}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &Resource{file: all, Name: name, Real: name, Info: info, view: v}, nil
}

// readFS lists the entries of a directory of Site.fsys that are served.
func (v *View) readFS(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(v.site.fsys, name)
	list := all[:0:0]
	for _, e := range all {
		if spent := v.keeps(direntSize + len(e.Name()) + len(name)); spent != nil {
			return list, spent
		}
		served := selector.Askable(e.Name()) && (e.IsDir() || e.Type().IsRegular())
		if served && !v.program(selector.Join(name, e.Name())) {
			list = append(list, e)
		}
	}
	return list, err
}

// runFS makes the snapshot of Site.fsys and waits for the end.
func (s *Site) runFS(ctx context.Context) error {
	start := time.Now()
	scan := newScanner(nil)
	scan.answered = s.conf.Programs
	tree, err := s.scanFS(scan, ".")
	if err != nil {
		return fmt.Errorf("reading the content tree: %w", err)
	}
	snap := compile(s.conf, tree, nil, scan)
	s.serve(func(next *served) { next.snap = snap })
	close(s.ready)
	s.report(snap)
	if s.conf.Reloaded != nil {
		s.conf.Reloaded(Reload{Start: start, Took: time.Since(start), Everything: true, Err: snap.leak})
	}
	<-ctx.Done()
	s.guard.Stop()
	return nil
}

// scanFS reads a directory of Site.fsys and those below it.
func (s *Site) scanFS(scan *scanner, at string) (*Dir, error) {
	list, err := fs.ReadDir(s.fsys, at)
	if err != nil && at == "." {
		return nil, err
	}
	d := &Dir{Name: strings.TrimPrefix(path.Base(at), ".")}
	if err != nil {
		d.Notes = append(d.Notes, unlisted(place{name: at}, err))
	}
	var p programs
	var names []string
	b := menu.Builder{FS: s.fsys, Answers: scan.answers} // an fs.FS has no programs that could be run
	for _, e := range list {
		name := selector.Join(at, e.Name())
		switch {
		case e.Name() == noteName || at == "." && e.Name() == handName && !e.IsDir():
			d.Notes = slices.Insert(d.Notes, 0, s.noteFS(name))
		case !e.IsDir() && isStray(e.Name()):
			d.Strays = append(d.Strays, e.Name())
		case menu.IsMap(e.Name()):
			p.add(b.Sources(at), selector.Canonical(at, true))
		case menu.IsMenuFile(e.Name()):
			p.add(b.Sources(name), selector.Canonical(name, false))
		}
		names = append(names, e.Name())
		switch {
		case !selector.Askable(e.Name()) || len(name) >= maxName:
		case e.IsDir():
			sub, err := s.scanFS(scan, name)
			if err != nil {
				return nil, err
			}
			d.Dirs = append(d.Dirs, sub)
		case e.Type().IsRegular():
			d.Files = append(d.Files, s.fileFS(name, e))
			if _, ok := menu.DatedText(e.Name()); ok {
				d.Phlog = true
			}
		}
	}
	slices.SortFunc(d.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if at == "." {
		d.addCaps()
	}
	slices.SortFunc(d.Dirs, func(a, b *Dir) int { return cmp.Compare(a.Name, b.Name) })
	p.shown = append(p.shown, shownIn(at, names)...)
	scan.programs[at] = p
	return d, nil
}

// fileFS returns the record of a file of Site.fsys.
func (s *Site) fileFS(name string, e fs.DirEntry) File {
	f := File{Name: e.Name()}
	info, err := e.Info()
	if err != nil {
		return f
	}
	f.Size, f.Modified, f.Changed = info.Size(), info.ModTime().UnixNano(), s.opened.UnixNano()
	typ, known := menu.TypeOf(f.Name)
	if f.Type = typ; known && !menu.IsMenuFile(f.Name) {
		return f
	}
	in, err := s.fsys.Open(name)
	if err != nil {
		return f
	}
	defer func() { _ = in.Close() }()
	head, _ := io.ReadAll(io.LimitReader(in, 512))
	switch {
	case !menu.IsMenuFile(f.Name):
		f.Type = menu.Sniff(head)
	case !menu.IsProgram(head):
		f.Type = menu.TypeMenu
	}
	return f
}

// add records the files that a map includes or links, and its programs.
func (p *programs) add(sources menu.Sources, sel string) {
	for _, name := range sources.Included {
		p.shown = append(p.shown, shown{name, sel})
	}
	if p.included == nil {
		p.included = map[string]bool{}
	}
	for _, name := range slices.Concat(sources.Included, sources.Linked) {
		p.included[name] = p.included[name] || slices.Contains(sources.Interpreted, name)
	}
	p.found = append(p.found, slices.DeleteFunc(sources.Problems, func(d diag.Diagnostic) bool { return d.Code != menu.CodeProgram })...)
}

// noteFS reads an annotation of Site.fsys, one byte more than it may have at most.
func (s *Site) noteFS(name string) *policy.Annotation {
	a := &policy.Annotation{Dir: selector.Canonical(path.Dir(name), true), File: name}
	f, err := s.fsys.Open(name)
	if err != nil {
		a.Err = err
		return a
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		a.Err = errors.New("is a directory")
		return a
	}
	a.Data, a.Err = io.ReadAll(io.LimitReader(f, maxNote+1))
	return a
}
