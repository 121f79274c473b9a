package check

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Examine checks a directory. While the tree is open it calls then, unless nil: path returns the
// path on disk of the file that a finding names.
func Examine(ctx context.Context, dir string, o Options,
	then func(r *Outcome, view *site.View, path func(label string) string)) (*Outcome, error) {
	c, stop, err := begin(ctx, dir, "checking "+dir, o)
	if err != nil {
		return nil, err
	}
	c.crawl(dir)

	// Report what nothing links.
	for _, f := range []*front{c.gopher, c.gemini} {
		for at, d := range f.snap.Tree.All() {
			if f != c.gopher && !f.own(at) {
				continue
			}
			hint := ""
			if slices.ContainsFunc(d.Sources, func(f site.File) bool {
				return f.Name == "gophermap"
			}) {
				hint = "a line * at the end of a gophermap lists what the map does not link"
			}
			for _, name := range f.unlinked(at, d) {
				f.several(at, diag.Notice, codeUnlinked, at, 0, hint, "no menu or page links %s", name)
			}
		}
	}

	// Report what is wrong with the annotations.
	for _, r := range nomatch.Reports(c.gopher.snap) {
		if filepath.Base(r.File) == "robots.txt" && r.Severity == diag.Error {
			r.Severity = diag.Warning // the other server's readers lose nothing by it
		}
		c.add("", r.Diagnostic)
	}
	c.result.RobotsBytes = len(c.gopher.snap.Robots)
	c.done()
	if then != nil {
		then(&c.result, c.gopher.view(), func(label string) string {
			f, name := c.labelled(label)
			return f.view().Path(name)
		})
	}
	return &c.result, stop()
}

// crawl checks every entry on disk, and requests every link of menus and pages.
func (c *checking) crawl(dir string) {
	c.host.Before = []answer.Source{silent{c.programs}}
	c.host.Runner = idle{c.programs}
	if c.Serve.Search {
		c.host.Beside = append(c.host.Beside, silent{&sitesearch.Searcher{}})
	}
	c.reach(dir)
	for _, f := range []*front{c.gopher, c.gemini} {
		for _, top := range slices.Sorted(maps.Keys(f.tops)) {
			if f == c.gopher || f.own(top) {
				f.directory(top)
			}
		}
	}
	c.follow()
}

// directory checks a directory, recursively.
func (f *front) directory(dir string) {
	if f.ctx.Err() != nil {
		return
	}
	label := f.label(dir)
	f.part(label).Directories++
	f.checked.Add(1)
	entries, err := f.view().Entries(dir)
	if err != nil {
		f.find(diag.Error, CodeRead, dir, 0, "", "the directory cannot be listed: %v",
			diag.Cause(err))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(a.Name(), b.Name())
	})
	mapped := false
	umn, gophermap := "", ""
	for _, e := range entries {
		base := e.Name()
		name := selector.Join(dir, base)
		if f.tops[name] != "" {
			continue // another tree, which hides it
		}
		switch reason := selector.Refusal(base); {
		case base == ".robots":
			f.result.Annotations++
			continue
		case base == "robots.txt" && f.tops[dir] != "":
			f.result.Annotations++
		case menu.IsMap(base):
			mapped = true
			if base == "gophermap" {
				gophermap = name
			}
		case slices.Contains([]string{".names", ".Links", ".cap", ".abstract"}, base):
			mapped = true
			umn = name
		case reason == selector.Program &&
			(f.answers("/"+name) || base == indexName && f.programs.Runs(name)):
			mapped = mapped || base == indexName
			continue
		case base == indexName:
			f.find(diag.Error, menu.CodeProgram, name, 0, runs("*.dcgi=SOCKET"),
				"a program that makes the menu of its directory")
			continue
		case reason == selector.Program:
			f.find(diag.Error, menu.CodeProgram, name, 0, runs(rule(name)),
				"a program, or a directory of programs, by its name")
			continue
		case base[0] == '.', reason == selector.Source:
			continue
		case e.Type().IsRegular() && slices.Contains(runElsewhere, strings.ToLower(path.Ext(base))) &&
			!f.programs.Answers(name):
			f.several(dir, diag.Warning, codeSource, dir, 0,
				"move it out of the directory, or let a program answer: "+runs("*.php=SOCKET"),
				"sent as text, where some servers run it: %q", base)
		case reason != "":
			f.several(dir, diag.Error, codeName, dir, 0, "rename the files that clients should find",
				"no menu can list %q (%s)", base, reason)
			continue
		}
		f.entry(name, e)
	}
	if err != nil {
		return
	}

	// Make the menu. Only pygopherd reads both a gophermap and the files of UMN gopherd, and it
	// shows lines that begin with #.
	both := gophermap != "" && umn != ""
	if both {
		f.several("", diag.Notice, codeUMN, umn, 0, "put its lines into the gophermap",
			"not read, because there is a gophermap; pygopherd reads both: %q", path.Base(umn))
	}
	made := f.menu(dir, both, (*menu.Builder).Menu)
	if mapped || made.Gemtext != "" {
		f.part(label).Menus++
	}
}

