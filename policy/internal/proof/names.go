package proof

import (
	"slices"
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
	asks := slices.ContainsFunc(p.Pieces, func(piece string) bool { return strings.ContainsAny(piece, "=&") })
	for i, piece := range p.Pieces[1:] {
		if asks { // CPython writes them otherwise behind a question mark
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
	for _, as := range slices.Concat(readings(text), mixed(text)) {
		w.decoded(strings.Split(as, "*"))
	}
	if typed := strings.TrimPrefix(text, "/"); strings.HasPrefix(typed, "0/") || strings.HasPrefix(typed, "1/") {
		w.decoded(strings.Split(typed[1:], "*"))
	}
	if readers.Plain(value) {
		return
	}
	w.odd = true
	for _, r := range rows {
		for _, p := range r.Patterns(robots.Rule{Allow: allow, Pattern: value}) {
			w.decoded(p.Pieces)
		}
	}
	w.odd = false
}

// readings returns a line of the file as it is meant, and as it is taken by readers to whom
// escapes, or those of ASCII, are part of a name.
func readings(text string) []string {
	high := readers.High.Of(text)
	if !strings.Contains(high, "%") {
		return []string{text}
	}
	var ascii strings.Builder
	for piece := range strings.SplitAfterSeq(high, "%") {
		if ascii.Len() > 0 && piece != "" && piece[0] < '8' {
			ascii.WriteString("25")
		}
		ascii.WriteString(piece)
	}
	return []string{text, strings.ReplaceAll(high, "%", "%25"), ascii.String()}
}

// mixed returns a line of the file with the escapes of one of its names taken for a part of
// the name.
func mixed(text string) (list []string) {
	names := strings.Split(readers.High.Of(text), "/")
	for i, name := range names {
		if literal := strings.ReplaceAll(name, "%", "%25"); literal != name {
			names[i] = literal
			list = append(list, strings.Join(names, "/"))
			names[i] = name
		}
	}
	return list
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

// witnesses makes the witnesses of the part. tooMany lists the directories with more
// than MaxPairs pairs of patterns.
func (of *part) witnesses() (list []witness, tooMany []string) {
	w := &witnesses{about: func(top string) bool { return of.partOf(top) == of }, token: of.token, seen: map[string]bool{}}
	byTop := map[string]*patterns{"": {}}
	for _, top := range of.tops {
		w.name("/" + top + "/")
		byTop[top] = &patterns{}
	}
	type rule struct {
		text  string
		allow bool
	}
	said := map[rule]bool{}
	for _, a := range of.notes {
		if a.denied {
			w.name(a.dir)
		}
		a.each(func(_ *noteText, g *noteGroup) {
			for _, r := range slices.Concat(g.rules, g.states) {
				said[rule{starred(r.Pattern), r.allow}] = true
				of.pattern(w, byTop, topOf(a.dir), &r)
			}
		})
	}
	for _, q := range of.programs {
		of.pattern(w, byTop, "", &noteRule{Pattern: q.Pattern})
	}
	for l := range linesOf(of.text) {
		path, isRule := pathOf(&l)
		if !isRule {
			continue
		}
		allow := l.Kind == readers.KindAllow
		w.line(path, allow, of.in.Readers)
		for _, text := range readings(path) {
			if q, ok := patternBelow("/", text); ok && !said[rule{starred(q), allow}] && (text == path || allow) {
				said[rule{starred(q), allow}] = true
				top := decode(topOf(q.Pieces[0] + "*"))
				if byTop[top] == nil {
					top = ""
				}
				byTop[top].add(&noteRule{Pattern: q, allow: allow})
			}
		}
	}
	for _, top := range append([]string{""}, of.tops...) {
		if !byTop[top].pairs(byTop[""], top, w) {
			tooMany = append(tooMany, "/"+top)
		}
	}
	return w.list, tooMany
}

// pattern adds the names of a pattern, and the pattern for pairs. A root's pattern
// about several directories adds names in each.
func (of *part) pattern(w *witnesses, byTop map[string]*patterns, top string, r *noteRule) {
	head := r.Pieces[0]
	if top != "" || of.tops == nil {
		w.pattern(&r.Pattern)
		byTop[top].add(r)
		return
	}
	if own := decode(topOf(head)); own != "" {
		if of.partOf(own) == of {
			w.pattern(&r.Pattern)
			byTop[own].add(r)
		}
		return
	}
	byTop[""].add(r)
	for _, top := range of.tops {
		if below := readers.URI.Of("/" + top + "/"); strings.HasPrefix(below, head) {
			if len(r.Pieces) == 1 {
				w.add(decode(head))
			} else {
				w.add(decode(below + strings.Join(r.Pieces[1:], "")))
			}
		}
	}
}

// patterns holds rules and preferences that are compared in pairs.
type patterns struct {
	all, globs []*noteRule // globs have stars, or an end
}

func (s *patterns) add(r *noteRule) {
	s.all = append(s.all, r)
	if !isLiteral(&r.Pattern) {
		s.globs = append(s.globs, r)
	}
}

// pairs adds names that both an Allow and a Disallow match, or two preferences. At
// least one of the two rules is in this directory; the other may be in the root. It
// returns false if there are more than MaxPairs pairs.
func (s *patterns) pairs(root *patterns, top string, w *witnesses) bool {
	n := 0
	s.each(root, top != "", func(_, _ *noteRule) { n++ })
	if n > MaxPairs {
		return false
	}
	s.each(root, top != "", func(a, b *noteRule) {
		for _, form := range common(&a.Pattern, &b.Pattern) {
			sel := decode(strings.ReplaceAll(form, "*", w.token))
			w.add(sel)
			for at := range len(sel) {
				if strings.HasPrefix(sel[at:], "/index.htm") { // to Google an Allow opens the directory, too
					w.add(sel[:at+1])
				}
			}
			if strings.ContainsAny(form, "=&") { // CPython writes them otherwise behind a question mark
				w.add(decode(strings.ReplaceAll(form, "*", "?")))
			}
		}
	})
	return true
}

// each calls fn for the pairs of rules that may match the same name in another way than
// two prefixes do.
func (s *patterns) each(root *patterns, below bool, fn func(a, b *noteRule)) {
	pair := func(x *noteRule, list []*noteRule) {
		for _, y := range list {
			if (x.states == nil) == (y.states == nil) && (x.allow != y.allow || x.states != nil) && compatible(x.Pieces[0], y.Pieces[0]) {
				fn(x, y)
			}
		}
	}
	for i, x := range s.globs {
		pair(x, s.globs[:i])
		if below {
			pair(x, root.all)
		}
	}
	for _, x := range s.all {
		if !isLiteral(&x.Pattern) {
			continue
		}
		pair(x, s.globs)
		if below {
			pair(x, root.globs)
		}
	}
}
