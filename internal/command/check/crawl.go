package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// ourHost is this server's name while maps are parsed: so links without a host differ from
// links that name the host.
const ourHost = "this.invalid"

// silent replaces a source whose replies a check does not need.
type silent struct{ answer.Source }

// Answer returns an empty reply.
func (silent) Answer(*answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.Status}, nil
}

// idle replaces the programs in maps, which a check does not run.
type idle struct{ *programs.Programs }

// Run prints nothing.
func (idle) Run(*answer.Asked, string, string) (string, error) {
	return "", nil
}

// A link is one of a map or a page, whose readers follow it as clients of a front.
type link struct {
	menu.Link
	on *front
}

// menu makes a menu, or reads a page of Gemini, as the server does. It notes what is linked,
// and reports lines of gophermaps that other servers show in another way, comments if asked.
func (f *front) menu(name string, comments bool,
	read func(*menu.Builder, context.Context, string) (menu.Menu, error)) menu.Menu {
	q := answer.Asked{
		Host:    f.host,
		Request: f.request(""),
		View:    f.view(),
		Format:  f.form,
	}
	b := q.Builder()
	first := len(f.links)
	b.Linked = func(l menu.Link) { f.links = append(f.links, link{target(l), f}) }
	commands := map[string]string{} // by their places
	b.Line = func(file string, number int, line string) {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
		case line[0] == '=':
			commands[diag.Place(file, number)] = line[1:]
		case line[0] == '#' && menu.IsComment(line):
			if comments && file == selector.Join(name, "gophermap") {
				f.several(file, diag.Warning, codeUMN, file, number, "begin the line with a space",
					"not shown: # begins a comment; pygopherd shows %q", line)
			}
		case line[0] == '#':
			f.several(file, diag.Notice, menu.CodeText, file, number, "",
				"shown as text: only one # begins a comment, not %q", line)
		case strings.Contains(line, "\t/./"), strings.Contains(line, "\t./"):
			f.several(file, diag.Notice, codeForm, file, number, "",
				"./ in a link has no effect; menus link the name without it: %q", line)
		default:
			f.mistyped(file, number, line)
		}
	}
	m, err := read(b, f.ctx, name)
	f.listed[f.label(name)] = err == nil
	if err != nil && len(m.Problems) == 0 {
		f.find(diag.Error, CodeRead, name, 0, "", "no menu can be made: %v", diag.Cause(err))
	}
	for _, d := range m.Problems {
		linked := slices.ContainsFunc(f.links[first:], func(l link) bool {
			return l.Program && l.File == d.File && l.Line == d.Line
		})
		if d.Code == menu.CodeProgram && (linked || f.answers("/"+d.File)) {
			continue // found elsewhere
		}
		if d.Code == menu.CodeProgram {
			d.Hint = f.scripted(d.File, commands[d.Place()])
		}
		d.File = f.label(d.File)
		f.add("", d)
	}
	for _, it := range m.Items {
		if it.Host == ourHost && !answer.IsInfo(it) {
			f.found(name, it.Selector)
		}
	}
	if m.Gemtext != "" {
		f.links = f.links[:first] // the page is read by itself
	}
	return m
}

// scripted returns a hint for a program that a map runs: for a command with arguments, the
// script to write.
func (f *front) scripted(file, command string) string {
	words := strings.Fields(command)
	if len(words) == 0 || len(words) == 1 && f.onDisk(path.Join("/", path.Dir(file), words[0])) {
		return "gophd -fastcgi menus=SOCKET runs it"
	}
	script := path.Base(words[0]) + ".sh"
	return diag.Command("printf", `%s\n`, "#!/bin/sh", command) + " >" + diag.Command("./"+script) +
		" && " + diag.Command("chmod", "+x", "./"+script) +
		fmt.Sprintf("; write %q, and gophd -fastcgi menus=SOCKET runs it", "="+script)
}

// reference matches the links of HTML and Markdown, and unread what has none: comments,
// scripts and code.
var (
	reference = regexp.MustCompile(`(?i)(?:href|src)\s*=\s*["']?([^"'\s>]+)|\]\(\s*([^)\s]+)`)
	unread    = regexp.MustCompile("(?is)<!--.*?-->|<script.*?</script>|```.*?```|`[^`\n]*`")
)

