package check

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// ourHost stands for this server while maps are read, so that links without a host
// differ from links that name it.
const ourHost = "this.invalid"

// linkedHost is a host that maps name.
type linkedHost struct {
	name  string // as the maps write it first
	here  int    // links to it whose selector names something in this tree
	gone  int    // those whose selector does not
	first menu.Link
}

// linkedHosts are the hosts that maps name, in small letters.
type linkedHosts map[string]*linkedHost

// links checks what all maps link.
func (c *checking) links() {
	hosts := linkedHosts{}
	for _, l := range c.linked {
		if l.Host != ourHost && !strings.HasPrefix(l.Selector, "URL:") {
			c.note(hosts, l)
		}
	}
	own := strings.ToLower(c.Host)
	if own == "" {
		own = hosts.guess()
	}
	c.result.Host = own
	for _, key := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[key]
		switch {
		case isLocal(key) && h.here+h.gone > 0:
			c.find(diag.Warning, CodeHost, h.first.File, h.first.Line, "leave the host out where a link is to this server",
				"%s to %s, which is the visitor's own machine", diag.Count(h.here+h.gone, "link", "links"), h.name)
		case key == own && c.Host == "":
			c.find(diag.Notice, CodeHost, h.first.File, h.first.Line, diag.Command("gophd", "-host", h.name), "%s to %s, probably the name of this server", diag.Count(h.here+h.gone, "link", "links"), h.name)
		case key == own:
		case !isHost(h.name):
			c.find(diag.Warning, CodeHost, h.first.File, h.first.Line, "one TAB separates the fields: type and label, selector, host, port", "not a host name: %q", h.name)
		case h.ours():
			c.find(diag.Warning, CodeHost, h.first.File, h.first.Line, "leave the host out where a link is to this server",
				"%s to this server under another name, %s", diag.Count(h.here, "link", "links"), h.name)
		}
	}
	for _, l := range c.linked {
		if key := strings.ToLower(l.Host); l.Host == ourHost || key == own || isLocal(key) {
			c.link(l)
		}
	}
}

// note counts a link to a host that is named.
func (c *checking) note(hosts linkedHosts, l menu.Link) {
	key := strings.ToLower(l.Host)
	h := hosts[key]
	if h == nil {
		h = &linkedHost{name: l.Host, first: l}
		hosts[key] = h
	}
	if strings.Trim(l.Selector, "/") == "" || l.Type == menu.TypeSearch || isProgram(l.Selector) || c.answered(l.Selector) {
		return
	}
	if c.present(l.Selector) {
		h.here++
	} else {
		h.gone++
	}
}

// ours reports whether a host is surely this one: two or more links to it name
// something in this tree, and most of them do.
func (h *linkedHost) ours() bool { return h.here > 1 && h.here > h.gone }

// guess returns the host that is most likely this one, "" if none is.
func (hosts linkedHosts) guess() string {
	best := ""
	for _, key := range slices.Sorted(maps.Keys(hosts)) {
		if h := hosts[key]; h.ours() && isHost(h.name) && !isLocal(key) && (best == "" || h.here > hosts[best].here) {
			best = key
		}
	}
	return best
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

// format draws nothing: a check only wants to know whether there is an answer.
var format = &answer.Format{Draw: func(*answer.Asked, *answer.Value) ([]byte, error) { return nil, nil }}

// present reports whether the server answers a selector: with a file or a directory, or
// as clients of all fronts are answered.
func (c *checking) present(sel string) bool {
	if yes, known := c.answers[sel]; known || c.answered(sel) { // a check runs no program
		return yes || !known
	}
	yes := false
	if name, dir, err := selector.Path(sel); err == nil {
		if f, err := c.site.View(c.ctx).Lookup(name); err == nil {
			yes = !dir || f.Info.IsDir()
			_ = f.Close()
		}
	}
	if !yes {
		a, err := c.host.Ask(c.request(sel), format)
		if yes = err == nil; yes {
			a.Close()
		}
	}
	c.answers[sel] = yes
	return yes
}

// answered reports whether a program answers a selector.
func (c *checking) answered(sel string) bool {
	return c.programs.Answers(sel)
}

// named returns the file that a selector would name.
func (c *checking) named(sel string) string {
	return c.path(cmp.Or(strings.TrimPrefix(path.Clean("/"+sel), "/"), "."))
}

// runs reports whether a program makes a menu by running a file.
func (c *checking) runs(name string) bool {
	return c.programs.Runs(name)
}

// onDisk reports whether the disk has a file at a selector.
func (c *checking) onDisk(sel string) bool {
	_, err := files.Stat(c.named(sel))
	return err == nil
}

// link checks a link to this server.
func (c *checking) link(l menu.Link) {
	switch {
	case strings.HasPrefix(strings.TrimPrefix(l.Selector, "/"), "URL:"), strings.IndexByte("8T2", l.Type) >= 0, c.answered(l.Selector):
	case l.Program || isProgram(l.Selector):
		sel := l.Selector
		if !strings.HasPrefix(sel, "/") {
			sel = path.Join("/", path.Dir(l.File), sel)
		}
		c.find(diag.Error, menu.CodeProgram, l.File, l.Line, runs(rule(sel[1:])), "a link to a program: %q", l.Selector)
	case l.Type == menu.TypeSearch && strings.Trim(l.Selector, "/") == "search":
		if c.Search {
			return
		}
		c.find(diag.Warning, CodeSearch, l.File, l.Line, "gophd -search", "the search %q is answered only with -search", l.Selector)
	case l.Type == menu.TypeSearch && !c.onDisk(l.Selector) && !c.present(l.Selector): // most likely dead before, too
		c.find(diag.Warning, CodeSearch, l.File, l.Line, "gophd -search finds texts of the site, at /search", "nothing answers the search %q", l.Selector)
	case selector.Refusal(path.Base(l.Selector)) == selector.Source:
		c.find(diag.Error, CodeName, l.File, l.Line, "link a copy that has another name", "the source of a menu is not shown: %q", l.Selector)
	case !c.present(l.Selector) && l.Type != menu.TypeText && c.isScript(l.Selector):
		c.find(diag.Error, menu.CodeProgram, l.File, l.Line, runs(rule(strings.TrimPrefix(l.Selector, "/"))), "a link to a program, a file that begins with #!: %q", l.Selector)
	case !c.present(l.Selector) && c.onDisk(l.Selector):
		c.find(diag.Error, CodeName, l.File, l.Line, "", "the target of a link is not served: %q", l.Selector)
	case !c.present(l.Selector):
		c.find(diag.Warning, CodeNowhere, l.File, l.Line, cmp.Or(elsewhere(l), c.nearest(l.Selector)), "nothing is called %q", l.Selector)
	default:
		if info, err := files.Stat(c.named(l.Selector)); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			c.find(diag.Notice, CodeStub, l.File, l.Line, "", "the file is empty: %q", l.Selector)
		}
		if hint := c.otherType(l); hint != "" {
			c.find(diag.Warning, CodeForm, l.File, l.Line, hint, "a link of type %c to something of another type: %q", l.Type, l.Selector)
		}
	}
}

// isScript reports whether a link names a file that begins with #!.
func (c *checking) isScript(sel string) bool {
	f, err := c.site.View(c.ctx).Open(strings.TrimPrefix(path.Clean("/"+sel), "/"))
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
