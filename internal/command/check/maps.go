package check

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// mapComments are the lines of a map that begin with one #.
type mapComments struct{ count, first int }

// mapLines reports lines of a map that other servers show in another way, and returns its
// comments.
func (c *checking) mapLines(name string) (comments mapComments) {
	base := path.Base(name)
	if !menu.IsMenuFile(base) {
		name = selector.Join(name, "gophermap")
	} else if strings.HasSuffix(base, ".gph") {
		return comments
	}
	text, err := c.site.View(c.ctx).ReadFile(name)
	if err != nil || menu.IsProgram(string(text)) {
		return comments
	}
	headings, first, dots := 0, 0, 0
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, "\r \t")
		switch {
		case line == "":
		case line[0] == '#' && menu.IsComment(line):
			if comments.count++; comments.count == 1 {
				comments.first = i + 1
			}
		case line[0] == '#':
			if headings++; headings == 1 {
				first = i + 1
			}
		case strings.Contains(line, "\t/./"), strings.Contains(line, "\t./"):
			if dots++; dots == 1 {
				c.find(diag.Notice, CodeForm, name, i+1, "", "./ in a link has no effect; menus link the name without it, here and elsewhere in the map")
			}
		default:
			c.mistyped(name, i+1, line)
		}
	}
	if headings > 0 {
		c.find(diag.Notice, menu.CodeText, name, first, "", "%s with ## shown as text: only one # begins a comment", diag.Count(headings, "line", "lines"))
	}
	return comments
}

// hinted adds to a finding about a program how to run it.
func (c *checking) hinted(d diag.Diagnostic) diag.Diagnostic {
	if d.Code != menu.CodeProgram {
		return d
	}
	d.Hint = "gophd -fastcgi menus=SOCKET runs it"
	text, _ := c.site.View(c.ctx).ReadFile(d.File)
	lines := strings.Split(string(text), "\n")
	if d.Line < 1 || d.Line > len(lines) {
		return d
	}
	command, ok := strings.CutPrefix(strings.TrimRight(lines[d.Line-1], "\r \t"), "=")
	words := strings.Fields(command)
	if !ok || len(words) == 0 {
		return d
	}
	if _, err := files.Stat(c.path(cmp.Or(strings.TrimPrefix(path.Join("/", path.Dir(d.File), words[0]), "/"), "."))); err == nil && len(words) == 1 {
		return d
	}
	script := path.Base(words[0]) + ".sh"
	d.Hint = diag.Command("printf", `%s\n`, "#!/bin/sh", command) + " >" + diag.Command("./"+script) + " && " + diag.Command("chmod", "+x", "./"+script) +
		fmt.Sprintf("; write %q, and gophd -fastcgi menus=SOCKET runs it", "="+script)
	return d
}

// gemtext collects the links of a page of Gemini.
func (c *checking) gemtext(name string) {
	text, err := c.site.View(c.ctx).ReadFile(name)
	if err != nil {
		return
	}
	quoted := false
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if strings.HasPrefix(line, "```") {
			quoted = !quoted
		}
		target, ok := strings.CutPrefix(line, "=>")
		words := strings.Fields(target)
		if quoted || !ok || len(words) == 0 {
			continue
		}
		if l, ok := gemLink(name, words[0]); ok {
			l.File = name
			l.Line = number
			c.linked = append(c.linked, l)
		}
	}
}

// gemLink parses a link of a page. It is not ok if the link leaves this server for sure.
func gemLink(page, target string) (l menu.Link, ok bool) {
	u, err := url.Parse(target)
	switch {
	case err != nil, u.Scheme != "" && u.Host == "":
		return l, false
	case u.Scheme == "gopher" || u.Scheme == "gophers":
		g, err := selector.ParseURL(target)
		l.Host, l.Type, l.Selector = g.Host, g.Type, g.Selector
		return l, err == nil
	case u.Scheme != "" && u.Scheme != "gemini" && u.Scheme != "spartan":
		return l, false
	}
	l.Host = cmp.Or(u.Hostname(), ourHost)
	at := u.Path
	switch {
	case u.Host == "" && at == "": // a part of this page, or a question to it
		return l, false
	case u.Host == "" && at[0] != '/':
		at = path.Dir("/"+page) + "/" + at
	}
	l.Selector = path.Clean("/" + at)
	l.Type = menu.TypeMenu
	if dir := strings.HasSuffix(at, "/") || strings.HasSuffix(at, "/.") || strings.HasSuffix(at, "/.."); dir && l.Selector != "/" {
		l.Selector += "/"
	} else if !dir {
		l.Type, _ = menu.TypeOf(l.Selector)
	}
	return l, true
}
