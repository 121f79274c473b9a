package site

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// dump writes a tree down, so that two can be compared.
func dump(d *Dir) string {
	var b strings.Builder
	dumpDir(&b, d, "")
	return b.String()
}

func dumpDir(b *strings.Builder, d *Dir, indent string) {
	fmt.Fprintf(b, "%s%s/", indent, d.Name)
	for _, f := range d.Files {
		fmt.Fprintf(b, " %q", f.Name)
	}
	b.WriteString("\n")
	for _, n := range d.Notes {
		fmt.Fprintf(b, "%s  %s: %q %v\n", indent, n.File, n.Data, n.Err)
	}
	for _, sub := range d.Dirs {
		dumpDir(b, sub, indent+"  ")
	}
}

// played is a content tree that is changed at random. It notes the directories
// that a watcher would name.
type played struct {
	dir   string
	dirs  map[string]bool
	files map[string][]string // of directories in which only these files have changed
	all   bool
}

// edited notes that a file was made, has changed or is gone.
func (p *played) edited(name string) {
	if dir := path.Dir(name); !p.dirs[dir] {
		p.files[dir] = append(p.files[dir], path.Base(name))
	}
}

var (
	playedNames = []string{"a", "b", "c", "d.txt", "2026-01-01.txt"}
	playedRules = []string{"Disallow: /\n", "Disallow: /a\n", "Allow: /b/\nDisallow: /b\n",
		"User-agent: x\nDisallow: /c\n", "Crawl-delay: 5\n", "nonsense\n", ""}
)

// name draws a name of one to three elements.
func (p *played) name(t *rapid.T, label string) string {
	n := rapid.IntRange(1, 3).Draw(t, label+" depth")
	return path.Join(rapid.SliceOfN(rapid.SampledFrom(playedNames), n, n).Draw(t, label)...)
}

// changed notes that a name was made or is gone, and what is below it.
func (p *played) changed(name string) {
	p.dirs[path.Dir(name)] = true
	_ = filepath.WalkDir(filepath.Join(p.dir, name),
		func(at string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				rel, _ := filepath.Rel(p.dir, at)
				p.dirs[filepath.ToSlash(rel)] = true
			}
			return nil
		})
}

// plain reports whether no element of a name but the last is a link: what is done
// through links is noted for the names they lead to, which is not the point.
func (p *played) plain(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(p.dir, dir)); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}

func (p *played) step(t *rapid.T) {
	name := p.name(t, "name")
	if !p.plain(name) {
		return
	}
	at := filepath.Join(p.dir, name)
	info, err := os.Lstat(at)
	isDir, exists := err == nil && info.IsDir(), err == nil
	switch op := rapid.SampledFrom([]string{"write", "mkdir", "note", "link", "linked note",
		"remove", "move", "hand"}).Draw(t, "op"); op {
	case "write":
		if exists && !info.Mode().IsRegular() {
			return // not through a link
		}
		if os.WriteFile(at, []byte("x"), 0o644) == nil {
			p.edited(name)
		}
	case "mkdir":
		if os.MkdirAll(at, 0o755) == nil {
			top, _, _ := strings.Cut(name, "/")
			p.changed(top)
		}
	case "note":
		if isDir {
			_ = os.Remove(filepath.Join(at, noteName))
			_ = os.WriteFile(filepath.Join(at, noteName),
				[]byte(rapid.SampledFrom(playedRules).Draw(t, "rules")), 0o644)
			p.edited(path.Join(name, noteName))
		}
	case "hand":
		_ = os.Remove(filepath.Join(p.dir, handName))
		_ = os.WriteFile(filepath.Join(p.dir, handName),
			[]byte(rapid.SampledFrom(playedRules).Draw(t, "rules")), 0o644)
		p.dirs["."] = true
	case "link", "linked note":
		target := p.target(t, name)
		if op == "linked note" {
			if !isDir {
				return
			}
			name, at = path.Join(name, noteName), filepath.Join(at, noteName)
			_ = os.Remove(at)
		} else if exists {
			_ = os.RemoveAll(at)
		}
		_ = os.Symlink(target, at)
		p.changed(name)
	case "remove":
		_ = os.RemoveAll(at)
		if exists && !isDir {
			p.edited(name)
		} else {
			p.changed(name)
		}
	case "move":
		to := p.name(t, "to")
		if !exists || !p.plain(to) || os.Rename(at, filepath.Join(p.dir, to)) != nil {
			return
		}
		p.all = p.all || isDir
		if p.edited(name); isDir {
			p.changed(to)
		} else {
			p.edited(to)
		}
	}
}

// target draws what a link leads to: below the root or not, there or not.
func (p *played) target(t *rapid.T, name string) string {
	to := p.name(t, "target")
	switch rapid.SampledFrom([]string{"relative", "absolute", "up", "out"}).Draw(t, "kind") {
	case "absolute":
		return filepath.Join(p.dir, to)
	case "up":
		return ".."
	case "out":
		return "/etc/hostname"
	}
	rel, _ := filepath.Rel(filepath.Join(p.dir, path.Dir(name)), filepath.Join(p.dir, to))
	return rel
}

// take returns what changed since the last time.
func (p *played) take() (dirs []string, files map[string][]string, all bool) {
	maps.DeleteFunc(p.files, func(dir string, _ []string) bool { return p.dirs[dir] })
	for dir := range p.files {
		p.dirs[dir] = true
	}
	dirs, files, all = slices.Sorted(maps.Keys(p.dirs)), p.files, p.all
	p.dirs, p.files, p.all = map[string]bool{}, map[string][]string{}, false
	return dirs, files, all
}

// namesScanner is a scanner that keeps the names of all files.
func namesScanner(r *disk.Root) *scanner {
	return newScanner(r, Config{Files: true}, new(atomic.Int64))
}

