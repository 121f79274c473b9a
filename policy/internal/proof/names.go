package proof

import (
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// witness is a canonical selector that readers are asked about.
type witness struct {
	sel, form string // as it is, and in URI form
	dir       bool
	odd       bool // as a reader misreads a line: that it is kept out is no news

	asked, closed [4]bool // whether a spelling is closed, once that is asked
}

// witnesses collects selectors, made from patterns alone.
type witnesses struct {
	about func(top string) bool // selects the directories to ask about
	token string                // it occurs nowhere in the file
	list  []witness
	seen  map[string]bool
	odd   bool // copied to the witnesses that are added
}

// pattern adds names that a pattern of an annotation just matches, with each star once
// empty and once a token; and some that it matches in the middle of an escape.
func (w *witnesses) pattern(p *readers.Pattern) {
	w.decoded(p.Pieces)
	for i, piece := range p.Pieces[1:] {
		if strings.ContainsAny(piece, "=&") { // CPython writes them otherwise behind a question mark
			w.add(decode(strings.Join(p.Pieces[:i+1], w.token) + "?" + strings.Join(p.Pieces[i+1:], w.token)))
		}
		if piece == "" || !strings.ContainsRune("0123456789ABCDEF", rune(piece[0])) {
			continue
		}
		for _, star := range []string{"%C3%", "%C3%A"} {
			form := strings.Join(p.Pieces[:i+1], "") + star + strings.Join(p.Pieces[i+1:], "")
			if sel := decode(form); readers.URI.Of(sel) == form {
				w.add(sel)
			}
		}
	}
}

// line adds names that a line of the file just matches, as it is written, behind an item
// type, decoded, and as each reader takes it.
func (w *witnesses) line(value string, allow bool, rows []readers.Reader) {
	text := strings.TrimSuffix(value, "$")
	w.pieces(strings.Split(text, "*"))
	if typed := strings.TrimPrefix(text, "/"); strings.HasPrefix(typed, "0/") || strings.HasPrefix(typed, "1/") {
		w.decoded(strings.Split(typed[1:], "*"))
	}
	if readers.Plain(value) {
		return
	}
	w.decoded(strings.Split(text, "*"))
	w.odd = true
	for _, r := range rows {
		for _, p := range r.Patterns(robots.Rule{Allow: allow, Pattern: value}) {
			w.decoded(p.Pieces)
		}
	}
	w.odd = false
}

func (w *witnesses) decoded(pieces []string) {
	plain := make([]string, len(pieces))
	for i, piece := range pieces {
		plain[i] = decode(piece)
	}
	w.pieces(plain)
}

func (w *witnesses) pieces(pieces []string) {
	w.name(strings.Join(pieces, ""))
	if len(pieces) > 1 {
		w.name(strings.Join(pieces, w.token))
	}
}

// name adds a name, its neighbours, and a name below it.
func (w *witnesses) name(name string) {
	if name == "" {
		return
	}
	w.add(name)
	w.add(name[:len(name)-1])
	w.add(name + w.token)
	if strings.HasSuffix(name, "%") {
		w.add(name + "41") // an escape, to who takes selectors as they are
		w.add(name + "41/")
	}
	if !strings.HasSuffix(name, "/") {
		w.add(name + "/")
		w.add(name + "/" + w.token)
	}
	if at := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/'); at >= 0 {
		w.add(name[:at+1])
	}
}

// add adds a selector, in the form that menus link.
func (w *witnesses) add(sel string) {
	if !strings.HasPrefix(sel, "/") {
		sel = "/" + sel
	}
	if top, _, _ := strings.Cut(sel[1:], "/"); w.seen[sel] || !w.about(top) {
		return
	}
	w.seen[sel] = true
	if len(sel) > selector.MaxRequest || sel == "/robots.txt" {
		return
	}
	for elem := range strings.SplitSeq(strings.TrimSuffix(sel[1:], "/"), "/") {
		reason := selector.Refusal(elem)
		if reason == selector.Malformed { // a name in another character set
			continue
		}
		if sel != "/" && reason != "" && (elem[:min(1, len(elem))] == "." || !selector.IsProgram(elem)) {
			return
		}
	}
	w.list = append(w.list, witness{sel: sel, form: readers.URI.Of(sel), dir: strings.HasSuffix(sel, "/"), odd: w.odd})
}
