// Package menu makes Gopher menus (RFC 1436): items, directory listings, gophermaps and gemtext.
// It determines the item types of files by name and content.
//
// To write a menu:
//
//	items := []menu.Item{
//		menu.Info("Welcome."),
//		{Type: menu.TypeText, Label: "About", Selector: "/about.txt", Host: "example.org", Port: 70},
//	}
//	os.Stdout.Write(menu.Menu{Items: items}.AppendTo(nil))
//
// To make the menu of a directory, use [Builder.Menu]. It interprets the maps of gophernicus,
// Bucktooth, Motsognir, spacecookie, geomyidae, UMN gopherd and pygopherd:
//
//	Builder.Menu → a map (menu.go) → lines (gophermap.go, gemtext.go) → items (entry.go)
//	             → or a listing (listing.go), as .names and others change it (umn.go)
//
// [Parse] and [ParseItem] read menus of other servers.
//
// The package runs no programs: a file that other servers would run is reported ([CodeProgram])
// and not shown. It caches nothing. [Item.AppendTo] writes no control characters, whatever a file
// name, map or query contains. A faulty line of a map is omitted without affecting the others.
package menu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// Menu makes the menu of a directory, whose name is as [fs.ValidPath] wants it: of
// its gophermap, .gophermap, index.gph or index.gmi, or else a listing. The name may be that
// of a file for which [IsMenuFile] is true, too. The error is ctx's, or of
// reading the directory if there is no map; for a missing name it is
// [fs.ErrNotExist].
func (b *Builder) Menu(ctx context.Context, name string) (Menu, error) {
	if !fs.ValidPath(name) {
		return Menu{}, &fs.PathError{Op: "menu", Path: name, Err: fs.ErrInvalid}
	}
	m := b.begin(ctx, name)
	mapped, err := m.mapped()
	switch {
	case errors.Is(err, errProgram):
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case err == nil && !mapped:
		err = m.list()
	}
	if err != nil {
		return Menu{}, fmt.Errorf("reading %s: %w", name, err)
	}
	return m.done()
}

// Page makes a menu of a page in gemtext, whatever it is called.
func (b *Builder) Page(ctx context.Context, name string) (Menu, error) {
	m := b.begin(ctx, path.Dir(name))
	text, err := m.source(name)
	if err != nil {
		return Menu{}, fmt.Errorf("reading %s: %w", name, err)
	}
	m.follow(mapSource{file: name, rest: text, dialect: capsule})
	return m.done()
}

// Printed makes the menu of a map that a program has printed. The name is the program's.
func (b *Builder) Printed(ctx context.Context, name, text string) (Menu, error) {
	m := b.begin(ctx, path.Dir(name))
	m.menu.Changing = true
	m.follow(m.newSource(name, m.bound(name, text)))
	return m.done()
}

// Sources are the files of a tree that other servers may run for a map. If one is a
// program (see [IsProgram]), its source must not be shown.
type Sources struct {
	Included    []string // by the map, whether they exist or not
	Interpreted []string // by the map's commands: programs, whatever they begin with
	Linked      []string // as a menu or a search, and no directories
	Listed      bool     // the map ends with the listing of its directory
	Run         bool     // the menu is made by programs, at least in part
	Problems    []diag.Diagnostic
}

// Sources reads the map of a directory, or a file that is a menu, and returns the files
// that other servers may run for it. It reads only the first bytes of linked files.
func (b *Builder) Sources(name string) Sources {
	m := b.begin(context.Background(), name)
	m.looks, m.mapsOnly = 0, true
	_, _ = m.mapped()
	_, _ = m.source(selector.Join(name, tagName))
	m.sources.Problems = m.menu.Problems
	for _, list := range []*[]string{&m.sources.Included, &m.sources.Linked} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return m.sources
}

// Names reads the map of a directory, or a file that is a menu, but no file that it links
// or lists. It returns its title line, and the first label of each linked file and
// directory by name in the tree.
func (b *Builder) Names(ctx context.Context, name string) (title string, labels map[string]string) {
	m := b.begin(ctx, name)
	m.looks = 0
	m.mapsOnly = true
	m.noLooks = true
	_, _ = m.mapped()
	labels = map[string]string{}
	for _, it := range m.menu.Items {
		target := cmp.Or(strings.Trim(it.Selector, "/"), ".")
		ours := it.Type != TypeInfo && it.Host == b.Host && it.Port == b.Port
		if ours && labels[target] == "" {
			labels[target] = strings.TrimSpace(it.Label)
		}
	}
	return m.menu.Title, labels
}

