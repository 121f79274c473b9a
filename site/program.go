package site

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site/internal/disk"
)

// The source of a program is its author's, passwords and all. By its name a
// program is known wherever it lies (selector.Askable); but what a map includes is
// one that other servers run if it begins like one, whatever it is called. So the
// scan reads all maps, and notes what they include by its real name; the beginning of
// such a file is looked at when it is opened.

// programs are what the maps of a directory run elsewhere.
type programs struct {
	included map[string]bool   // the files that they include, by their real names; true: an interpreter runs them
	found    []diag.Diagnostic // they, and links that are too long
	left     leftOut
}

// readMaps notes what the maps of a directory include, and its programs.
func (r *reading) readMaps(list []disk.Dirent) {
	var p programs
	for _, e := range list {
		if selector.IsProgram(e.Base) && !r.answers("/"+selector.Join(r.at.name, e.Base)) {
			p.found = append(p.found, diag.Diagnostic{Code: menu.CodeProgram, Severity: diag.Warning, File: selector.Join(r.at.name, e.Base),
				Message: "a program by its name", Hint: "gophd starts no program and does not show its source"})
		}
	}
	b := menu.Builder{FS: scanned{r.scanner}, Answers: r.answers}
	read := func(name string) {
		files, interpreted, found := b.Includes(name)
		p.found = append(p.found, found...)
		if p.included == nil && len(files) > 0 {
			p.included = make(map[string]bool, len(files))
		}
		for _, name := range files {
			real := r.include(name)
			p.included[real] = p.included[real] || slices.Contains(interpreted, name)
		}
	}
	if slices.ContainsFunc(list, func(e disk.Dirent) bool { return menu.IsMap(e.Base) || selector.Refusal(e.Base) == selector.Source }) {
		read(r.at.name)
	}
	for _, e := range list {
		if menu.IsMenuFile(e.Base) && !e.IsDir() && !menu.IsMap(e.Base) {
			read(selector.Join(r.at.name, e.Base))
		}
	}
	p.left = r.leaveOut(list)
	delete(r.programs, r.at.name)
	if len(p.included)+len(p.found) > 0 || p.left != (leftOut{}) {
		r.programs[r.at.name] = p
	}
}

// answers reports whether a program beside the site answers a selector.
func (s *scanner) answers(sel string) bool { return isAnswered(s.answered, sel) }

// isAnswered reports whether one of the programs, which are as in Config, answers a
// selector.
func isAnswered(programs []string, sel string) bool {
	return slices.ContainsFunc(programs, func(p string) bool {
		if ext, ok := strings.CutPrefix(p, "/*"); ok {
			return strings.HasSuffix(sel, ext)
		}
		return sel == p || strings.HasPrefix(sel, strings.TrimSuffix(p, "/")+"/")
	})
}

// include returns the real name of a file that a map includes. If something
// changes there, the map is read again: the file may include others.
func (r *reading) include(name string) string {
	if real, err := r.root.Resolve(r.call, name); err == nil {
		name = real
	}
	r.links.via = append(r.links.via, path.Dir(name))
	return name
}

// scanned is the tree as the scan reads maps in it.
type scanned struct{ *scanner }

// Open opens a file.
func (s scanned) Open(name string) (fs.File, error) {
	f, _, _, err := s.root.Open(s.call, name)
	s.mind(err)
	if err != nil {
		return nil, err
	}
	return &disk.Reader{File: f, Call: s.call, At: name}, nil
}

// included are the real names of all files that maps include.
func (s *scanner) included() map[string]bool {
	names := map[string]bool{}
	for _, p := range s.programs {
		for name, interpreted := range p.included {
			names[name] = names[name] || interpreted
		}
	}
	return names
}

// foundPrograms are the programs of the tree.
func (s *scanner) foundPrograms() []diag.Diagnostic {
	var list []diag.Diagnostic
	var left leftOut
	for _, dir := range slices.Sorted(maps.Keys(s.programs)) {
		p := s.programs[dir]
		list = append(list, p.found...)
		left.add(p.left)
	}
	slices.SortFunc(list, diag.Compare)
	if left != (leftOut{}) {
		list = slices.Insert(list, 0, left.diagnostic())
	}
	return list
}

// remap publishes what maps include where nothing else has changed.
func (s *Site) remap(old *Snapshot) {
	next := *old
	next.included, next.programs = s.scan.included(), s.scan.foundPrograms()
	next.changed = maps.Clone(s.scan.changed)
	if maps.Equal(old.included, next.included) && slices.Equal(old.programs, next.programs) && maps.Equal(old.changed, next.changed) {
		return
	}
	s.serve(func(now *served) { now.snap = &next })
	s.changes.touch(usersDir)
	s.touchPrograms(old, &next)
	s.problems.report(next.programs)
}

// touchPrograms drops all replies if maps include other files now: a listing or a
// reply may hold what is a program.
func (s *Site) touchPrograms(old, next *Snapshot) {
	if old == nil || !maps.Equal(old.included, next.included) {
		s.touch("")
	}
}

// errProgram is why the source of a program is not there.
var errProgram = fmt.Errorf("a program: %w", fs.ErrNotExist)

// suspect reports whether a file of that real name is a program if it begins like
// one. Before the first scan nobody knows what maps include, so that any is.
func (s *Site) suspect(real string) bool {
	snap := s.Now()
	if snap == nil {
		return true
	}
	_, included := snap.included[real]
	return included
}

// refuseProgram is errProgram for an opened file that is a program: by its real
// name, whatever a link to it is called, by what it begins with, or since a program
// beside the site answers what it is called: only that one reads it.
func (s *Site) refuseProgram(f *Resource) error {
	real := f.Real
	var head [menu.ProgramHead]byte
	for elem := range strings.SplitSeq(real, "/") {
		if selector.IsProgram(elem) {
			return &fs.PathError{Op: "open", Path: real, Err: errProgram}
		}
	}
	if !f.Info.IsDir() && (isAnswered(s.conf.Programs, "/"+real) || isAnswered(s.conf.Programs, "/"+f.Name)) {
		return &fs.PathError{Op: "open", Path: f.Name, Err: errProgram}
	}
	if !s.suspect(real) {
		return nil
	}
	snap := s.Now()
	if n, _ := f.ReadAt(head[:], 0); !menu.IsProgram(head[:n]) && (snap == nil || !snap.included[real]) {
		return nil
	}
	return &fs.PathError{Op: "open", Path: real, Err: errProgram}
}