// page notes what a page in HTML or Markdown links, as a browser reads it.
func (f *front) page(name string) {
	text, _ := f.view().ReadFile(name)
	text = unread.ReplaceAllFunc(text, func(s []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(s, []byte("\n")))
	})
	on := f.web
	if f == f.gemini {
		on = f
	}
	here, number := url.URL{Path: "/" + name}, 0
	for line := range bytes.Lines(text) {
		number++
		for _, m := range reference.FindAllSubmatch(line, -1) {
			u, err := here.Parse(html.UnescapeString(string(m[1]) + string(m[2])))
			if err == nil && u.Host == "" && u.Scheme == "" {
				f.links = append(f.links, link{menu.Link{
					Item: menu.Item{
						Type:     '?',
						Host:     ourHost,
						Selector: u.Path,
					},
					File: name,
					Line: number,
				}, on})
			}
		}
	}
}

// target returns the host and the selector that a URL of Gopher, Gemini or Spartan leads to,
// in place of the URL.
func target(l menu.Link) menu.Link {
	to, ok := strings.CutPrefix(l.Selector, "URL:")
	if u, err := url.Parse(to); ok && err == nil && u.Host != "" &&
		(u.Scheme == "gemini" || u.Scheme == "spartan") {
		l.Host, l.Selector, l.Type = u.Hostname(), cmp.Or(u.Path, "/"), '?'
	}
	return l
}