// mapped makes the menu of a map: of m.dir, if that is a file, or of the one that the directory
// has. If its only map is a program, nothing is listed: the files beside it are rarely meant to
// be found. The error is that of the file.
func (m *making) mapped() (bool, error) {
	if IsMenuFile(path.Base(m.dir)) {
		err := m.file(m.dir)
		if !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	isProgram := false
	for _, base := range []string{mapName, dotMapName, gphName} {
		err := m.file(selector.Join(m.dir, base))
		if err == nil {
			return true, nil
		}
		isProgram = isProgram || errors.Is(err, errProgram)
	}
	if name := selector.Join(m.dir, dcgiName); m.Run != nil && !isProgram {
		if _, err := m.head(name, 0); err == nil {
			if text, ok := m.run(name); ok {
				m.follow(m.newSource(name, text))
				return true, nil
			}
		}
	}
	if name := selector.Join(m.dir, gmiName); m.file(name) == nil {
		m.menu.Gemtext = name
		return true, nil
	}
	if isProgram {
		m.add(Info("The menu here is made by a program, which this server does not run."))
	}
	return isProgram, nil
}

// file makes the menu of a map, which is in m.dir or is m.dir itself.
func (m *making) file(name string) error {
	text, err := m.source(name)
	if err == nil {
		m.dir = path.Dir(name)
		m.follow(m.newSource(name, text))
	}
	return err
}

// follow appends the items of a map. Includes are read in place: the stack of maps
// keeps the remaining lines of the including maps.
func (m *making) follow(first mapSource) {
	m.maps = append(m.maps, first)
	listing := false
	for len(m.maps) > 0 && !m.full() && m.ctx.Err() == nil {
		src := &m.maps[len(m.maps)-1]
		line, more := src.next()
		ended := !more
		if m.Line != nil && more && src.dialect < geomyidae {
			m.Line(src.file, src.line, line)
		}
		switch {
		case !more:
		case len(line) > maxLine:
			m.problem(CodeLimit, "a line of more than %d bytes is left out", maxLine)
		case src.dialect == geomyidae:
			m.gphLine(m.decode(line))
		case src.dialect == plain:
			m.textOrItem(m.decode(line))
		case src.dialect == capsule:
			m.gemLine(&src.gemtext, m.decode(line))
		default:
			ended, listing = m.mapLine(m.decode(line))
		}
		if ended {
			listing = listing && len(m.maps) == 1 // only the outermost map decides about it
			m.maps = m.maps[:len(m.maps)-1]
		}
	}
	m.maps = nil
	if listing {
		m.sources.Listed = true
		m.listHere()
	}
}

// redirectSchemes are the schemes that a URL: selector may lead to. None of them
// runs anything in the browser.
var redirectSchemes = []string{
	"http", "https", "ftp", "ftps", "sftp", "gopher", "gophers", "gemini", "spartan", "nex",
	"finger", "mailto", "xmpp",
	"sip", "irc", "ircs", "telnet", "ssh", "news", "nntp", "git", "magnet", "tel",
	"ssb", "ipfs", "ipns", "matrix",
}

// maxTarget is the longest URL of a redirect page, in bytes.
const maxTarget = 2048

// errTarget does not repeat the target, which comes from a stranger.
var errTarget = errors.New("making a redirect page: the URL must not be linked")

// RedirectPage returns the page for a selector URL:target: HTML that leads to the
// target, for browsers that request it from the Gopher server. The target is a URL of a
// scheme that only leads somewhere (http, mailto, gemini...), of at most 2,048
// bytes of UTF-8 without control characters or spaces. Others, like javascript:,
// data: and file:, are an error.
func RedirectPage(target string) ([]byte, error) {
	scheme, rest, _ := strings.Cut(target, ":")
	switch {
	case len(target) > maxTarget, rest == "",
		!slices.Contains(redirectSchemes, strings.ToLower(scheme)):
		return nil, errTarget
	case selector.HasControl(target), strings.Contains(target, " "), !utf8.ValidString(target):
		return nil, errTarget
	}
	u := html.EscapeString(target)
	return []byte(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="3; URL=` + u + `">
<title>Leaving Gopher</title>
</head>
<body>
<p>This link leaves Gopher. In three seconds you are taken to
<a href="` + u + `">` + u + `</a>.</p>
</body>
</html>
`), nil
}

// Caps returns a caps.txt, which explains to clients how selectors of this server are
// put together. Version is gophd's; each of more is a key and a value to be
// added. "Delimeter" is how clients look it up.
func Caps(version string, more [][2]string) []byte {
	b := []byte(caps)
	for _, kv := range append([][2]string{{"ServerSoftwareVersion", version}}, more...) {
		b = selector.AppendClean(b, kv[0]+"="+kv[1])
		b = append(b, '\n')
	}
	return b
}

// caps is what every caps.txt begins with.
const caps = `CAPS

CapsVersion=1
ExpireCapsAfter=3600
PathDelimeter=/
PathIdentity=.
PathParent=..
PathParentDouble=FALSE
PathEscapeCharacter=
PathKeepPreDelimeter=FALSE
ServerSoftware=gophd
`