// However a tree is changed, reading again what changed gives what reading
// everything gives, and so does compiling it; and what is scanned is what is
// listed.
func TestRescanIsScan(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		must(t, err)
		p := &played{dir: dir, dirs: map[string]bool{}, files: map[string][]string{}}
		s, err := Open(dir, Config{})
		must(t, err)
		scan := namesScanner(s.served.Load().root)
		tree, err := scan.tree()
		must(t, err)
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			for range rapid.IntRange(1, 6).Draw(rt, "steps") {
				p.step(rt)
			}
			whole := namesScanner(s.served.Load().root)
			fresh, err := whole.tree()
			must(t, err)
			before := dump(tree)
			dirs, files, all := p.take()
			if all {
				scan = namesScanner(s.served.Load().root)
				tree, err = scan.tree()
				must(t, err)
			} else {
				tree = scan.rescan(tree, dirs, files)
			}
			if got, want := dump(tree), dump(fresh); got != want {
				rt.Fatalf("read again: %v\nbefore:\n%s\ngot:\n%s\nwant:\n%s", dirs,
					before, got, want)
			}
			differ := map[string][]string{}
			tree.changes(fresh, ".", differ)
			for name := range differ {
				rt.Fatalf("read again: %v\nthe record of %s: %+v\nwant: %+v", dirs, name,
					tree.Find(name), fresh.Find(name))
			}
			if !maps.Equal(scan.aliases, whole.aliases) ||
				!maps.Equal(scan.refused, whole.refused) {
				rt.Fatalf("read again: %v\naliases:\n%v\nwant:\n%v\n%s", dirs, scan.aliases,
					whole.aliases, before)
			}
			compiled := policy.Compile(policy.Input{Annotations: tree.annotations(),
				Aliases: scan.input()})
			if got, want := compiled.File(),
				policy.Compile(policy.Input{Annotations: fresh.annotations(),
					Aliases: whole.input()}).File(); string(got) != string(want) {
				rt.Fatalf("compiled again:\n%s\nwant:\n%s", got, want)
			}
			if got, want := listedTree(s.View(context.Background()), ".", scan.aliases),
				scannedTree(tree, ".", scan.aliases); got != want {
				rt.Fatalf("listed:\n%s\nscanned:\n%s", got, want)
			}
		}
		s.served.Load().root.Close()
		_ = os.RemoveAll(dir)
	})
}

// TestMapsDependOnWhatTheyInclude: a map is read again when a file of any directory has changed
// that it includes, since that may include others.
func TestMapsDependOnWhatTheyInclude(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/gophermap": "=a\n=/lib/b\n", "d/a": "a\n", "lib/b": "b\n",
		"lib/c": "c\n"})
	s, err := Open(dir, Config{})
	must(t, err)
	defer s.Close()
	scan := namesScanner(s.served.Load().root)
	tree, err := scan.tree()
	must(t, err)
	write(t, dir, map[string]string{"lib/b": "=/lib/c\n"})
	scan.rescan(tree, []string{"lib"}, nil)
	if _, is := scan.included(nil)["lib/c"]; !is {
		t.Errorf("included: %v", scan.included(nil))
	}
}

// TestEditReadsNoDirectory: where only files have changed, the others of their directory are not
// read again, unless a menu or the type of the directory may depend on one of them.
func TestEditReadsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x.txt": "x", "d/2026-01-02-a.txt": "",
		"d/sub/y": "", "d/.robots": "Disallow: /x\n"})
	r, err := disk.Caller(disk.Direct).OpenRoot(dir)
	must(t, err)
	defer r.Close()
	scan := namesScanner(r)
	tree, err := scan.tree()
	must(t, err)
	for name, want := range map[string]int64{"x.txt": 0, "new.txt": 0, ".robots": 0, "gone.txt": 0,
		"2026-01-02-a.txt": 0, "2026-01-03-gone.txt": 1, "sub": 1, "gophermap": 1,
		"index.gmi": 1, "a%20b": 1, "x.gph": 1, "robots.txt": 1, ".hidden": 1} {
		if !strings.Contains(name, "gone") && name != "sub" {
			write(t, dir, map[string]string{"d/" + name: "changed"})
		}
		before := scan.scanned.Load()
		tree = scan.rescan(tree, []string{"d"}, map[string][]string{"d": {name}})
		if got := scan.scanned.Load() - before; got != want {
			t.Errorf("%s: %d directories are read, want %d", name, got, want)
		}
	}
}

// listedTree is what menus link, from a directory down, but not through aliases.
func listedTree(v *View, dir string, aliases map[string]link) string {
	entries, err := v.ReadDir(dir)
	if err != nil {
		return fmt.Sprintln(dir, err)
	}
	names := map[string]bool{}
	if dir == "." {
		names[capsName] = false // made if there is none
	}
	for _, e := range entries {
		names[e.Name()] = e.IsDir()
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(names)) {
		full := selector.Join(dir, name)
		text += fmt.Sprintln(full, names[name])
		if _, alias := aliases[full]; names[name] && !alias {
			text += listedTree(v, full, aliases)
		}
	}
	return text
}

func scannedTree(d *Dir, dir string, aliases map[string]link) string {
	names := map[string]bool{}
	for name, l := range aliases {
		if path.Dir(name) == dir {
			names[path.Base(name)] = l.dir
		}
	}
	for _, f := range d.Files {
		names[f.Name] = false
	}
	for _, sub := range d.Dirs {
		names[sub.Name] = true
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(names)) {
		full := selector.Join(dir, name)
		text += fmt.Sprintln(full, names[name])
		if sub := child(d, name); sub != nil {
			text += scannedTree(sub, full, aliases)
		}
	}
	return text
}
