package web

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
)

// icons show the kind of a link's target, unless it is a text or menu of this site.
var icons = map[string]*icon{
	"archive":  {"archive", "archive", "M2 3h12v3H2zM3 6v7h10V6M6.5 9h3"},
	"away":     {"away", "on another server", "M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5"},
	"calendar": {"calendar", "calendar", "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2v3M10.5 2v3"},
	"document": {"document", "document", "M4 2h5l3 3v9H4zM9 2v3h3M6 8.5h4M6 11h4"},
	"file":     {"file", "file", "M8 2v8M5 7l3 3 3-3M3 13.5h10"},
	"mail":     {"mail", "mail", "M2 4h12v9H2zM2 4.5l6 4.5 6-4.5"},
	"people": {"people", "phone book",
		"M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8M3 14c.4-3 2-4.2 5-4.2s4.6 1.2 5 4.2"},
	"picture":  {"picture", "picture", "M2 3h12v10H2zM2 11l3.5-3.5 2.5 2.5 2.5-3.5 3.5 4M5 5.700h.01"},
	"search":   {"search", "search", "M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3 14 14"},
	"sound":    {"sound", "sound", "M6 12V3.500l7-1.500v8.500M6 12a2 1.6 0 1 1-4 0 2 1.6 0 0 1 4 0M13 10.500a2 1.6 0 1 1-4 0 2 1.6 0 0 1 4 0"},
	"terminal": {"terminal", "terminal session", "M2 3h12v10H2zM4.5 6 7 8 4.5 10M8.5 10.500h3"},
	"video":    {"video", "video", "M2 3h12v10H2zM6.5 5.500v5l4-2.500z"},
}

// iconNames are the icons of item types whose names differ from their icon's.
var iconNames = map[string]string{
	"event":      "calendar",
	"PDF":        "document",
	"phone book": "people",
	"telnet":     "terminal",
}

// iconOf returns the name of an item's icon, or "".
func iconOf(it menu.Item, t answer.Target) string {
	kind := menu.TypeName(it.Type)
	if name := cmp.Or(iconNames[kind], kind); icons[name] != nil && !(t.Asks && t.Path != "") {
		return name // a form shows by itself that it searches
	}
	if t.URL != "" {
		return "away"
	}
	return ""
}

// icon returns an icon, or nil if the name is "".
func (w *pageWriter) icon(name string) *icon {
	if name == "" {
		return nil
	}
	if w.icons == nil {
		w.icons = map[string]*icon{}
	}
	w.icons[name] = icons[name]
	return icons[name]
}

// An icon is an SVG path in a square of 16 units, with a name for screen readers.
type icon struct{ ID, Name, Path string }

// finish moves the output of a pageWriter into the page.
func (p *page) finish(w *pageWriter) {
	p.Main = template.HTML(w.String())
	p.Icons = w.icons
	p.Colors = template.CSS(strings.Join(slices.Sorted(maps.Keys(w.colors)), ""))
}