// linkedHost is a host that maps name.
type linkedHost struct {
	first link
	here  int          // links to it that this server answers
	gone  int          // those that it does not
	ports map[int]bool // at which this server answers one; at others it may be another server
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
			h = &linkedHost{first: l, ports: map[int]bool{selector.DefaultPort: true}}
			hosts[key] = h
		}
		if strings.Trim(l.Selector, "/") == "" || l.Type == menu.TypeSearch ||
			isProgram(l.Selector) {
			continue
		}
		switch l.on.ask(l.Selector).class {
		case answer.Status: // a program's
		case 0:
			h.gone++
		default:
			h.here++
			h.ports[l.Port] = true
		}
	}

	// Find the one that is this server.
	names := slices.Sorted(maps.Keys(hosts))
	own := strings.ToLower(c.Host)
	for _, key := range names {
		if h := hosts[key]; c.Host == "" && h.ours() && isHost(h.first.Host) && !isLocal(key) &&
			(own == "" || h.here > hosts[own].here) {
			own = key
		}
	}
	c.result.Host = own
	for _, key := range names {
		h := hosts[key]
		f, name, file, line := h.first.on, h.first.Host, h.first.File, h.first.Line
		switch {
		case isLocal(key) && h.here+h.gone > 0:
			f.find(diag.Warning, codeHost, file, line,
				"leave the host out where a link is to this server",
				"%s to %s, which is the visitor's own machine",
				diag.Count(h.here+h.gone, "link", "links"), name)
		case key == own && c.Host == "":
			f.find(diag.Notice, codeHost, file, line, diag.Command("gophd", "-host", name),
				"%s to %s, probably the name of this server",
				diag.Count(h.here+h.gone, "link", "links"), name)
		case key == own:
		case !isHost(name):
			f.find(diag.Warning, codeHost, file, line,
				"one TAB separates the fields: type and label, selector, host, port",
				"not a host name: %q", name)
		case h.ours():
			f.find(diag.Warning, codeHost, file, line,
				"leave the host out where a link is to this server",
				"%s to this server under another name, %s",
				diag.Count(h.here, "link", "links"), name)
		}
	}

	for _, l := range c.links {
		key := strings.ToLower(l.Host)
		switch h := hosts[key]; {
		case l.Host == ourHost, isLocal(key), h != nil && key == own && h.ports[l.Port]:
			l.on.link(l.Link)
		case h != nil && h.ours():
			l.on.found(l.File, l.Selector)
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
	return strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == "" &&
		strings.Trim(name, "0123456789") != ""
}

// link follows a link to this server, and reports what is wrong with it.
func (f *front) link(l menu.Link) {
	if strings.HasPrefix(strings.TrimPrefix(l.Selector, "/"), "URL:") ||
		strings.IndexByte("8T2", l.Type) >= 0 {
		return
	}
	f.found(l.File, l.Selector)
	find := func(severity diag.Severity, code, hint, what string) {
		f.find(severity, code, l.File, l.Line, hint, "%s %q", what, l.Selector)
	}
	r := f.ask(l.Selector)
	switch r.class {
	case answer.Status: // a program or the search answers
		return
	case 0:
		find(f.dead(l))
		return
	}
	if r.empty {
		find(diag.Notice, codeStub, "", "the file is empty:")
	}
	isMenu := r.class == answer.Menu
	if f == f.gopher && (l.Type == menu.TypeMenu || l.Type == menu.TypeText) &&
		r.class != answer.Moved && isMenu != (l.Type == menu.TypeMenu) {
		find(diag.Warning, codeForm, fmt.Sprintf("write type %c", r.typ),
			fmt.Sprintf("a link of type %c to something of another type:", l.Type))
	}
	// Gemini shows maps, too, and may have another tree at the end of the link.
	if f == f.gopher && f.gemini.own(nameOf(l.Selector)) && !f.gemini.own(l.File) &&
		!f.gemini.answers(l.Selector) {
		find(diag.Warning, codeNowhere, f.gemini.nearest(l.Selector),
			"over Gemini, nothing is called")
	}
}

// dead returns why a link to this server has no reply.
func (f *front) dead(l menu.Link) (severity diag.Severity, code, hint, why string) {
	const nothing, notServed = "nothing is called", "the target of a link is not served:"
	onDisk := f.onDisk(l.Selector)
	isSearch := l.Type == menu.TypeSearch
	isScript := false
	if file, err := f.view().Open(nameOf(l.Selector)); err == nil {
		head := make([]byte, 2)
		_, err = io.ReadFull(file, head)
		isScript = err == nil && string(head) == "#!"
		_ = file.Close()
	}
	switch near := f.nearest(l.Selector); {
	case f == f.web && onDisk:
		return diag.Warning, codeNowhere, "", notServed
	case f == f.web:
		return diag.Warning, codeNowhere, near, nothing
	case l.Program || isProgram(l.Selector):
		sel := l.Selector
		if !strings.HasPrefix(sel, "/") {
			sel = path.Join("/", path.Dir(l.File), sel)
		}
		return diag.Error, menu.CodeProgram, runs(rule(sel[1:])), "a link to a program:"
	case isSearch && !onDisk: // most likely dead before, too
		return diag.Warning, codeSearch, "gophd -search finds texts of the site, at /search",
			"nothing answers the search"
	case selector.Refusal(path.Base(l.Selector)) == selector.Source:
		return diag.Error, codeName, "link a copy that has another name",
			"the source of a menu is not shown:"
	case l.Type != menu.TypeText && isScript:
		return diag.Error, menu.CodeProgram, runs(rule(nameOf(l.Selector))),
			"a link to a program, a file that begins with #!:"
	case onDisk:
		return diag.Error, codeName, "", notServed
	case f != f.gopher && f.gopher.answers(l.Selector):
		return diag.Warning, codeNowhere, near, "over " + f.name + ", " + nothing
	default:
		return diag.Warning, codeNowhere, cmp.Or(elsewhere(l), near), nothing
	}
}

// onDisk reports whether the disk has a file at a selector.
func (f *front) onDisk(sel string) bool {
	_, err := files.Stat(f.view().Path(nameOf(sel)))
	return err == nil
}

func isProgram(sel string) bool {
	return slices.ContainsFunc(strings.Split(sel, "/"), selector.IsProgram)
}

// blanks matches a line of a map with blanks where an item has a TAB.
var blanks = regexp.MustCompile(`^([0-9A-Za-z+;])(\S[^\t]*?)\s*[ ]{2,}(\S+)$`)

// mistyped reports a line shown as text that would be a link if its blanks were a TAB.
func (f *front) mistyped(file string, number int, line string) {
	m := blanks.FindStringSubmatch(line)
	if m == nil || !menu.IsType(m[1][0]) || m[1][0] == menu.TypeInfo {
		return
	}
	sel := m[3]
	if !strings.HasPrefix(sel, "/") {
		sel = path.Join("/", path.Dir(file), sel)
	}
	if strings.Trim(sel, "/") != "" && f.answers(sel) {
		f.find(diag.Warning, menu.CodeLine, file, number,
			fmt.Sprintf("write one TAB: %q", m[1]+m[2]+"\t"+m[3]),
			"shown as text: spaces in place of a TAB")
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

// nearest returns a hint that names the most similar path, "" if none is similar.
func (f *front) nearest(sel string) string {
	near := nomatch.Nearest(f.snap.Tree, sel)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("there is %q", near)
}

// unlinked returns the entries of a directory that no menu and no page links, without those that
// robots.txt denies and those that clients request by their usual names.
func (f *front) unlinked(at string, dir *site.Dir) (alone []string) {
	if !f.listed[f.label(at)] {
		return nil
	}
	usual := []string{"robots.txt", "caps.txt", "favicon.ico", "favicon.txt",
		"index.gmi", "index.gph"}
	add := func(base, slash string) {
		name := selector.Join(at, base)
		if !f.linked[f.label(f.snap.Real(name))] && f.tops[name] == "" &&
			!slices.Contains(usual, base) && f.snap.Open(name, slash != "") {
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
