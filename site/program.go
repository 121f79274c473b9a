package site

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// The source of a program is private: it may contain passwords. Some names mark a program
// (selector.IsProgram). Other servers also run a file of any name if it begins like a program
// and a map includes it, or links it as a menu or a search. So the scan reads all maps and
// records such files by their real names; file.go checks the first bytes when they are opened.
// A map's link counts only in its own tree, so that no user can hide another user's files.

// findings are what the scan has found in a directory, besides its entries.
type findings struct {
	links []link
	via   []string // real directories that the targets of links and maps depend on

	included map[string]bool   // real names of files that maps include or link; true if an interpreter runs the file
	problems []diag.Diagnostic // about programs and links that are too long
	menus    []string          // selectors of menus that programs print
	shown    []shown
	escaped  []string // selectors that contain a percent-escape
	left     leftOut
}

func (f *findings) none() bool {
	return len(f.links)+len(f.via)+len(f.included)+len(f.problems)+len(f.menus)+len(f.shown)+
		len(f.escaped)+len(f.left.why) == 0
}

// names records what the names of the directory tell.
func (r *reading) names(list []disk.Dirent) {
	p := &r.found
	for _, e := range list {
		name := selector.Join(r.at.name, e.Base)
		if selector.Decoded(e.Base) != e.Base && len(p.escaped) < maxEscaped {
			p.escaped = append(p.escaped, selector.Canonical(name, e.IsDir()))
		}
		if selector.IsProgram(e.Base) && !r.answers("/"+name) {
			p.problems = append(p.problems, diag.Diagnostic{
				Code:     menu.CodeProgram,
				Severity: diag.Warning,
				File:     name,
				Message:  "a program, or a directory of programs, by its name",
				Hint:     "gophd starts no program and does not show its source",
			})
		}
		if r.root.Trees[selector.Join(r.at.real, e.Base)] != nil {
			continue // the top of another tree, which need not be in this directory
		}
		switch reason := selector.Refusal(e.Base); {
		case r.unreadable[e.Base]:
			r.leave(e.Base, "that gophd may not read")
		case reason == "", reason == selector.Source, reason == selector.Program, e.Base[0] == '.':
		default:
			r.leave(e.Base, "whose names no menu can list")
		}
	}
}

// readMaps records the programs of the directory's maps.
func (r *reading) readMaps(list []disk.Dirent) {
	p := &r.found
	b := menu.Builder{FS: scanned{r}, Answers: r.answers}
	if r.conf.Runs != nil {
		// Nothing is run to read a map.
		b.Run = func(name, _ string) (string, bool, error) { return "", r.conf.Runs(name), nil }
	}
	isListed := false
	read := func(at string, dir bool) {
		sources := b.Sources(at)
		isListed = isListed || dir && sources.Listed
		if sources.Run {
			p.menus = append(p.menus, selector.Canonical(at, dir))
		}
		p.problems = append(p.problems, sources.Problems...)
		if p.included == nil && len(sources.Included)+len(sources.Linked) > 0 {
			p.included = map[string]bool{}
		}
		for _, name := range sources.Included {
			p.shown = append(p.shown, shown{name, selector.Canonical(at, dir)})
			real := r.include(name)
			p.included[real] = p.included[real] || slices.Contains(sources.Interpreted, name)
		}
		for _, name := range sources.Linked {
			real := r.include(name)
			if _, known := p.included[real]; !known && r.mayRun(real) {
				p.included[real] = false
			}
		}
	}
	if slices.ContainsFunc(list, func(e disk.Dirent) bool {
		return menu.IsMap(e.Base) || selector.Refusal(e.Base) == selector.Source ||
			e.Base == "index.dcgi" && r.conf.Runs != nil
	}) {
		read(r.at.name, true)
	}
	var names []string
	for _, e := range list {
		if menu.IsMenuFile(e.Base) && !e.IsDir() && !menu.IsMap(e.Base) {
			read(selector.Join(r.at.name, e.Base), false)
		}
		if menu.IsMap(e.Base) || menu.IsMenuFile(e.Base) || e.Base == "index.gmi" {
			names = append(names, e.Base)
		}
	}
	p.shown = append(p.shown, shownIn(r.at.name, names, isListed)...)
}

// maxMenus is the number of menus printed by programs in a top-level directory above which
// robots.txt denies the whole directory. It bounds the lines that one author can cause.
const maxMenus = 16

// menus returns the selectors of all menus that programs print.
func (s *scanner) menus() (list []string) {
	byTop := map[string][]string{}
	for _, p := range s.found {
		for _, sel := range p.menus {
			top, _, below := strings.Cut(sel[1:], "/")
			if policy.CheckProgram(sel) != nil {
				continue
			} else if !below {
				top = ""
			}
			byTop[top] = append(byTop[top], sel)
		}
	}
	for top, menus := range byTop {
		if len(menus) > maxMenus && top != "" {
			menus = []string{"/" + top}
		}
		list = append(list, menus...)
	}
	slices.Sort(list)
	return list
}

