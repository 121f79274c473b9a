package check

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Tree checks a directory.
func Tree(ctx context.Context, dir string, o Options) (*Outcome, error) {
	c, stop, err := begin(ctx, dir, o, func(c *checking) string {
		return fmt.Sprintf("checking %s: %s read, %d checked", dir, diag.Count(int(c.site.Scanned()), "directory", "directories"), c.checked.Load())
	})
	if err != nil {
		return nil, err
	}
	c.crawl(dir)
	for at, d := range c.snap.Tree.All() {
		hint := ""
		if slices.ContainsFunc(d.Sources, func(f site.File) bool { return f.Name == "gophermap" }) {
			hint = "a line * at the end of a gophermap lists what the map does not link"
		}
		if alone := c.unlinked(at, d); c.listed[at] && len(alone) > 0 {
			c.find(diag.Notice, CodeUnlinked, at, 0, hint, "no menu or page links %s", alone)
		}
	}
	for _, r := range nomatch.Reports(c.snap) {
		if filepath.Base(r.File) == "robots.txt" && r.Severity == diag.Error {
			r.Severity = diag.Warning // the other server's readers lose nothing by it
		}
		c.find(r.Severity, r.Code, r.File, r.Line, r.Hint, "%s", r.Message)
	}
	c.result.RobotsBytes = len(c.snap.Robots)
	return c.done(), stop()
}

// crawl checks what lies on the disk, and requests all that menus and pages link.
func (c *checking) crawl(dir string) {
	c.host.Before, c.host.Runner = []answer.Source{silent{c.programs}}, silent{c.programs}
	c.reach(dir)
	for _, top := range slices.Sorted(maps.Keys(c.tops)) {
		c.directory(top)
	}
	c.follow()
}

// directory checks what lies in a directory, and all below.
func (c *checking) directory(dir string) {
	if c.ctx.Err() != nil {
		return
	}
	c.result.Directories++
	c.part(dir).Directories++
	c.checked.Add(1)
	entries, err := c.site.View(c.ctx).Entries(dir)
	if err != nil {
		c.find(diag.Error, CodeRead, dir, 0, "", "the directory cannot be listed: %v", diag.Cause(err))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var unaskable, unreadable, sources names
	mapped, umn, gophermap := false, "", false
	for _, e := range entries {
		name := selector.Join(dir, e.Name())
		if c.tops[name] != "" {
			continue // another tree, which hides it
		}
		switch reason := selector.Refusal(e.Name()); {
		case e.Name() == ".robots":
			c.result.Annotations++
		case e.Name() == "robots.txt" && c.tops[dir] != "":
			c.result.Annotations++
			c.entry(name, e, &unreadable)
		case menu.IsMap(e.Name()), e.Name() == ".names", e.Name() == ".Links", e.Name() == ".cap", e.Name() == ".abstract":
			mapped = true
			switch {
			case e.Type()&fs.ModeSymlink != 0:
				c.symlink(name)
			case e.Type().IsRegular():
				c.readable(name, e, &unreadable)
				c.charset(name)
			default:
				c.find(diag.Error, CodeRead, name, 0, "", "makes no menu: neither a file nor a link to one")
			}
			if gophermap = gophermap || e.Name() == "gophermap"; !menu.IsMap(e.Name()) {
				umn = name
			}
		case reason == selector.Program && (c.answers("/"+name) || e.Name() == indexName && c.programs.Runs(name)):
			mapped = mapped || e.Name() == indexName
		case e.Name() == indexName:
			c.find(diag.Error, menu.CodeProgram, name, 0, runs("*.dcgi=SOCKET"), "a program that makes the menu of its directory")
		case reason == selector.Program:
			c.find(diag.Error, menu.CodeProgram, name, 0, runs(rule(name)), "a program, or a directory of programs, by its name")
		case e.Name()[0] == '.', reason == selector.Source:
		case e.Type().IsRegular() && runElsewhere(e.Name()) && !c.programs.Answers(name):
			sources = append(sources, strconv.Quote(e.Name()))
			c.entry(name, e, &unreadable)
		case reason != "":
			unaskable = append(unaskable, fmt.Sprintf("%q (%s)", e.Name(), reason))
		default:
			c.entry(name, e, &unreadable)
		}
	}

	// Make the menu, and report what a client gets in another way than its author may
	// expect, or not at all.
	if err == nil {
		made, comments := c.menu(dir, func(b *menu.Builder) (menu.Menu, error) { return b.Menu(c.ctx, dir) })
		if mapped || made.Gemtext != "" {
			c.result.Menus++
			c.part(dir).Menus++
		}
		if gophermap && umn != "" {
			c.pygopherd(umn, selector.Join(dir, "gophermap"), comments)
		}
	}
	if len(unaskable) > 0 {
		c.find(diag.Error, CodeName, dir, 0, "rename the files that clients should find", "no menu can list %s", unaskable)
	}
	if len(sources) > 0 {
		c.find(diag.Warning, CodeSource, dir, 0, "take it out of the directory, or let a program answer: "+runs("*.php=SOCKET"),
			"sent as text, source and all; some servers run it: %s", sources)
	}
	if len(unreadable) > 0 {
		c.find(diag.Error, CodeRead, dir, 0, "let everybody read it: o+r, and o+x for directories", "%s cannot read %s", c.who(), unreadable)
	}
}

// runElsewhere reports whether some server runs files of that name and gophd does
// not know them as programs: files of PHP (Motsognir, filters of gophernicus) and
// pygopherd. Many people publish other scripts to be read.
func runElsewhere(base string) bool {
	return slices.Contains([]string{".php", ".pyg", ".tal"}, strings.ToLower(filepath.Ext(base)))
}

// indexName is geomyidae's program that makes the menu of its directory.
const indexName = "index.dcgi"

// runs is the command that runs programs.
func runs(rule string) string { return diag.Command("gophd", "-fastcgi", rule) }

// rule returns what -fastcgi takes for a program that is asked for by a name.
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

// pygopherd checks a gophermap that lies beside files of UMN gopherd, which only pygopherd
// shows together. To it, # begins no comment.
func (c *checking) pygopherd(umn, name string, comments like) {
	if !c.umnTold {
		c.umnTold = true
		c.find(diag.Notice, CodeUMN, umn, 0, "put its lines into the gophermap", "not read, because there is a gophermap; pygopherd reads both")
	}
	if comments.count > 0 {
		c.find(diag.Warning, CodeUMN, name, comments.first, "begin the line with a space", "not shown: # begins a comment; pygopherd shows %s", diag.Count(comments.count, "such line", "such lines"))
	}
}

// entry checks a file, a directory or a link that can be asked for.
func (c *checking) entry(name string, e fs.DirEntry, unreadable *names) {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		c.symlink(name)
	case e.IsDir():
		if c.readable(name, e, unreadable) {
			c.directory(name)
		}
	case e.Type().IsRegular():
		c.result.Files++
		c.part(name).Files++
		c.owned(name)
		c.charset(name)
		switch ext := strings.ToLower(path.Ext(name)); {
		case c.privateKey(name), !c.readable(name, e, unreadable):
		case menu.IsMenuFile(e.Name()):
			c.result.Menus++
			c.part(name).Menus++
			c.menu(name, func(b *menu.Builder) (menu.Menu, error) { return b.Menu(c.ctx, name) })
		case ext == ".gmi" || ext == ".gemini":
			c.menu(name, func(b *menu.Builder) (menu.Menu, error) { return b.Page(c.ctx, name) })
		case slices.Contains([]string{".html", ".htm", ".md"}, ext):
			c.page(name)
		}
	default:
		c.find(diag.Warning, CodeRead, name, 0, "", "not served: neither a file nor a directory")
	}
}

