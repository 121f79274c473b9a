package check

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// ourHost stands for this server while maps are read, so that links without a host
// differ from links that name it.
const ourHost = "this.invalid"

// silent are the programs of the site in a check, which runs none.
type silent struct{ *programs.Programs }

// Answer stands for what a program would print.
func (silent) Answer(*answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.Status}, nil
}

// Run prints nothing.
func (silent) Run(*answer.Asked, string, string) (string, error) { return "", nil }

// form leaves the items of menus, and opens files without reading them.
var form = &answer.Format{Seek: true}

// A reply is what the server answers to a selector. Its class is 0 if that is an error.
type reply struct {
	class answer.Class
	typ   byte
	empty bool // a file without content
}

// ask requests a selector, once.
func (c *checking) ask(sel string) (r reply) {
	r, known := c.replies[sel]
	if known {
		return r
	}
	if a, err := c.host.Ask(c.request(sel), form); err == nil {
		r = reply{class: a.Class, typ: a.Type, empty: a.Resource != nil && a.Resource.Info.Size() == 0}
		a.Close()
	}
	c.replies[sel] = r
	return r
}

func (c *checking) answers(sel string) bool { return c.ask(sel).class != 0 }

// found notes that a file or a directory links a selector of this server: a directory is
// linked, too, if something in it is linked from outside of it.
func (c *checking) found(from, sel string) {
	name := c.snap.Real(cmp.Or(path.Clean("/" + sel)[1:], "."))
	for ; name != "." && from != name && !strings.HasPrefix(from, name+"/"); name = path.Dir(name) {
		c.linked[name] = true
	}
}

// like counts lines of a map that are alike.
type like struct{ count, first int }

func (l *like) add(number int) {
	if l.count++; l.count == 1 {
		l.first = number
	}
}

// menu makes a menu, or reads a page of Gemini, as the server does. It notes what is linked,
// and reports lines of gophermaps that other servers show in another way. It returns the
// comments of the directory's gophermap.
func (c *checking) menu(name string, read func(*menu.Builder) (menu.Menu, error)) (m menu.Menu, comments like) {
	q := answer.Asked{Host: c.host, Request: c.request(""), View: c.site.View(c.ctx), Format: form}
	b := q.Builder()
	first := len(c.links)
	b.Linked = func(l menu.Link) { c.links = append(c.links, target(l)) }
	headings := map[string]*like{}  // by the map
	commands := map[string]string{} // by their places
	dotted := map[string]bool{}
	b.Line = func(file string, number int, line string) {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
		case line[0] == '=':
			commands[fmt.Sprintf("%s:%d", file, number)] = line[1:]
		case line[0] == '#' && menu.IsComment(line):
			if file == selector.Join(name, "gophermap") {
				comments.add(number)
			}
		case line[0] == '#':
			if headings[file] == nil {
				headings[file] = &like{}
			}
			headings[file].add(number)
		case strings.Contains(line, "\t/./"), strings.Contains(line, "\t./"):
			if !dotted[file] {
				dotted[file] = true
				c.find(diag.Notice, CodeForm, file, number, "", "./ in a link has no effect; menus link the name without it, here and elsewhere in the map")
			}
		default:
			c.mistyped(file, number, line)
		}
	}
	m, err := read(b)
	c.listed[name] = err == nil
	if err != nil && len(m.Problems) == 0 {
		c.find(diag.Error, CodeRead, name, 0, "", "no menu can be made: %v", diag.Cause(err))
	}
	for file, h := range headings {
		c.find(diag.Notice, menu.CodeText, file, h.first, "", "%s with ## shown as text: only one # begins a comment", diag.Count(h.count, "line", "lines"))
	}
	for _, d := range m.Problems {
		linked := slices.ContainsFunc(c.links[first:], func(l menu.Link) bool { return l.Program && l.File == d.File && l.Line == d.Line })
		if d.Code == menu.CodeProgram && (linked || c.answers("/"+d.File)) {
			continue // found elsewhere
		}
		if d.Code == menu.CodeProgram {
			d.Hint = c.scripted(d.File, commands[d.Place()])
		}
		c.add(d)
	}
	for _, it := range m.Items {
		if it.Host == ourHost && !answer.IsInfo(it) {
			c.found(name, it.Selector)
		}
	}
	if m.Gemtext != "" {
		c.links = c.links[:first] // the page is read by itself
	}
	return m, comments
}

