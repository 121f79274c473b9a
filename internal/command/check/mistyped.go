package check

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

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
	if strings.Trim(sel, "/") != "" && c.present(sel) {
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

// otherType returns a hint for a link to a text as a menu, or to a directory as a text; ""
// if its type is right.
func (c *checking) otherType(l menu.Link) string {
	name, _, err := selector.Path(l.Selector)
	if err != nil || l.Type != menu.TypeMenu && l.Type != menu.TypeText {
		return ""
	}
	f, err := c.site.View(c.ctx).Lookup(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	isMenu := f.Info.IsDir() || menu.IsMenuFile(path.Base(name)) || c.runs(name)
	if isMenu == (l.Type == menu.TypeMenu) {
		return ""
	}
	typ := byte(menu.TypeMenu)
	if !isMenu {
		typ, _ = menu.TypeOf(name)
	}
	return fmt.Sprintf("write type %c", typ)
}