// privateKey reports a file with a private key, and returns whether it is one.
func (c *checking) privateKey(name string) bool {
	f, err := c.site.View(c.ctx).Lookup(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	found := keypair.InText(f)
	if found {
		c.find(diag.Warning, CodeKey, name, 0, "move it out of the directory, and replace the key", "contains a private key, which everybody could fetch")
	}
	return found
}

// charset reports a text in a character set that neither its bytes nor -charset tell.
func (c *checking) charset(name string) {
	f, err := c.site.View(c.ctx).Open(name)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	typ, known := menu.TypeOf(name)
	isText := known && (typ == menu.TypeText || typ == menu.TypeMenu) || !known && menu.Sniff(head[:n]) == menu.TypeText
	if isText && c.Charset.Of(name, head[:n], n < len(head)) == menu.CharsetAuto {
		c.find(diag.Warning, CodeCharset, name, 0, "name the character set of such texts, or convert this one: "+diag.Command("gophd", "-charset", "koi8-r")+"; iconv -f KOI8-R -t UTF-8",
			"in a character set that nothing tells: neither UTF-8 nor what looks like Latin-1")
	}
}

// symlink checks where a symbolic link leads. The target of a link that
// stays in the tree is checked in its own place.
func (c *checking) symlink(name string) {
	end, err := files.RealPath(c.path(name))
	if err != nil {
		c.find(diag.Warning, CodeNowhere, name, 0, "", "a dangling symbolic link: %v", diag.Cause(err))
		return
	}
	top := c.tops[c.top(name)]
	if end != top && !strings.HasPrefix(end, strings.TrimSuffix(top, "/")+"/") && !c.answers("/"+name) {
		c.find(diag.Error, CodeOutside, name, 0, "gophd -mount /NAME=DIR serves a directory elsewhere; homes are for -users",
			"not served: a symbolic link out of the tree, to %s", end)
	}
}