// scripted returns a hint for a program that a map runs: for a command with arguments, the
// script to write.
func (c *checking) scripted(file, command string) string {
	words := strings.Fields(command)
	if len(words) == 0 || len(words) == 1 && c.onDisk(path.Join("/", path.Dir(file), words[0])) {
		return "gophd -fastcgi menus=SOCKET runs it"
	}
	script := path.Base(words[0]) + ".sh"
	return diag.Command("printf", `%s\n`, "#!/bin/sh", command) + " >" + diag.Command("./"+script) + " && " + diag.Command("chmod", "+x", "./"+script) +
		fmt.Sprintf("; write %q, and gophd -fastcgi menus=SOCKET runs it", "="+script)
}

// reference matches the links of HTML and Markdown.
var reference = regexp.MustCompile(`(?i)(?:href|src)\s*=\s*["']?([^"'\s>]+)|\]\(\s*([^)\s]+)`)

// page notes what a page in HTML or Markdown links.
func (c *checking) page(name string) {
	text, _ := c.site.View(c.ctx).ReadFile(name)
	for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
		if u, err := url.Parse(m[1] + m[2]); err == nil && u.Host == "" && u.Path != "" {
			if u.Path[0] != '/' {
				u.Path = path.Dir("/"+name) + "/" + u.Path
			}
			c.found(name, u.Path)
		}
	}
}

// target returns the host and the selector that a URL of Gopher, Gemini or Spartan leads to,
// in place of the URL.
func target(l menu.Link) menu.Link {
	to, ok := strings.CutPrefix(l.Selector, "URL:")
	if u, err := url.Parse(to); ok && err == nil && u.Host != "" && (u.Scheme == "gemini" || u.Scheme == "spartan") {
		l.Host, l.Selector, l.Type = u.Hostname(), cmp.Or(u.Path, "/"), '?'
	}
	return l
}

// linkedHost is a host that maps name.
type linkedHost struct {
	name  string // as the maps write it first
	here  int    // links to it that this server answers
	gone  int    // those that it does not
	first menu.Link
}

// ours reports whether a host is surely this one: this server answers two or more links to
// it, and most of them.
func (h *linkedHost) ours() bool { return h.here > 1 && h.here > h.gone }

// follow requests what menus and pages link, as their readers would.
func (c *checking) follow() {
	// Count the links to each host that is named.
	hosts := map[string]*linkedHost{} // by names in small letters
	for _, l := range c.links {
		if l.Host == ourHost || strings.HasPrefix(l.Selector, "URL:") {
			continue
		}
		key := strings.ToLower(l.Host)
		h := hosts[key]
		if h == nil {
			h = &linkedHost{name: l.Host, first: l}
			hosts[key] = h
		}
		if strings.Trim(l.Selector, "/") == "" || l.Type == menu.TypeSearch || isProgram(l.Selector) {
			continue
		}
		switch r := c.ask(l.Selector); r.class {
		case answer.Status: // a program's
		case 0:
			h.gone++
		default:
			h.here++
		}
	}

	// Find the one that is this server.
	names := slices.Sorted(maps.Keys(hosts))
	own := strings.ToLower(c.Host)
	for _, key := range names {
		if h := hosts[key]; c.Host == "" && h.ours() && isHost(h.name) && !isLocal(key) && (own == "" || h.here > hosts[own].here) {
			own = key
		}
	}
	c.result.Host = own
	for _, key := range names {
		h := hosts[key]
		at := h.first
		switch {
		case isLocal(key) && h.here+h.gone > 0:
			c.find(diag.Warning, CodeHost, at.File, at.Line, "leave the host out where a link is to this server",
				"%s to %s, which is the visitor's own machine", diag.Count(h.here+h.gone, "link", "links"), h.name)
		case key == own && c.Host == "":
			c.find(diag.Notice, CodeHost, at.File, at.Line, diag.Command("gophd", "-host", h.name), "%s to %s, probably the name of this server", diag.Count(h.here+h.gone, "link", "links"), h.name)
		case key == own:
		case !isHost(h.name):
			c.find(diag.Warning, CodeHost, at.File, at.Line, "one TAB separates the fields: type and label, selector, host, port", "not a host name: %q", h.name)
		case h.ours():
			c.find(diag.Warning, CodeHost, at.File, at.Line, "leave the host out where a link is to this server",
				"%s to this server under another name, %s", diag.Count(h.here, "link", "links"), h.name)
		}
	}

	for _, l := range c.links {
		key := strings.ToLower(l.Host)
		switch h := hosts[key]; {
		case l.Host == ourHost, key == own, isLocal(key):
			c.link(l)
		case h != nil && h.ours():
			c.found(l.File, l.Selector)
		}
	}
}