// runElsewhere are the extensions of files that some server runs and gophd does not know as
// programs: files of PHP (Motsognir, filters of gophernicus) and pygopherd. Many people publish
// other scripts to be read.
var runElsewhere = []string{".php", ".pyg", ".tal"}

// indexName is geomyidae's program that makes the menu of its directory.
const indexName = "index.dcgi"

// runs returns the command that starts gophd with a program.
func runs(rule string) string { return diag.Command("gophd", "-fastcgi", rule) }

// rule returns the value of -fastcgi that would run the program of a name.
func rule(name string) string {
	name, _, _ = strings.Cut(name, "?")
	if ext := filepath.Ext(name); selector.IsProgram("x" + ext) {
		return "*" + ext + "=SOCKET"
	}
	elems := strings.Split(name, "/")
	if i := slices.IndexFunc(elems, selector.IsProgram); i >= 0 {
		elems = elems[:i+1]
	}
	if strings.HasPrefix(name, "~") && len(elems) > 1 {
		return "/~*/" + strings.Join(elems[1:], "/") + "=/run/gophd-programs-*.sock"
	}
	return "/" + strings.Join(elems, "/") + "=SOCKET"
}

// entry checks a file, a directory or a link.
func (f *front) entry(name string, e fs.DirEntry) {
	source := menu.IsMap(e.Name()) || e.Name()[0] == '.' // of a menu; no client requests it
	at := f.view().Path(name)
	switch {
	case e.Type()&fs.ModeSymlink != 0: // its target, if that is in the tree, has its own entry
		end, err := files.RealPath(at)
		top := f.tops[f.top(name)]
		if err != nil {
			f.find(diag.Warning, codeNowhere, name, 0, "", "a dangling symbolic link: %v",
				diag.Cause(err))
		} else if end != top && !strings.HasPrefix(end, strings.TrimSuffix(top, "/")+"/") &&
			!f.answers("/"+name) {
			f.find(diag.Error, codeOutside, name, 0,
				"gophd -mount /NAME=DIR serves a directory elsewhere; homes are for -users",
				"not served: a symbolic link out of the tree, to %s", end)
		}
	case source && !e.Type().IsRegular():
		f.find(diag.Error, CodeRead, name, 0, "", "makes no menu: neither a file nor a link to one")
	case source && f.closed(at, sandbox.MayRead):
		f.find(diag.Error, CodeRead, name, 0, diag.Command("chmod", "o+r", "--", at),
			"%s cannot read it, so its directory has another menu", f.who())
	case source:
		f.text(name)
	case e.IsDir() && f.closed(at, sandbox.MayRead|sandbox.MayEnter):
		f.find(diag.Error, CodeRead, name, 0, diag.Command("chmod", "o+rx", "--", at),
			"%s cannot list it", f.who())
	case e.IsDir():
		f.directory(name)
	case e.Type().IsRegular():
		f.part(f.label(name)).Files++
		f.owned(name)
		if info, err := files.Stat(at); f.closed(at, sandbox.MayRead) && err == nil {
			dir := path.Dir(name)
			g := f.several(dir, diag.Error, CodeRead, dir, 0, "", "%s cannot read %q (%s)", f.who(),
				e.Name(), info.Mode())
			if len(g.closed) < 20 {
				g.closed = append(g.closed, at)
			}
			return
		}
		if isKey := f.text(name); isKey {
			return
		}
		switch ext := strings.ToLower(path.Ext(name)); {
		case menu.IsMenuFile(e.Name()):
			f.part(f.label(name)).Menus++
			f.menu(name, false, (*menu.Builder).Menu)
		case ext == ".gmi" || ext == ".gemini":
			reader := f.gemini
			if f == f.gopher && f.gemini.own(name) {
				reader = f.web // Gemini shows another tree in place of this one
			}
			reader.menu(name, false, (*menu.Builder).Page)
		case slices.Contains([]string{".html", ".htm", ".md"}, ext):
			f.page(name)
		}
	default:
		f.find(diag.Warning, CodeRead, name, 0, "", "not served: neither a file nor a directory")
	}
}

// text reports a file with a private key, and returns whether it is one. It also reports a text
// whose character set is determined neither by its bytes nor by -charset.
func (f *front) text(name string) (isKey bool) {
	file, err := f.view().Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(file, head)
	if keypair.InText(io.MultiReader(bytes.NewReader(head[:n]), file)) {
		f.find(diag.Warning, CodeKey, name, 0, "move it out of the directory, and replace the key",
			"contains a private key, which everybody could fetch")
		return true
	}
	typ, known := menu.TypeOf(name)
	isText := known && (typ == menu.TypeText || typ == menu.TypeMenu) ||
		!known && menu.Sniff(head[:n]) == menu.TypeText
	if isText && f.Serve.Charset.Of(name, head[:n], n < len(head)) == menu.CharsetAuto {
		f.find(diag.Warning, codeCharset, name, 0,
			"name the character set of such texts, or convert this one: "+
				diag.Command("gophd", "-charset", "koi8-r")+"; iconv -f KOI8-R -t UTF-8",
			"its character set is unknown: it is neither UTF-8 nor like Latin-1")
	}
	return false
}