// answers reports whether a program of Config.Programs answers a selector.
func (s *scanner) answers(sel string) bool {
	return isAnswered(s.conf.Programs, sel)
}

// Answers reports whether a program answers a selector, or a selector above it.
func (s *Snapshot) Answers(sel string) bool {
	sel, _, _ = strings.Cut(sel, "?")
	for n := 1; n <= len(sel); n++ {
		if (n == len(sel) || sel[n] == '/') && isAnswered(s.Compiled.Programs(), sel[:n]) {
			return true
		}
	}
	return false
}

// isAnswered reports whether one of programs (see Config.Programs) answers a selector.
func isAnswered(programs []string, sel string) bool {
	return slices.ContainsFunc(programs, func(p string) bool {
		if ext, ok := strings.CutPrefix(p, "/*"); ok {
			return strings.HasSuffix(sel, ext)
		}
		if below, ok := strings.CutPrefix(p, "/~*"); ok {
			user, rest, _ := strings.Cut(strings.TrimPrefix(sel, "/"), "/")
			if sel, p = "/"+rest, below; !strings.HasPrefix(user, "~") {
				return false
			}
		}
		return sel == p || strings.HasPrefix(sel, strings.TrimSuffix(p, "/")+"/")
	})
}

// include returns the real name of a file that a map includes or links. It makes the map's
// directory depend on the file's directory, since the file may include others.
func (r *reading) include(name string) string {
	if real, err := r.root.Resolve(r.call, name); err == nil {
		name = real
	}
	if dir, via := path.Dir(name), r.found.via; len(via) == 0 || via[len(via)-1] != dir {
		r.found.via = append(via, dir)
	}
	return name
}

// mayRun reports whether the target of a map's link is in the directory's own tree, and
// is a file or missing.
func (r *reading) mayRun(real string) bool {
	_, ours, _ := r.root.At(r.at.real)
	if _, its, _ := r.root.At(real); its != ours {
		return false
	}
	rev, err := r.root.Lstat(r.call, real)
	return err != nil || !rev.FileMode().IsDir()
}

// scanned is the fs.FS through which the scan reads maps.
type scanned struct{ *reading }

// Open opens a file.
func (s scanned) Open(name string) (fs.File, error) {
	f, err := s.root.Open(s.call, name)
	s.mind(err)
	s.noteBusy(err)
	if err != nil {
		return nil, err
	}
	return &disk.CallReader{Handle: f, Call: s.call}, nil
}

// included returns the real names of all files that maps include or link. While a map cannot
// be read because of a lease, it adds the names of the old Snapshot.
func (s *scanner) included(old *Snapshot) map[string]bool {
	names := map[string]bool{}
	if len(s.busy) > 0 {
		maps.Copy(names, old.included)
	}
	for _, p := range s.found {
		for name, interpreted := range p.included {
			names[name] = names[name] || interpreted
		}
	}
	return names
}

// foundPrograms returns the diagnostics about programs and left-out names.
func (s *scanner) foundPrograms() []diag.Diagnostic {
	var list []diag.Diagnostic
	var left leftOut
	for _, dir := range slices.Sorted(maps.Keys(s.found)) {
		p := s.found[dir]
		list = append(list, p.problems...)
		for why, n := range p.left.why {
			left.add(p.left.first, why, n)
		}
	}
	slices.SortFunc(list, diag.Compare)
	if left.why != nil {
		list = slices.Insert(list, 0, left.diagnostic())
	}
	return list
}

// leftOut counts the names that are not served, for one report about the whole tree. Dotfiles
// and maps do not count; programs have reports of their own.
type leftOut struct {
	first string         // one of them
	why   map[string]int // how many there are, by reason
}

func (l *leftOut) add(first, why string, n int) {
	if l.why == nil {
		*l = leftOut{first, map[string]int{}}
	}
	l.why[why] += n
}

// leave counts a name of the directory.
func (r *reading) leave(base, why string) {
	r.found.left.add(selector.Join(r.at.name, base), why, 1)
}

// refusedLink records a symbolic link that is not followed.
func (r *reading) refusedLink(base string, err error) {
	switch {
	case errors.Is(err, disk.ErrTooManyLinks):
		r.found.problems = append(r.found.problems, tooManyLinks(selector.Join(r.at.name, base)))
	case errors.Is(err, disk.ErrEscapes):
		r.leave(base, "out of the tree by a link")
	}
}

// diagnostic returns the counts as one line.
func (l leftOut) diagnostic() diag.Diagnostic {
	names := 0
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(l.why)) {
		names += l.why[why]
		parts = append(parts, fmt.Sprintf("%d %s", l.why[why], why))
	}
	text := "left out: "
	if names > 1 {
		text = fmt.Sprintf("left out: %d names, such as this one: ", names)
	}
	return diag.Diagnostic{
		Code:     "LEFT-OUT",
		Severity: diag.Warning,
		File:     l.first,
		Message:  text + strings.Join(parts, ", "),
		Hint:     "gophd check DIR lists all of them",
	}
}