// isLocal reports whether a host is the client's own machine.
func isLocal(key string) bool {
	return key == "localhost" || strings.HasPrefix(key, "127.") || key == "::1"
}

// isHost reports whether a name can be one of a host: letters, digits, dots and
// dashes and not only digits, or an address.
func isHost(name string) bool {
	if strings.Count(name, ":") > 1 {
		return strings.Trim(name, "0123456789abcdefABCDEF:.") == ""
	}
	return strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == "" && strings.Trim(name, "0123456789") != ""
}

// link follows a link to this server, and reports why it leads nowhere.
func (c *checking) link(l menu.Link) {
	if strings.HasPrefix(strings.TrimPrefix(l.Selector, "/"), "URL:") || strings.IndexByte("8T2", l.Type) >= 0 {
		return
	}
	c.found(l.File, l.Selector)
	switch r := c.ask(l.Selector); r.class {
	case 0:
	case answer.Status: // a program answers
		return
	default:
		if r.empty {
			c.find(diag.Notice, CodeStub, l.File, l.Line, "", "the file is empty: %q", l.Selector)
		}
		isMenu := r.class == answer.Menu
		if (l.Type == menu.TypeMenu || l.Type == menu.TypeText) && r.class != answer.Moved && isMenu != (l.Type == menu.TypeMenu) {
			c.find(diag.Warning, CodeForm, l.File, l.Line, fmt.Sprintf("write type %c", r.typ), "a link of type %c to something of another type: %q", l.Type, l.Selector)
		}
		return
	}
	onDisk := c.onDisk(l.Selector)
	switch {
	case l.Program || isProgram(l.Selector):
		sel := l.Selector
		if !strings.HasPrefix(sel, "/") {
			sel = path.Join("/", path.Dir(l.File), sel)
		}
		c.find(diag.Error, menu.CodeProgram, l.File, l.Line, runs(rule(sel[1:])), "a link to a program: %q", l.Selector)
	case l.Type == menu.TypeSearch && strings.Trim(l.Selector, "/") == "search":
		if !c.Search {
			c.find(diag.Warning, CodeSearch, l.File, l.Line, "gophd -search", "the search %q is answered only with -search", l.Selector)
		}
	case l.Type == menu.TypeSearch && !onDisk: // most likely dead before, too
		c.find(diag.Warning, CodeSearch, l.File, l.Line, "gophd -search finds texts of the site, at /search", "nothing answers the search %q", l.Selector)
	case selector.Refusal(path.Base(l.Selector)) == selector.Source:
		c.find(diag.Error, CodeName, l.File, l.Line, "link a copy that has another name", "the source of a menu is not shown: %q", l.Selector)
	case l.Type != menu.TypeText && c.isScript(l.Selector):
		c.find(diag.Error, menu.CodeProgram, l.File, l.Line, runs(rule(strings.TrimPrefix(l.Selector, "/"))), "a link to a program, a file that begins with #!: %q", l.Selector)
	case onDisk:
		c.find(diag.Error, CodeName, l.File, l.Line, "", "the target of a link is not served: %q", l.Selector)
	default:
		c.find(diag.Warning, CodeNowhere, l.File, l.Line, cmp.Or(elsewhere(l), c.nearest(l.Selector)), "nothing is called %q", l.Selector)
	}
}

