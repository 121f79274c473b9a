package check

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// style counts what only some servers read, by server: so a hole says which one it was
// made for.
type style map[string]int

func (s *style) add(server string, n int) {
	if *s == nil {
		*s = style{}
	}
	(*s)[server] += n
}

// file counts a file by its name.
func (s *style) file(base string) {
	switch {
	case base == "gophertag", menu.IsMenuFile(base) && strings.HasSuffix(base, ".gophermap"):
		s.add("gophernicus", 3)
	case base == ".gophermap":
		s.add("spacecookie", 3)
	case strings.HasSuffix(base, ".gph"), base == indexName:
		s.add("geomyidae", 3)
	case base == ".names", base == ".Links", base == ".cap", base == ".abstract", strings.HasSuffix(base, ".abstract"), base == ".cache.pygopherd.dir":
		s.add("pygopherd", 3)
	case base == "gophermap.cgi", base == "gophermap.php":
		s.add("Motsognir", 3)
	}
}

// String names the server for which most speaks; "" if nothing does.
func (s style) String() string {
	best := ""
	for _, server := range slices.Sorted(maps.Keys(s)) {
		if best == "" || s[server] > s[best] {
			best = server
		}
	}
	return best
}

// mapLines looks at the lines of a map: what they say of the server that it was made for,
// and those that begin with #.
func (c *checking) mapLines(name string) {
	base := path.Base(name)
	if !menu.IsMenuFile(base) {
		name = selector.Join(name, "gophermap")
	} else if strings.HasSuffix(base, ".gph") {
		return
	}
	text, err := c.site.View(c.ctx).ReadFile(name)
	if err != nil || menu.IsProgram(string(text)) {
		return
	}
	lines, prefixed, headings, first, dots := 0, 0, 0, 0, 0
	c.comments.file, c.comments.count = name, 0
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, "\r \t")
		switch {
		case line == "":
		case line == "*", line == "~", line == "%", len(line) > 1 && line[0] == '=' && !strings.ContainsRune("= \t", rune(line[1])), strings.HasPrefix(line, ":") && strings.Contains(line, "="):
			c.style.add("gophernicus", 1)
		case line == "%FILES%":
			c.style.add("Motsognir", 3)
		case line[0] == '#' && menu.IsComment(line):
			if c.comments.count++; c.comments.count == 1 {
				c.comments.first = i + 1
			}
		case line[0] == '#':
			if headings++; headings == 1 {
				first = i + 1
			}
		case strings.Contains(line, "\t/./"), strings.Contains(line, "\t./"):
			if dots++; dots == 1 {
				c.find(diag.Notice, CodeForm, name, i+1, "", "a ./ in a link means nothing; menus link the name without it, here and elsewhere in the map")
			}
		case !strings.Contains(line, "\t"):
			if lines++; line[0] == 'i' {
				prefixed++
			}
		}
	}
	if prefixed > 2 && prefixed*10 >= lines*9 {
		c.style.add("Motsognir", 1)
	} else if lines > 0 {
		c.style.add("Bucktooth", 0)
	}
	if headings > 0 {
		c.find(diag.Notice, menu.CodeText, name, first, "", "%s with ## shown as text: only one # begins a comment", diag.Count(headings, "line", "lines"))
	}
}

// hinted returns a finding about a program with what to do about it.
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