// onDisk reports whether the disk has a file at a selector.
func (c *checking) onDisk(sel string) bool {
	_, err := files.Stat(c.path(cmp.Or(path.Clean("/" + sel)[1:], ".")))
	return err == nil
}

// isScript reports whether a link names a file that begins with #!.
func (c *checking) isScript(sel string) bool {
	f, err := c.site.View(c.ctx).Open(path.Clean("/" + sel)[1:])
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var head [2]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[:]) == "#!"
}

func isProgram(sel string) bool {
	return slices.ContainsFunc(strings.Split(sel, "/"), selector.IsProgram)
}

// blanks matches a line of a map with blanks where an item has a TAB.
var blanks = regexp.MustCompile(`^([0-9A-Za-z+;])(\S[^\t]*?)\s*[ ]{2,}(\S+)$`)

// mistyped notes a line that was meant to be a link and is shown as text.
func (c *checking) mistyped(file string, number int, line string) {
	m := blanks.FindStringSubmatch(line)
	if m == nil || !menu.IsType(m[1][0]) || m[1][0] == menu.TypeInfo {
		return
	}
	sel := m[3]
	if !strings.HasPrefix(sel, "/") {
		sel = path.Join("/", path.Dir(file), sel)
	}
	if strings.Trim(sel, "/") != "" && c.answers(sel) {
		c.find(diag.Warning, menu.CodeLine, file, number, fmt.Sprintf("write one TAB: %q", m[1]+m[2]+"\t"+m[3]), "shown as text: spaces in place of a TAB")
	}
}

// elsewhere returns a hint for a link whose selector is a URL; "" if it is none.
func elsewhere(l menu.Link) string {
	sel, relative := strings.CutPrefix(l.Selector, selector.Canonical(path.Dir(l.File), true))
	if !relative {
		sel = strings.TrimPrefix(sel, "/")
	}
	scheme, rest, _ := strings.Cut(sel, ":")
	switch {
	case scheme == "mailto":
	case selector.PortOf(scheme) != 0:
		rest = "//" + strings.TrimLeft(rest, "/")
	default:
		return ""
	}
	return fmt.Sprintf("write %q", "h"+l.Label+"\tURL:"+scheme+":"+rest)
}

// nearest returns a hint that names the most similar path, "" if none is similar. Case
// does not count. In each element one byte of four may differ, two at most.
func (c *checking) nearest(sel string) string {
	name := "."
	for elem := range strings.SplitSeq(strings.Trim(sel, "/"), "/") {
		list, err := fs.ReadDir(c.site.View(c.ctx), name)
		if err != nil {
			return ""
		}
		best, least := "", min(3, 1+len(elem)/4)
		for _, e := range list {
			if d := diag.Distance(strings.ToLower(e.Name()), strings.ToLower(elem), least); d < least || e.Name() == elem {
				best, least = e.Name(), d
			}
		}
		if best == "" {
			return ""
		}
		name = selector.Join(name, best)
	}
	return fmt.Sprintf("there is %q", "/"+name)
}

// unlinked returns what of a directory no menu and no page links. What robots.txt denies is
// meant to be so, and some files clients request by their usual names.
func (c *checking) unlinked(at string, dir *site.Dir) (alone names) {
	usual := []string{"robots.txt", "caps.txt", "favicon.ico", "favicon.txt", "index.gmi"}
	add := func(base, slash string) {
		name := selector.Join(at, base)
		if !c.linked[c.snap.Real(name)] && c.tops[name] == "" && !slices.Contains(usual, base) && c.snap.Open(name, slash != "") {
			alone = append(alone, strconv.Quote(base+slash))
		}
	}
	for _, sub := range dir.Dirs {
		add(sub.Name, "/")
	}
	for _, f := range dir.Files {
		if f.Type != 0 {
			add(f.Name, "")
		}
	}
	return alone
}
